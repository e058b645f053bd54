// Package examples holds definitions to learn from, each with its scenarios and
// its diagram. The tests run them all, and see to it that every transition is
// taken, that diagrams are those of the definitions, and that the README tells
// the truth.
package examples

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw08"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/format"
	"github.com/lockstep-workflows/lockstep/internal/graph"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

var update = flag.Bool("update", false, "draw the diagrams anew")

func TestScenarios(t *testing.T) {
	options := scenario.Options{Registry: registry(), Languages: languages.All()}
	for _, path := range definitions(t) {
		t.Run(path, func(t *testing.T) {
			file, err := scenario.Load(t.Context(), bare(path)+"_test.yaml")
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

// TestDiagrams: each picture is the one that lockstep graph -o svg draws now, and
// none is left of a definition that is gone.
func TestDiagrams(t *testing.T) {
	drawn := map[string]bool{}
	ids := map[string]string{}
	for _, path := range definitions(t) {
		dir, name := filepath.Split(bare(path))
		picture := filepath.Join(dir, "diagrams", name+".svg")
		drawn[picture] = true
		c, found := registry().Compile(path, read(t, path), dialect.DirBundle(filepath.Dir(path)), dialect.Options{})
		if found.HasErrors() {
			t.Error(found)
			continue
		}
		if other, taken := ids[c.Program.ID]; taken && c.Program.ID != "" { // lockstep dev serves one of them only
			t.Errorf("%s and %s are both called %q", other, path, c.Program.ID)
		}
		ids[c.Program.ID] = path
		var got bytes.Buffer
		if err := graph.SVG(&got, graph.Layout(graph.FromProgram(c.Program)), graph.SVGOptions{Heading: true}); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(picture, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(picture); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s is not the diagram of %s (%v); go test ./examples -update, then look at it", picture, path, err)
		}
	}
	for _, dir := range folders {
		pictures, err := filepath.Glob(filepath.Join(dir, "diagrams", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pictures {
			if !drawn[p] {
				t.Errorf("%s is the diagram of nothing", p)
			}
		}
	}
}

// TestFormat: lockstep fmt would change nothing.
func TestFormat(t *testing.T) {
	for _, schema := range []struct {
		pattern string
		text    []byte
	}{
		{"*_test.yaml", scenario.Schema()},
		{"v01/*_test.yaml", scenario.Schema()},
		{"*.yaml", sw05.FrontEnd{}.Schema()},
		{"v01/*.yaml", sw01.FrontEnds()[0].Schema()}, // the forms share one
		{"v01/*.json", sw01.FrontEnds()[0].Schema()},
		{"v02/*_test.yaml", scenario.Schema()},
		{"v02/*.yaml", sw05.FrontEnds()[0].Schema()}, // the forms before 0.5 share one
		{"v02/mocks/*", nil},
		{"v02/events/*", nil},
		{"jobs/*_test.yaml", scenario.Schema()},
		{"jobs/*.yaml", wfx.FrontEnd{}.Schema()},
		{"campaign/*_test.yaml", scenario.Schema()},
		{"campaign/campaign.yaml", sw05.FrontEnd{}.Schema()},
		{"campaign/update.yaml", wfx.FrontEnd{}.Schema()},
		{"campaign/mocks/*", nil},
		{"mocks/*", nil}, // these have no order
		{"events/*", nil},
		{"v01/mocks/*", nil},
		{"v01/events/*", nil},
		{"v08/*_test.yaml", scenario.Schema()},
		{"v08/*.yaml", sw08.FrontEnds()[0].Schema()}, // the versions share one
		{"v08/*.json", sw08.FrontEnds()[0].Schema()},
		{"v08/mocks/*", nil},
		{"v08/events/*", nil},
		{"v10/*_test.yaml", scenario.Schema()},
		{"v10/*.yaml", sw10.FrontEnd{}.Schema()},
		{"v10/mocks/*", nil},
		{"v10/events/*", nil},
		{"v10/documents/*", nil},
		{"bundle/*_test.yaml", scenario.Schema()},
		{"bundle/*.yaml", sw10.FrontEnd{}.Schema()},
		{"bundle/*/*.yaml", nil},
		{"bundle/*/*.json", nil},
	} {
		var order *format.Order
		if schema.text != nil {
			var err error
			if order, err = format.OrderOf(schema.text); err != nil {
				t.Fatal(err)
			}
		}
		paths, err := filepath.Glob(schema.pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no files (%v)", schema.pattern, err)
		}
		for _, path := range paths {
			if scenario.IsFile(path) && !strings.Contains(schema.pattern, "_test") {
				continue
			}
			text := read(t, path)
			if got, err := format.Source(path, text, order); err != nil || !bytes.Equal(got, text) {
				t.Errorf("lockstep fmt would change %s (%v):\n%s", path, err, got)
			}
		}
	}
}

// folders hold examples: version 0.5 here, below it older and later ones, jobs, and a
// workflow that creates jobs. Each has a README and diagrams of its own.
var folders = []string{".", "v01", "v02", "v08", "v10", "jobs", "campaign", "bundle", "embed"}

func registry() *dialect.Registry { return dialects.All() }

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// bare is a path without what its name ends with.
func bare(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }

// definitions lists the examples. Each must have a scenario file.
func definitions(t *testing.T) []string {
	t.Helper()
	var paths []string
	for _, dir := range folders {
		before := len(paths)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			ext := filepath.Ext(e.Name())
			if (ext == ".yaml" || ext == ".json") && !scenario.IsFile(e.Name()) {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
		if len(paths) == before {
			t.Fatalf("no examples in %s", dir)
		}
	}
	return paths
}
