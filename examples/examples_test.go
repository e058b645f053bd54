// Package examples holds definitions to learn from, each with its scenarios. The
// test runs them all, and sees to it that every transition is taken.
package examples

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/scenario"
)

func TestScenarios(t *testing.T) {
	langs := jsonpath.Languages()
	langs[jsonschema.Lang] = jsonschema.Compiler{}
	options := scenario.Options{Registry: dialect.NewRegistry(sw05.FrontEnd{}), Languages: langs}
	for _, path := range definitions(t) {
		t.Run(path, func(t *testing.T) {
			file, err := scenario.Load(strings.TrimSuffix(path, ".yaml") + "_test.yaml")
			if err != nil {
				t.Fatal(err)
			}
			report := scenario.Run(context.Background(), file, options)
			if len(report.Diagnostics) > 0 { // an example is also free of warnings
				t.Fatal(report.Diagnostics)
			}
			if len(report.Results) == 0 {
				t.Fatal("no scenarios")
			}
			if report.Failed() {
				var text strings.Builder
				if err := scenario.WriteText(&text, []scenario.Report{report}, scenario.TextOptions{}); err != nil {
					t.Fatal(err)
				}
				t.Error(text.String())
			}
			for _, c := range report.Coverage {
				if missing := append(c.MissingStates(), c.MissingEdges()...); len(missing) > 0 {
					t.Errorf("no scenario reaches %s", strings.Join(missing, ", "))
				}
			}
		})
	}
}

// definitions lists the examples. Each must have a scenario file.
func definitions(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".yaml") && !scenario.IsFile(e.Name()) {
			paths = append(paths, e.Name())
		}
	}
	if len(paths) == 0 {
		t.Fatal("no examples")
	}
	return paths
}
