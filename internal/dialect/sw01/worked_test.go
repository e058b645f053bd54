package sw01_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// worked is an example of the specification with what goes in and must come out.
type worked struct {
	ID, Version, Workflow string
	Input, Output         json.RawMessage
	Functions             map[string]struct{ In, Out json.RawMessage }
	Trace                 []struct {
		State  string
		Output json.RawMessage
	}
}

// TestWorkedExamples runs the examples of 0.1 that the specification works out in its
// pictures. Their definitions misspell a function and a state; a copy puts that right.
func TestWorkedExamples(t *testing.T) {
	const corpus = "../../../../shared/corpus"
	text, err := os.ReadFile(filepath.Join(corpus, "worked.json"))
	if err != nil {
		t.Logf("no examples in %s: this checkout has none", corpus)
		return
	}
	var all []worked
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, w := range all {
		if strings.HasPrefix(w.Version, "v0.1-") {
			ran++
			t.Run(w.ID, func(t *testing.T) { w.run(t, corpus) })
		}
	}
	if ran == 0 {
		t.Error("no example of version 0.1 found")
	}
}

func (w worked) run(t *testing.T, corpus string) {
	source, err := os.ReadFile(filepath.Join(corpus, w.Workflow))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("workflow.json", strings.NewReplacer("save_resut", "save_result", "STATE_END", "STATE-END").Replace(string(source)))
	mocks, calls, path := expr.EmptyObject, expr.Array(), expr.Array()
	for name, f := range w.Functions {
		mocks = mocks.With(name, object(t, "result", f.Out))
	}
	for _, name := range []string{"hello", "save_result"} {
		calls = calls.Append(object(t, "arguments", w.Functions[name].In).With("function", expr.String(name)))
	}
	for _, step := range w.Trace {
		path = path.Append(expr.String(step.State))
	}
	if strings.Contains(string(source), `"END"`) {
		path = path.Append(expr.String("STATE-END"))
	}
	expect := object(t, "output", w.Output).With("status", expr.String("completed")).With("calls", calls).With("path", path)
	one := object(t, "input", w.Input).With("name", expr.String(w.ID)).With("mocks", mocks).With("expect", expect)
	scenarios := expr.Object(expr.Member{Key: "workflow", Value: expr.String("workflow.json")}, expr.Member{Key: "scenarios", Value: expr.Array(one)})
	loaded, err := scenario.Load(t.Context(), file("worked_test.yaml", scenarios.String()))
	if err != nil {
		t.Fatal(err)
	}
	report := scenario.Run(context.Background(), loaded, scenario.Options{
		Registry: dialect.NewRegistry(sw01.FrontEnds()...), Languages: languages.All(),
	})
	if report.Diagnostics.HasErrors() || report.Failed() {
		var text strings.Builder
		if err := scenario.WriteText(&text, []scenario.Report{report}, scenario.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%v\n%s", report.Diagnostics, text.String())
	}
}

func object(t *testing.T, key string, text json.RawMessage) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return expr.Object(expr.Member{Key: key, Value: v})
}
