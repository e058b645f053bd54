package event

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Command is `lockstep event`.
func Command(a *cli.App) *cobra.Command {
	var server remote.Flags
	cmd := a.Group("event", "Send CloudEvents to a server, and list its events", `  lockstep event send --type paid --source shop --attr orderid=42 --data '{"amount":10}'
  lockstep event send events.jsonl
  lockstep event unmatched`)
	server.Add(cmd)
	cmd.AddCommand(send(a, &server),
		list(a, &server, "ls", "List the events that the server keeps", false),
		list(a, &server, "unmatched", "List unmatched events, and why they did not match", true))
	return cmd
}

// batch is how many events go in one request.
const batch = 100

// flags describe one event.
type flags struct {
	kind, source, id, subject, data string
	attributes                      []string
}

func send(a *cli.App, server *remote.Flags) *cobra.Command {
	var flags flags
	cmd := &cobra.Command{
		Use: "send [FILE | -]", Short: "Send events", Args: cli.AtMost(1),
		Long: "Send sends one event described by flags, or the events of a file: one, an array, or one JSON object per line. An event counts\n" +
			"once per source and id, so sending a file again changes nothing. An event without an id gets a new one.",
		Example: `  lockstep event send --type paid --source shop --attr orderid=42 --data '{"amount":10}'
  lockstep event send events.jsonl
  generate | lockstep event send -`,
	}
	output := cli.ListFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.kind, "type", "", "the event's `type`")
	f.StringVar(&flags.source, "source", "lockstep/cli", "the event's source")
	f.StringVar(&flags.id, "id", "", "its `id` (default: a new one)")
	f.StringVar(&flags.subject, "subject", "", "what it is about")
	f.StringVar(&flags.data, "data", "", "its data: `JSON`, @FILE, or - for stdin")
	f.StringArrayVar(&flags.attributes, "attr", nil, "a further attribute, `NAME=VALUE`; repeatable")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, args []string) error {
		var events []api.Data
		var err error
		switch {
		case len(args) == 1 && (f.Changed("type") || f.Changed("data") || f.Changed("attr") || f.Changed("id") || f.Changed("subject")):
			return cli.Usagef("--type, --data and the like describe one event; they cannot be combined with a file")
		case len(args) == 1:
			events, err = readEvents(r, args[0], flags.source)
		default:
			var one api.Data
			one, err = describe(r, flags)
			events = []api.Data{one}
		}
		if err != nil {
			return err
		}
		return sendAll(r, events, output)
	})
	return cmd
}

// describe makes the event of the flags.
func describe(r remote.Server, flags flags) (api.Data, error) {
	if flags.kind == "" {
		return nil, cli.Usagef("lockstep event send needs --type, or a file").
			WithHint("\"lockstep event send --help\" shows examples")
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
			return nil, cli.Usagef("--attr %q must be NAME=VALUE", pair)
		}
		v = v.With(name, expr.String(value))
	}
	if flags.data != "" {
		data, given, err := r.ReadData(r.Ctx, "--data", flags.data)
		if err != nil {
			return nil, err
		}
		if given {
			v = v.With("data", data)
		}
	}
	return complete(v, flags.source, "the event")
}

// complete adds default attributes to an event, and checks it.
func complete(v expr.Value, source, where string) (api.Data, error) {
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
		return nil, cli.Invalidf("%s: %v", where, err)
	}
	return api.Data(v.String()), nil
}

// readEvents reads a file: one event, a list of them, or one per line.
func readEvents(r remote.Server, file, source string) ([]api.Data, error) {
	text, name, err := r.ReadText(r.Ctx, file)
	if err != nil {
		return nil, err
	}
	var out []api.Data
	add := func(v expr.Value, where string) error {
		if !v.IsObject() {
			return cli.Invalidf("%s: an event is an object, not %s", where, v.Kind().WithArticle())
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
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		v, err := expr.ParseUnique(line)
		if err != nil && n == 1 { // not JSON lines: the diagnostics of the document help more
			return nil, r.InvalidDocument("the events cannot be read", doc, found)
		}
		if err != nil {
			return nil, cli.Invalidf("%s:%d: %v", name, n, err)
		}
		if err := add(v, fmt.Sprintf("%s:%d", name, n)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sendAll sends events, and lists their results.
func sendAll(r remote.Server, events []api.Data, format *cli.Format) error {
	bar := cli.NewBar(r.App, "sent", len(events))
	var results []api.EventResult
	refused := 0
	for part := range slices.Chunk(events, batch) {
		got, err := r.SendEvents(r.Ctx, part...)
		if err != nil {
			bar.Finish()
			if len(results) > 0 && !r.Problems {
				fmt.Fprintf(r.Err, "%s accepted before\n", cli.Plural(len(results), "event"))
			}
			return err
		}
		refused += got.Refused
		results = append(results, got.Events...)
		bar.Add(len(part))
	}
	bar.Finish()
	err := cli.Listing[api.EventResult]{
		Columns: []string{"EVENT", "RESULT", "STARTED", "REACHED", "WHY"},
		Row: func(e api.EventResult) []string {
			return []string{e.ID, e.Result, strings.Join(e.Started, " "), strings.Join(e.Matched, " "), strings.Join(e.Why, "; ")}
		},
		Name: func(e api.EventResult) string { return e.ID },
	}.Write(r.App, format, results)
	if err != nil {
		return err
	}
	if refused > 0 {
		return &cli.Failure{
			Exit: cli.ExitConflict, Code: "event-conflict", Title: "Events were refused",
			Detail: fmt.Sprintf("%s refused: another event has the same source and id", cli.Plural(refused, "event")),
		}
	}
	return nil
}

func list(a *cli.App, server *remote.Flags, use, short string, unmatched bool) *cobra.Command {
	// What an instance produced is often meant for others than instances: that none took it is no concern.
	q := client.EventQuery{Unmatched: unmatched, Outside: unmatched}
	cmd := &cobra.Command{Use: use, Short: short, Args: cli.AtMost(0), Example: "  lockstep event " + use + " --type paid"}
	flags := cli.AddListFlags(cmd, 50)
	cmd.Flags().StringVar(&q.Type, "type", "", "only those of this `type`")
	cmd.RunE = remote.Run(a, server, func(r remote.Server, _ []string) error {
		return cli.Listing[api.KeptEvent]{
			What:    "events",
			Columns: []string{"EVENT", "TYPE", "SOURCE", "RECEIVED", "TAKEN", "WHY NOT"},
			Row: func(e api.KeptEvent) []string {
				return []string{
					attribute(e, "id"), attribute(e, "type"), attribute(e, "source"),
					cli.Ago(e.Received) + " ago", cli.Yes(e.Taken), strings.Join(e.Why, "; "),
				}
			},
			Name: func(e api.KeptEvent) string { return attribute(e, "id") },
		}.WriteSome(a, flags, remote.Pages(flags.Limit, func(p client.Paging) (api.Page[api.KeptEvent], error) {
			q.Paging = p
			return r.ListEvents(r.Ctx, q)
		}))
	})
	return cmd
}

// attribute returns an attribute of a kept event, "" if it has none or it is not a string.
func attribute(e api.KeptEvent, name string) string {
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
