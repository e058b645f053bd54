package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// runFlags are the flags of `lockstep run`.
type runFlags struct {
	input, mock, events string
	until               string
	skipTime, step      bool
	takes               []string // moves of a job: ACTOR:STATE
	client              string   // of the job
	timeout             cli.Duration
	dialect, timezone   string
	outbound            load.Outbound
	functions           load.Catalogue
	secrets             load.Secrets
	allowUnreachable    bool
}

// Command is `lockstep run`.
func Command(a *cli.App) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run FILE|-…",
		Short: "Run a definition here and now, without a server",
		Long: "Run runs a definition and prints its output. Further files are workflows that it uses, and - is stdin.\n" +
			"Nothing is kept. Exit codes: 10 failed, 11 cancelled, 12 not over in time or waiting for what cannot come, 3 invalid, 5 no such file.",
		Example: `  lockstep run examples/v10/greet.yaml --input '{"name":"Ada"}'
  lockstep run order.yaml ship.yaml --input @order.json --mock mocks.yaml
  lockstep run order.yaml --events events.jsonl --skip-time
  lockstep run order.yaml --mock mocks.yaml --step
  lockstep run board.yaml --take CLIENT:DOING --take CLIENT:DONE
  tail -f events.jsonl | lockstep run monitor.yaml --events -`,
		Args: cli.AtLeastOne("a definition"),
	}
	output := cli.OutputFlag(cmd, "format of the output", "json", "yaml", "name")
	f := cmd.Flags()
	f.StringVar(&flags.input, "input", "", "the workflow input: `JSON`, @FILE, or - for stdin")
	f.StringVar(&flags.mock, "mock", "", "answer function calls from this `file` (a mocks: map as in scenario files)")
	f.StringVar(&flags.events, "events", "", "send the CloudEvents of this `file`, or of stdin with -")
	f.StringVar(&flags.until, "until", "", "stop at this `state`, and print its input")
	f.BoolVar(&flags.step, "step", false, "stop before each state, show its data, and ask what to do")
	f.StringArrayVar(&flags.takes, "take", nil, "move a job: `ACTOR:STATE`, one flag for each move, in order")
	f.StringVar(&flags.client, "client-id", "client", "the `id` of the job's client")
	f.BoolVar(&flags.skipTime, "skip-time", false, "use virtual time: nothing waits")
	f.Var(&flags.timeout, "timeout", "give up after this `time` (PT1M or 1m), virtual with --skip-time")
	a.DialectFlag(cmd, &flags.dialect)
	f.StringVar(&flags.timezone, "timezone", "", "the default time `zone` of schedules (default local)")
	flags.functions.Add(cmd)
	flags.functions.AddPrograms(cmd)
	flags.outbound.Add(cmd)
	flags.outbound.AddTimeouts(cmd)
	load.UnreachableFlag(cmd, &flags.allowUnreachable)
	flags.secrets.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, name := range []string{"input", "mock", "events", "functions", "until"} {
			if f := f.Lookup(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
				return cli.Usagef("--%s is empty; is a variable not set?", name)
			}
		}
		if flags.input == "-" && flags.events == "-" {
			return cli.Usagef("--input and --events cannot both read stdin")
		}
		if flags.step && (flags.input == "-" || flags.events == "-") {
			return cli.Usagef("--step reads its answers from stdin, so --input and --events cannot")
		}
		if err := cli.StdinOnce(args); err != nil {
			return err
		}
		if slices.Contains(args, "-") && (flags.step || flags.input == "-" || flags.events == "-") {
			return cli.Usagef("the definition comes from stdin, so --input, --events and --step cannot read it")
		}
		s, err := newSession(a, cmd.Context(), args, flags)
		if err != nil {
			return err
		}
		defer s.close()
		end, err := s.run(s.ctx)
		if err != nil {
			return s.explain(err)
		}
		if err := s.reportSuccess(); err != nil {
			return err
		}
		return writeResult(a, end, output.Value)
	}
	return cmd
}

// result is the result of a run.
type result struct {
	instance string
	value    expr.Value
}

func writeResult(a *cli.App, r result, format string) error {
	var text string
	switch {
	case format == "name":
		text = r.instance + "\n"
	case format == "yaml":
		text = cli.ToYAML(r.value)
	default:
		text = r.value.String() + "\n"
	}
	_, err := fmt.Fprint(a.Out, text)
	return err
}

// loadDefinitions compiles all files, and reports the errors of all.
func (s *session) loadDefinitions(files []string) error {
	var all dialect.Diagnostics
	docs := map[string]*dialect.Document{}
	reader := load.Reader{App: s.app, Ctx: s.ctx, Client: s.client, Dialect: s.flags.dialect}
	for _, file := range files {
		d, err := reader.Read(file, s.catalogued()...)
		if err == nil {
			err = load.RefuseScenario(d)
		}
		if err != nil {
			return err
		}
		all = append(all, d.Diagnostics...)
		docs[d.File] = d.Document
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
	f := cli.InvalidDefinition(all)
	if s.app.Problems {
		return f
	}
	for _, d := range all {
		if err := cli.Render(s.app.Err, docs[d.File], d); err != nil {
			return err
		}
	}
	f.Detail = "the definition has errors: " + f.Detail
	return f
}

// checkIDs refuses definitions with the same id.
func (s *session) checkIDs() error {
	files := map[string]string{}
	for _, d := range s.definitions {
		switch other, ok := files[d.Program.ID]; {
		case ok && other == d.File:
			return cli.Usagef("%s is given twice", d.File)
		case ok:
			return cli.Invalidf("%s and %s both define %q", other, d.File, d.Program.ID)
		}
		files[d.Program.ID] = d.File
	}
	return nil
}

// pinDocuments opens the documents that functions refer to. Mocks do not use them: then only files are opened, and
// only to find what is wrong.
func (s *session) pinDocuments(docs map[string]*dialect.Document) error {
	mocked := s.flags.mock != ""
	for _, d := range s.definitions {
		var found dialect.Diagnostics
		if mocked && s.catalogue == nil {
			found = d.CheckCalls(s.ctx, s.client, nil, false).Errors()
		} else {
			found = d.Pin(s.ctx, s.client, load.Allowed{Exec: s.flags.functions.AllowExec || mocked, Unreachable: s.flags.allowUnreachable})
			found = append(found, s.catalogue.CheckCalls(s.ctx, d.Calls(s.client))...)
		}
		if found.HasErrors() {
			return s.app.InvalidDocument("the definition cannot be run here", docs[d.File], found)
		}
		if s.app.Problems {
			continue // the fault of the call says the same
		}
		for _, w := range found {
			if err := cli.Render(s.app.Err, docs[w.File], w); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkUntil refuses an unknown state of --until, and replaces a state's id by its name.
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
		words = append(words, state.Name)
		if state.ID != "" {
			words = append(words, state.ID)
		}
	}
	if byID != "" {
		s.flags.until = byID
		return nil
	}
	f := cli.Usagef("--until: %q has no state %q", s.first().ID, s.flags.until)
	f.Hint = "its states are " + strings.Join(names, ", ")
	if near := dialect.Suggest(s.flags.until, words); near != "" {
		f.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return f
}

func (s *session) first() *ir.Program { return s.definitions[0].Program }
