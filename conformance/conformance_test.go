package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/scenario"
)

var registry = dialect.NewRegistry(sw05.FrontEnd{})

func languages() expr.Languages {
	langs := jsonpath.Languages()
	langs[jsonschema.Lang] = jsonschema.Compiler{}
	return langs
}

func TestCases(t *testing.T) {
	paths, err := filepath.Glob("*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no cases found")
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.ToSlash(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runArchive(t, path)
		})
	}
}

func runArchive(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(strings.TrimSpace(string(archive.Comment))) == 0 {
		t.Error("the case does not say which section and rule it is about")
	}
	dir := t.TempDir()
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
	switch expected, ok := files["validate.txt"]; {
	case ok:
		checkDiagnostics(t, dir, files, expected)
	case files["scenario.yaml"] != "":
		runScenarios(t, filepath.Join(dir, "scenario.yaml"))
	default:
		t.Error("the case has neither scenario.yaml nor validate.txt")
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func checkDiagnostics(t *testing.T, dir string, files map[string]string, expected string) {
	name := "workflow.yaml"
	if files[name] == "" {
		name = "workflow.json"
	}
	_, found := registry.Compile(filepath.Join(dir, name), []byte(files[name]), dialect.DirBundle(dir), dialect.Options{})
	var got strings.Builder
	for _, d := range found {
		fmt.Fprintf(&got, "%d:%d %s %s\n", d.Line, d.Column, d.Severity, d.Code)
	}
	if got.String() == expected {
		return
	}
	t.Errorf("the diagnostics differ (- expected, + got):\n%s\nin full:\n%v",
		strings.Join(scenario.Diff(strings.TrimSpace(expected), strings.TrimSpace(got.String())), "\n"), found.Error())
}

// runScenarios runs a scenario file, and reports what its reader would see.
func runScenarios(t *testing.T, path string) {
	file, err := scenario.Load(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	runFile(t, file)
}

func runFile(t *testing.T, file *scenario.File) {
	t.Helper()
	report := scenario.Run(context.Background(), file, scenario.Options{Registry: registry, Languages: languages()})
	if report.Diagnostics.HasErrors() {
		t.Fatal(report.Diagnostics.Error())
	}
	if report.Failed() {
		var text strings.Builder
		if err := scenario.WriteText(&text, []scenario.Report{report}, scenario.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Error("\n" + text.String())
	}
}
