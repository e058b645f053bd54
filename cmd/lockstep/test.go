package main

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

func (a *app) testCommand() *cobra.Command {
	var pattern, dialectName string
	var coverage bool
	var outbound outboundFlags
	cmd := &cobra.Command{
		Use:   "test PATH…",
		Short: "Run scenario files under virtual time",
		Long: "Test runs scenario files, and of directories every *_test.yaml, *_test.yml and *_test.json below them.\n" +
			"Time is virtual: a workflow that waits thirty days is over at once. Exit code 1 says that a scenario failed,\n" +
			"3 that a file cannot be used.",
		Example: `  lockstep test order_test.yaml
  lockstep test examples/ --coverage
  lockstep test . --run 'declined' -o junit > report.xml`,
		Args: atLeastOne("a scenario file or a directory"),
	}
	output := outputFlag(cmd, "format", "text", "tap", "junit", "json")
	cmd.Flags().StringVar(&pattern, "run", "", "run only scenarios whose name matches this `regex`")
	cmd.Flags().BoolVar(&coverage, "coverage", false, "tell also which transitions were never taken")
	a.dialectFlag(cmd, &dialectName)
	outbound.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		only, err := regexp.Compile(pattern)
		if err != nil {
			return usagef("--run: %v", err)
		}
		client, err := outbound.client()
		if err != nil {
			return err
		}
		defer client.Close()
		files, err := scenario.Find(args...)
		if err != nil {
			return err
		}
		opts := scenario.Options{Registry: a.registry(), Languages: languages.All(), Dialect: dialectName, Only: only, Bundle: a.bundles(cmd, client)}
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
		return a.reportTests(reports, output.value, detail)
	}
	return cmd
}

func (a *app) bundles(cmd *cobra.Command, client *http.Client) func(string) dialect.Bundle {
	return func(file string) dialect.Bundle { return bundleFor(cmd.Context(), file, client) }
}

func runScenarioFile(cmd *cobra.Command, path string, opts scenario.Options) (scenario.Report, error) {
	file, err := scenario.Load(cmd.Context(), path)
	var wrong dialect.Diagnostics
	if errors.As(err, &wrong) {
		return scenario.Report{File: path, Diagnostics: wrong, Documents: []*dialect.Document{file.Document}}, nil
	}
	if err != nil {
		return scenario.Report{}, err
	}
	report := scenario.Run(cmd.Context(), file, opts)
	return report, cmd.Context().Err()
}

func (a *app) reportTests(reports []scenario.Report, format string, coverage scenario.Detail) error {
	var err error
	switch format {
	case "tap":
		err = scenario.WriteTAP(a.out, reports)
	case "junit":
		err = scenario.WriteJUnit(a.out, reports)
	case "json":
		err = scenario.WriteJSON(a.out, reports)
	default:
		err = a.showInvalid(reports)
		if err == nil {
			err = scenario.WriteText(a.out, reports, scenario.TextOptions{Coverage: coverage, Color: color(a.out)})
		}
	}
	if err != nil {
		return err
	}
	switch s := scenario.Summarize(reports); {
	case s.Invalid > 0:
		return shown(exitInvalid)
	case s.Failed > 0:
		return shown(exitError)
	case s.Passed == 0:
		return &failure{exit: exitError, code: "nothing-ran", title: "Nothing ran", detail: "no scenario matches --run"}
	}
	return nil
}

// showInvalid tells, on stderr, why files cannot be used.
func (a *app) showInvalid(reports []scenario.Report) error {
	for _, r := range reports {
		if !r.Diagnostics.HasErrors() {
			continue
		}
		for _, d := range r.Diagnostics {
			if err := render(a.err, documentOf(r.Documents, d.File), d); err != nil {
				return err
			}
		}
		errors, warnings := r.Diagnostics.Counts()
		fmt.Fprintf(a.err, "%s: %s\n", r.File, tally(errors, warnings))
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
