package local

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// TestCommand is `lockstep test`.
func TestCommand(a *cli.App) *cobra.Command {
	var pattern, dialectName string
	var coverage bool
	var outbound load.Outbound
	cmd := &cobra.Command{
		Use:   "test PATH…",
		Short: "Run scenario files under virtual time",
		Long: "Test runs scenario files, and of directories every *_test.yaml, *_test.yml and *_test.json below them.\n" +
			"Time is virtual: a workflow that waits thirty days is over at once. Exit code 1 says that a scenario failed,\n" +
			"3 that a file cannot be used.",
		Example: `  lockstep test order_test.yaml
  lockstep test examples/ --coverage
  lockstep test . --run 'declined' -o junit > report.xml`,
		Args: cli.AtLeastOne("a scenario file or a directory"),
	}
	output := cli.OutputFlag(cmd, "format", "text", "tap", "junit", "json")
	cmd.Flags().StringVar(&pattern, "run", "", "run only scenarios whose name matches this `regex`")
	cmd.Flags().BoolVar(&coverage, "coverage", false, "also list the transitions that were never taken")
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
		files, err := scenario.Find(args...)
		if err != nil {
			return err
		}
		opts := scenario.Options{Registry: dialects.All(), Languages: languages.All(), Dialect: dialectName, Only: only, Bundle: bundles(a, cmd, client)}
		var reports []scenario.Report
		for _, path := range files {
			report, err := runScenarioFile(cmd, path, opts)
			if err != nil {
				return err
			}
			reports = append(reports, report)
		}
		detail := scenario.BriefCoverage
		switch {
		case coverage:
			detail = scenario.FullCoverage
		case pattern != "": // what some scenarios miss, the others may reach
			detail = scenario.NoCoverage
		}
		return reportTests(a, reports, output.Value, detail)
	}
	return cmd
}

func bundles(a *cli.App, cmd *cobra.Command, client *http.Client) func(string) dialect.Bundle {
	return func(file string) dialect.Bundle { return load.Bundle(cmd.Context(), file, client) }
}

func runScenarioFile(cmd *cobra.Command, path string, opts scenario.Options) (scenario.Report, error) {
	file, err := scenario.Load(cmd.Context(), path)
	if wrong, ok := errors.AsType[dialect.Diagnostics](err); ok {
		return scenario.Report{File: path, Diagnostics: wrong, Documents: []*dialect.Document{file.Document}}, nil
	}
	if err != nil {
		return scenario.Report{}, err
	}
	report := scenario.Run(cmd.Context(), file, opts)
	return report, cmd.Context().Err()
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
