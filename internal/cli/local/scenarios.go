package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// TestCommand is `lockstep test`.
func TestCommand(a *cli.App) *cobra.Command {
	var pattern, dialectName string
	var coverage, watch bool
	var outbound load.Outbound
	cmd := &cobra.Command{
		Use:   "test PATH…",
		Short: "Run scenario files under virtual time",
		Long: "Test runs scenario files, and of directories every *_test.yaml, *_test.yml and *_test.json below them.\n" +
			"Time is virtual: a workflow that waits thirty days ends at once. Exit code 1: a scenario failed;\n" +
			"3: a file cannot be used.",
		Example: `  lockstep test order_test.yaml
  lockstep test examples/ --coverage
  lockstep test . --run 'declined' -o junit > report.xml
  lockstep test . --watch`,
		Args: cli.AtLeastOne("a scenario file or a directory"),
	}
	output := cli.OutputFlag(cmd, "format", "text", "tap", "junit", "json")
	cmd.Flags().StringVar(&pattern, "run", "", "run only scenarios whose name matches this `regex`")
	cmd.Flags().BoolVar(&coverage, "coverage", false, "also list the transitions that were never taken")
	cmd.Flags().BoolVar(&watch, "watch", false, "run again whenever a scenario, a definition or a file beside it changes")
	a.DialectFlag(cmd, &dialectName)
	outbound.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		only, err := regexp.Compile(pattern)
		if err != nil {
			return cli.Usagef("--run: %v", err)
		}
		client, err := outbound.Client(nil)
		if err != nil {
			return err
		}
		defer client.Close()
		detail := scenario.BriefCoverage
		switch {
		case coverage:
			detail = scenario.FullCoverage
		case pattern != "": // what some scenarios miss, the others may reach
			detail = scenario.NoCoverage
		}
		opts := scenarioOptions(load.Reader{App: a, Ctx: cmd.Context(), Client: client, Dialect: dialectName}, false)
		opts.Only = only
		run := func() (folders []string, err error) {
			reports, folders, err := runScenarios(cmd.Context(), args, opts)
			if err != nil {
				return folders, err
			}
			return folders, reportTests(a, reports, output.Value, detail)
		}
		if !watch {
			_, err = run()
			return err
		}
		if output.Value != "text" {
			return cli.Usagef("--watch writes text for people, not %s", output.Value)
		}
		return watchScenarios(cmd.Context(), a, args, run)
	}
	return cmd
}

// runScenarios runs scenario files. folders are those of the definitions that they name.
func runScenarios(ctx context.Context, args []string, opts scenario.Options) (reports []scenario.Report, folders []string, err error) {
	files, err := scenario.Find(args...)
	switch {
	case errors.Is(err, scenario.ErrNoFiles):
		return nil, nil, cli.NotFoundf("%v", err)
	case err != nil:
		return nil, nil, err
	}
	for _, path := range files {
		file, err := scenario.Load(ctx, path)
		if file != nil {
			for _, w := range file.Workflows {
				folders = append(folders, filepath.Dir(w.Path))
			}
		}
		switch wrong, ok := errors.AsType[dialect.Diagnostics](err); {
		case ok:
			reports = append(reports, scenario.Report{File: path, Diagnostics: wrong, Documents: []*dialect.Document{file.Document}})
		case err != nil:
			return reports, folders, err
		default:
			reports = append(reports, scenario.Run(ctx, file, opts))
		}
		if err := ctx.Err(); err != nil {
			return reports, folders, err
		}
	}
	return reports, folders, nil
}

// RerunScenarios runs the scenario files below a folder that want selects, and tells on stderr which failed, or how many
// passed.
func RerunScenarios(r load.Reader, folder string, want func(*scenario.File) bool) error {
	files, err := scenario.Find(folder)
	if err != nil {
		return nil // there are none, or the folder is missing for a moment
	}
	files = slices.DeleteFunc(files, func(path string) bool {
		file, _ := scenario.Load(r.Ctx, path) // an error in it is reported when it is run
		return file == nil || !want(file)
	})
	if len(files) == 0 {
		return nil
	}
	reports, _, err := runScenarios(r.Ctx, files, scenarioOptions(r, false))
	if err != nil {
		return err
	}
	if s := scenario.Summarize(reports); s.Failed+s.Invalid == 0 {
		_, err = fmt.Fprintf(r.App.Err, "%s passed\n", cli.Plural(s.Passed, "scenario"))
		return err
	}
	failed := slices.DeleteFunc(reports, func(one scenario.Report) bool { return !one.Failed() && !one.Diagnostics.HasErrors() })
	onStderr := *r.App
	onStderr.Out = r.App.Err
	if err := reportTests(&onStderr, failed, "text", scenario.NoCoverage); err != nil && !cli.AsFailure(err).Shown {
		return err
	}
	return nil
}

// clearScreen empties a terminal.
const clearScreen = "\x1b[H\x1b[2J\x1b[3J"

// watchScenarios runs scenarios, and again whenever they, their definitions or a file beside them changes, until ctx ends.
func watchScenarios(ctx context.Context, a *cli.App, args []string, run func() ([]string, error)) error {
	var folders []string
	look := func() cli.Stamps {
		out := cli.Stamps{}
		for _, path := range slices.Concat(args, folders) {
			_ = out.AddBelow(path) // a folder may be missing for a moment
		}
		return out
	}
	for {
		var err error
		if cli.IsTerminal(a.Out) {
			fmt.Fprint(a.Out, clearScreen)
		}
		seen, before := look(), folders
		if folders, err = run(); ctx.Err() != nil {
			return ctx.Err()
		}
		if !slices.Equal(folders, before) { // else what changed meanwhile counts
			seen = look()
		}
		a.Exit(err) // what is wrong is told; the next change may correct it
		fmt.Fprintln(a.Err, "watching for changes; Ctrl-C ends it")
		if _, err := cli.Changed(ctx, seen, look); err != nil {
			return err
		}
	}
}

// scenarioOptions say how scenario files and the definitions that they name are read.
func scenarioOptions(r load.Reader, fetch bool) scenario.Options {
	return scenario.Options{
		Registry: dialects.All(), Languages: languages.All(), Dialect: r.Dialect, Bundle: r.Bundle,
		Check: func(file string, c dialect.Compiled) dialect.Diagnostics {
			return load.Definition{Compiled: c, File: file}.CheckCalls(r.Ctx, r.Client, nil, fetch)
		},
	}
}

func reportTests(a *cli.App, reports []scenario.Report, format string, coverage scenario.Detail) error {
	var err error
	switch format {
	case "tap":
		err = scenario.WriteTAP(a.Out, reports)
	case "junit":
		err = scenario.WriteJUnit(a.Out, reports)
	case "json":
		err = scenario.WriteJSON(a.Out, reports)
	default:
		err = showInvalid(a, reports)
		if err == nil {
			err = scenario.WriteText(a.Out, reports, scenario.TextOptions{Coverage: coverage, Color: cli.Color(a.Out)})
		}
	}
	if err != nil {
		return err
	}
	switch s := scenario.Summarize(reports); {
	case s.Invalid > 0:
		return cli.Shown(cli.ExitInvalid)
	case s.Failed > 0:
		return cli.Shown(cli.ExitError)
	case s.Passed == 0:
		return &cli.Failure{Exit: cli.ExitError, Code: "nothing-ran", Title: "Nothing ran", Detail: "no scenario matches --run"}
	}
	return nil
}

// showInvalid reports on stderr why files cannot be used.
func showInvalid(a *cli.App, reports []scenario.Report) error {
	for _, r := range reports {
		if !r.Diagnostics.HasErrors() {
			continue
		}
		for _, d := range r.Diagnostics {
			if err := cli.Render(a.Err, documentOf(r.Documents, d.File), d); err != nil {
				return err
			}
		}
		errors, warnings := r.Diagnostics.Counts()
		fmt.Fprintf(a.Err, "%s: %s\n", r.File, cli.Tally(errors, warnings))
	}
	return nil
}

func documentOf(docs []*dialect.Document, file string) *dialect.Document {
	for _, doc := range docs {
		if doc != nil && doc.File == file {
			return doc
		}
	}
	return nil
}
