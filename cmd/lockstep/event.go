package main

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func (a *app) eventCommand() *cobra.Command {
	var server remoteFlags
	cmd := a.group("event", "Send CloudEvents to a server, and look at those it has", `  lockstep event send --type paid --source shop --attr orderid=42 --data '{"amount":10}'
  lockstep event send events.jsonl
  lockstep event unmatched`)
	server.add(cmd)
	cmd.AddCommand(a.eventSend(&server),
		a.eventList(&server, "ls", "List the events that the server keeps", false),
		a.eventList(&server, "unmatched", "List the events that nobody took, and why", true))
	return cmd
}

// eventBatch is how many events go in one request.
const eventBatch = 100

// eventFlags describe one event.
type eventFlags struct {
	kind, source, id, subject, data string
	attributes                      []string
}

func (a *app) eventSend(server *remoteFlags) *cobra.Command {
	var flags eventFlags
	cmd := &cobra.Command{
		Use: "send [FILE | -]", Short: "Send events", Args: atMost(1),
		Long: "Send sends one event that flags describe, or those of a file: one, a list, or one per line as JSON. An event counts once per\n" +
			"source and id: to send a file again changes nothing. Without an id an event gets one of its own.",
		Example: `  lockstep event send --type paid --source shop --attr orderid=42 --data '{"amount":10}'
  lockstep event send events.jsonl
  generate | lockstep event send -`,
	}
	output := listFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.kind, "type", "", "the event's `type`")
	f.StringVar(&flags.source, "source", "lockstep/cli", "where it comes from")
	f.StringVar(&flags.id, "id", "", "its `id`; without one it gets its own")
	f.StringVar(&flags.subject, "subject", "", "what it is about")
	f.StringVar(&flags.data, "data", "", "its data: `JSON`, @FILE, or - for stdin")
	f.StringArrayVar(&flags.attributes, "attr", nil, "a further attribute, `NAME=VALUE`; repeatable")
	cmd.RunE = a.remotely(server, func(r remote, args []string) error {
		var events []client.Data
		var err error
		switch {
		case len(args) == 1 && (f.Changed("type") || f.Changed("data") || f.Changed("attr") || f.Changed("id") || f.Changed("subject")):
			return usagef("the events of a file are complete; --type, --data and the like describe one without a file")
		case len(args) == 1:
			events, err = r.readEvents(args[0], flags.source)
		default:
			var one client.Data
			one, err = r.describe(flags)
			events = []client.Data{one}
		}
		if err != nil {
			return err
		}
		return r.send(events, output.value)
	})
	return cmd
}

// describe makes the event that flags describe.
func (r remote) describe(flags eventFlags) (client.Data, error) {
	if flags.kind == "" {
		f := usagef("lockstep event send needs --type, or a file")
		f.hint = "\"lockstep event send --help\" shows examples"
		return nil, f
	}
	v := expr.EmptyObject.With("type", expr.String(flags.kind))
	for name, value := range map[string]string{"id": flags.id, "subject": flags.subject} {
		if value != "" {
			v = v.With(name, expr.String(value))
		}
	}
	for _, pair := range flags.attributes {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, usagef("--attr %q must be NAME=VALUE", pair)
		}
		v = v.With(name, expr.String(value))
	}
	if flags.data != "" {
		data, given, err := r.readData(r.ctx, "--data", flags.data)
		if err != nil {
			return nil, err
		}
		if given {
			v = v.With("data", data)
		}
	}
	return complete(v, flags.source, "the event")
}

// complete adds what an event may leave out, and sees that it is one.
func complete(v expr.Value, source, where string) (client.Data, error) {
	for _, m := range []expr.Member{
		{Key: "specversion", Value: expr.String("1.0")},
		{Key: "source", Value: expr.String(source)},
		{Key: "id", Value: expr.String(strings.ToLower(rand.Text()))},
	} {
		if _, ok := v.Get(m.Key); !ok {
			v = v.With(m.Key, m.Value)
		}
	}
	if _, err := event.Receive(v); err != nil {
		return nil, invalidf("%s: %v", where, err)
	}
	return client.Data(v.String()), nil
}

// readEvents reads a file: one event, a list of them, or one per line.
func (r remote) readEvents(file, source string) ([]client.Data, error) {
	name := file
	var text []byte
	var err error
	if file == "-" {
		name = stdinName
		text, err = r.stdin(r.ctx)
	} else {
		text, err = readFile(r.ctx, file)
	}
	if err != nil {
		return nil, err
	}
	var out []client.Data
	add := func(v expr.Value, where string) error {
		if !v.IsObject() {
			return invalidf("%s: an event is an object, not %s", where, v.Kind())
		}
		one, err := complete(v, source, where)
		out = append(out, one)
		return err
	}
	doc, found := dialect.Read(name, text)
	if !found.HasErrors() {
		if !doc.Root.Value().IsArray() {
			return out, add(doc.Root.Value(), name)
		}
		for i, v := range doc.Root.Value().Items() {
			if err := add(v, fmt.Sprintf("%s, event %d", name, i+1)); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		v, err := expr.ParseUnique(line)
		if err != nil && n == 1 { // it is not lines of JSON: what is wrong with the whole is more help
			return nil, r.invalidDocument("the events cannot be read", doc, found)
		}
		if err != nil {
			return nil, invalidf("%s:%d: %v", name, n, err)
		}
		if err := add(v, fmt.Sprintf("%s:%d", name, n)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// send sends events, and tells what became of each.
func (r remote) send(events []client.Data, format string) error {
	rows := listing[client.EventResult]{
		columns: []string{"EVENT", "RESULT", "STARTED", "REACHED", "WHY"},
		row: func(e client.EventResult) []string {
			return []string{e.ID, e.Result, strings.Join(e.Started, " "), strings.Join(e.Matched, " "), strings.Join(e.Why, "; ")}
		},
		name: func(e client.EventResult) string { return e.ID },
	}
	bar := newBar(r.app, "sent", len(events))
	refused := 0
	for len(events) > 0 {
		batch := events[:min(eventBatch, len(events))]
		events = events[len(batch):]
		got, err := r.SendEvents(r.ctx, batch...)
		if err != nil {
			bar.finish()
			if len(rows.items) > 0 && !r.problems {
				fmt.Fprintf(r.err, "%s taken before\n", plural(len(rows.items), "event"))
			}
			return err
		}
		refused += got.Refused
		rows.items = append(rows.items, got.Events...)
		bar.add(len(batch))
	}
	bar.finish()
	if err := rows.write(r.app, format); err != nil {
		return err
	}
	if refused > 0 {
		return &failure{
			exit: exitConflict, code: "event-conflict", title: "Events were refused",
			detail: fmt.Sprintf("%s refused: other events have their source and id", plural(refused, "event")),
		}
	}
	return nil
}

func (a *app) eventList(server *remoteFlags, use, short string, unmatched bool) *cobra.Command {
	var limit int
	q := client.EventQuery{Unmatched: unmatched}
	cmd := &cobra.Command{Use: use, Short: short, Args: atMost(0), Example: "  lockstep event " + use + " --type paid"}
	output := listFlag(cmd)
	limitFlag(cmd, &limit)
	cmd.Flags().StringVar(&q.Type, "type", "", "only those of this `type`")
	cmd.RunE = a.remotely(server, func(r remote, _ []string) error {
		rows := listing[client.KeptEvent]{
			columns: []string{"EVENT", "TYPE", "SOURCE", "RECEIVED", "TAKEN", "WHY NOT"},
			row: func(e client.KeptEvent) []string {
				return []string{attribute(e, "id"), attribute(e, "type"), attribute(e, "source"), ago(e.Received) + " ago", yes(e.Taken), strings.Join(e.Why, "; ")}
			},
			name: func(e client.KeptEvent) string { return attribute(e, "id") },
		}
		var err error
		var more bool
		rows.items, more, err = take(client.All(func(after string) (client.Page[client.KeptEvent], error) {
			q.Paging = pageFor(limit, after)
			return r.ListEvents(r.ctx, q)
		}), limit)
		if err != nil {
			return err
		}
		if len(rows.items) == 0 {
			a.none("events", output.value)
		}
		a.notAll(more)
		return rows.write(a, output.value)
	})
	return cmd
}

// attribute of a kept event.
func attribute(e client.KeptEvent, name string) string {
	v, err := expr.ParseJSON(e.Event)
	if err != nil {
		return ""
	}
	a, _ := v.Get(name)
	if a.Kind() != expr.KindString {
		return ""
	}
	return a.Str()
}
