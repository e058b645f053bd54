package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

var registry = dialects.All()

// families are the folders of cases, and what the names of the front-ends that must
// take them begin with.
var families = []struct {
	folder    string
	frontEnds []string
}{
	{"sw01", []string{"sw01"}},
	{"sw02", []string{"sw02", "sw01-final"}}, // one language in two spellings
	{"sw05", []string{"sw05"}},
	{"sw08", []string{"sw06", "sw07", "sw08", "sw09"}},
	{"sw10", []string{"sw10"}},
	{"wfx", []string{"wfx"}},
}

func TestCases(t *testing.T) {
	for _, family := range families {
		paths, err := filepath.Glob(family.folder + "/*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		if len(paths) == 0 {
			t.Errorf("no cases of %s found", family.folder)
		}
		for _, path := range paths {
			t.Run(strings.TrimSuffix(filepath.ToSlash(path), ".txtar"), func(t *testing.T) {
				t.Parallel()
				runArchive(t, family.frontEnds, path)
			})
		}
	}
}

func runArchive(t *testing.T, frontEnds []string, path string) {
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
	name := "workflow.yaml"
	if files[name] == "" {
		name = "workflow.json"
	}
	checkDialect(t, frontEnds, name, files)
	switch expected, ok := files["validate.txt"]; {
	case ok:
		checkDiagnostics(t, filepath.Join(dir, name), files[name], expected)
	case files["scenario.yaml"] != "":
		runScenarios(t, filepath.Join(dir, "scenario.yaml"))
	default:
		t.Error("the case has neither scenario.yaml nor validate.txt")
	}
}

// checkDialect expects the definition to be recognised as one of the family, so that
// no case is about another dialect than its folder says; in the form that dialect.txt
// names, where there is one.
func checkDialect(t *testing.T, frontEnds []string, name string, files map[string]string) {
	doc, found := dialect.Read(name, []byte(files[name]))
	if found.HasErrors() {
		return // that is what the case is about, or else it fails soon
	}
	f, reason, found := registry.Detect(doc, "")
	if found.HasErrors() {
		return
	}
	if !slices.ContainsFunc(frontEnds, func(prefix string) bool { return strings.HasPrefix(f.Name(), prefix) }) {
		t.Errorf("this is a definition of %s (%s)", f.Name(), reason)
	}
	if want, ok := files["dialect.txt"]; ok && f.Name() != strings.TrimSpace(want) {
		t.Errorf("this is %s (%s), not %s", f.Name(), reason, want)
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

// checkDiagnostics compares what is found with the lines expected, each
// "line:column severity CODE", and after a blank a part of the message or the hint.
func checkDiagnostics(t *testing.T, path, text, expected string) {
	_, found := registry.Compile(path, []byte(text), dialect.DirBundle(filepath.Dir(path)), dialect.Options{})
	wanted := strings.Split(strings.TrimSpace(expected), "\n")
	var got []string
	for i, d := range found {
		line := fmt.Sprintf("%d:%d %s %s", d.Line, d.Column, d.Severity, d.Code)
		if i < len(wanted) {
			rest, ok := strings.CutPrefix(wanted[i], line+" ")
			if ok && (strings.Contains(d.Message, rest) || strings.Contains(d.Hint, rest)) {
				line = wanted[i]
			}
		}
		got = append(got, line)
	}
	if slices.Equal(got, wanted) || len(got) == 0 && strings.TrimSpace(expected) == "" {
		return
	}
	t.Errorf("the diagnostics differ (- expected, + got):\n%s\nin full:\n%v",
		strings.Join(scenario.Diff(strings.TrimSpace(expected), strings.Join(got, "\n")), "\n"), found.Error())
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
	report := scenario.Run(context.Background(), file, scenario.Options{Registry: registry, Languages: languages.All()})
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
