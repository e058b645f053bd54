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

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/format"
	"github.com/lockstep-workflows/lockstep/graph"
	"github.com/lockstep-workflows/lockstep/scenario"
)

var update = flag.Bool("update", false, "draw the diagrams anew")

func TestScenarios(t *testing.T) {
	langs := jsonpath.Languages()
	langs[jsonschema.Lang] = jsonschema.Compiler{}
	options := scenario.Options{Registry: registry(), Languages: langs}
	for _, path := range definitions(t) {
		t.Run(path, func(t *testing.T) {
			file, err := scenario.Load(t.Context(), strings.TrimSuffix(path, ".yaml")+"_test.yaml")
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
	for _, path := range definitions(t) {
		picture := filepath.Join("diagrams", strings.TrimSuffix(path, ".yaml")+".svg")
		drawn[picture] = true
		c, found := registry().Compile(path, read(t, path), dialect.DirBundle("."), dialect.Options{})
		if found.HasErrors() {
			t.Error(found)
			continue
		}
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
	pictures, err := filepath.Glob("diagrams/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		if !drawn[p] {
			t.Errorf("%s is the diagram of nothing", p)
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
		{"*.yaml", sw05.FrontEnd{}.Schema()},
		{"*/*.yaml", nil}, // mocks and events have no order
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
			if scenario.IsFile(path) && schema.pattern == "*.yaml" {
				continue
			}
			text := read(t, path)
			if got, err := format.Source(path, text, order); err != nil || !bytes.Equal(got, text) {
				t.Errorf("lockstep fmt would change %s (%v):\n%s", path, err, got)
			}
		}
	}
}

func registry() *dialect.Registry { return dialect.NewRegistry(sw05.FrontEnd{}) }

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
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
