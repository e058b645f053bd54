package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// runFlags are the flags of `lockstep run`.
type runFlags struct {
	input, mock, events string
	until               string
	skipTime, step      bool
	takes               []string // moves of a job: ACTOR:STATE
	client              string   // whose job it is
	timeout             waitLimit
	dialect, timezone   string
	outbound            outboundFlags
	functions           functionFlags
}

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run FILE|-…",
		Short: "Run a definition here and now, without a server",
		Long: "Run runs a definition and prints its output. Further files are workflows that it uses, and - is stdin.\n" +
			"Nothing is kept. Exit codes: 10 failed, 11 cancelled, 12 not over in time or waiting for what cannot come, 3 invalid, 5 no such file.",
		Example: `  lockstep run examples/hello.yaml --input '{"name":"Ada"}'
  lockstep run order.yaml ship.yaml --input @order.json --mock mocks.yaml
  lockstep run order.yaml --events events.jsonl --skip-time
  lockstep run order.yaml --mock mocks.yaml --step
  lockstep run board.yaml --take CLIENT:DOING --take CLIENT:DONE
  tail -f events.jsonl | lockstep run monitor.yaml --events -`,
		Args: atLeastOne("a definition"),
	}
	output := outputFlag(cmd, "format of the output", "json", "yaml", "name")
	f := cmd.Flags()
	f.StringVar(&flags.input, "input", "", "the workflow input: `JSON`, @FILE, or - for stdin")
	f.StringVar(&flags.mock, "mock", "", "answer function calls from this `file` (a mocks: map as in scenario files)")
	f.StringVar(&flags.events, "events", "", "send the CloudEvents of this `file`, or of stdin with -")
	f.StringVar(&flags.until, "until", "", "stop when this `state` is entered, and print its input")
	f.BoolVar(&flags.step, "step", false, "stop before each state, show its data, and ask what to do")
	f.StringArrayVar(&flags.takes, "take", nil, "move a job: `ACTOR:STATE`, one flag for each move, in order")
	f.StringVar(&flags.client, "client-id", "client", "whose job it is: the `id` of a device")
	f.BoolVar(&flags.skipTime, "skip-time", false, "time is virtual: nothing is waited for")
	f.Var(&flags.timeout, "timeout", "give up after this `time` (PT1M or 1m), of the clock that is used")
	a.dialectFlag(cmd, &flags.dialect)
	f.StringVar(&flags.timezone, "timezone", "", "the time `zone` of schedules that name none (default local)")
	flags.functions.add(cmd)
	flags.outbound.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, name := range []string{"input", "mock", "events", "functions", "until"} {
			if f := f.Lookup(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
				return usagef("--%s is empty; is a variable not set?", name)
			}
		}
		if flags.input == "-" && flags.events == "-" {
			return usagef("--input and --events cannot both read stdin")
		}
		if flags.step && (flags.input == "-" || flags.events == "-") {
			return usagef("--step reads its answers from stdin, so --input and --events cannot")
		}
		if err := stdinOnce(args); err != nil {
			return err
		}
		if slices.Contains(args, "-") && (flags.step || flags.input == "-" || flags.events == "-") {
			return usagef("the definition comes from stdin, so --input, --events and --step cannot read it")
		}
		s, err := a.newSession(cmd.Context(), args, flags)
		if err != nil {
			return err
		}
		defer s.close()
		end, err := s.run(s.ctx)
		if err != nil {
			return s.explain(err)
		}
		if err := s.tellSuccess(); err != nil {
			return err
		}
		return a.writeResult(end, output.value)
	}
	return cmd
}

// result is how a run ended well.
type result struct {
	instance string
	value    expr.Value
}

func (a *app) writeResult(r result, format string) error {
	var text string
	switch {
	case format == "name":
		text = r.instance + "\n"
	case format == "yaml":
		text = toYAML(r.value)
	default:
		text = r.value.String() + "\n"
	}
	_, err := fmt.Fprint(a.out, text)
	return err
}

// waitLimit is a flag that takes an ISO 8601 duration or one of Go's.
type waitLimit struct {
	text string
	span calendar.Duration
}

func (w *waitLimit) String() string { return w.text }
func (w *waitLimit) Type() string   { return "duration" }

func (w *waitLimit) Set(text string) error {
	w.text = text
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		w.span = calendar.Duration{Nanos: int64(d)}
		return nil
	}
	span, err := calendar.ParseDuration(text)
	if err != nil || span.IsZero() {
		return errors.New("must be a duration such as PT1M or 1m30s")
	}
	w.span = span
	return nil
}

// deadline is the instant at which a run that begins at start must be over.
func (w *waitLimit) deadline(start time.Time) (time.Time, bool) {
	if w.text == "" {
		return time.Time{}, false
	}
	return w.span.AddTo(start), true
}

// loadDefinitions compiles all files; where one has errors, all are told.
func (s *session) loadDefinitions(files []string) error {
	var all dialect.Diagnostics
	docs := map[string]*dialect.Document{}
	reader := definitionReader{s.app, s.ctx, s.client, s.flags.dialect}
	for _, file := range files {
		d, err := reader.read(file, s.catalogued()...)
		if err == nil {
			err = notDefinition(d)
		}
		if err != nil {
			return err
		}
		all = append(all, d.diagnostics...)
		docs[d.file] = d.Document
		s.definitions = append(s.definitions, d)
	}
	if !all.HasErrors() {
		if err := s.checkIDs(); err != nil {
			return err
		}
		if err := s.pinDocuments(docs); err != nil {
			return err
		}
		return s.checkUntil()
	}
	f := invalidDefinition(all)
	if s.app.problems {
		return f
	}
	for _, d := range all {
		if err := render(s.app.err, docs[d.File], d); err != nil {
			return err
		}
	}
	f.detail = "the definition is not sound: " + f.detail
	return f
}

// checkIDs refuses definitions of which one would hide another.
func (s *session) checkIDs() error {
	files := map[string]string{}
	for _, d := range s.definitions {
		switch other, ok := files[d.Program.ID]; {
		case ok && other == d.file:
			return usagef("%s is given twice", d.file)
		case ok:
			return invalidf("%s and %s both define %q", other, d.file, d.Program.ID)
		}
		files[d.Program.ID] = d.file
	}
	return nil
}

// pinDocuments opens what functions refer to. Mocks alone need none of it.
func (s *session) pinDocuments(docs map[string]*dialect.Document) error {
	if s.flags.mock != "" && s.catalogue == nil {
		return nil
	}
	for _, d := range s.definitions {
		found := d.pin(s.ctx, s.client)
		if s.app.problems {
			continue // the fault of the call will say the same
		}
		for _, w := range found {
			if err := render(s.app.err, docs[w.File], w); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkUntil refuses a --until that cannot come true; one that is a state's id becomes its
// name.
func (s *session) checkUntil() error {
	if s.flags.until == "" {
		return nil
	}
	var names, words []string
	byID := ""
	for _, state := range s.first().States {
		switch s.flags.until {
		case state.Name:
			return nil
		case state.ID:
			byID = state.Name
		}
		names = append(names, state.Name)
		if words = append(words, state.Name); state.ID != "" {
			words = append(words, state.ID)
		}
	}
	if byID != "" {
		s.flags.until = byID
		return nil
	}
	f := usagef("--until: %q has no state %q", s.first().ID, s.flags.until)
	f.hint = "its states are " + strings.Join(names, ", ")
	if near := dialect.Suggest(s.flags.until, words); near != "" {
		f.hint = fmt.Sprintf("did you mean %q?", near)
	}
	return f
}

func (s *session) first() *ir.Program { return s.definitions[0].Program }
