package ctk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kit names the directory of the kit's feature files.
const kit = "LOCKSTEP_CTK"

// TestFeatures runs our own features, and the kit's if they are here, on every runtime.
func TestFeatures(t *testing.T) {
	dirs := []string{"testdata"}
	if dir := os.Getenv(kit); dir != "" {
		dirs = append(dirs, dir)
	} else {
		t.Logf("only our own features run; %s=DIR adds those of the kit", kit)
	}
	for _, dir := range dirs {
		paths, err := filepath.Glob(filepath.Join(dir, "*.feature"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no feature files in %s (%v)", dir, err)
		}
		for name, runtime := range runtimes {
			passed, all := 0, 0
			for _, path := range paths {
				for _, s := range read(t, path).Scenarios {
					all++
					file := strings.TrimSuffix(filepath.Base(path), ".feature")
					if t.Run(name+"/"+file+"/"+s.Name, func(t *testing.T) {
						p := &play{runtime: runtime, services: services(t)}
						if err := p.run(t.Context(), s); err != nil {
							t.Error(err)
						}
					}) {
						passed++
					}
				}
			}
			t.Logf("%s, features of %s: %d of %d scenarios pass", name, filepath.Base(dir), passed, all)
		}
	}
}

func read(t *testing.T, path string) *Feature {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseFeature(string(src))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(f.Scenarios) == 0 {
		t.Fatalf("%s has no scenarios", path)
	}
	return f
}

// TestStepsCanFail: every step that looks at an outcome notices when it does not hold.
func TestStepsCanFail(t *testing.T) {
	completed := &Outcome{Status: Completed, Output: map[string]any{"a": []any{1}}, Tasks: []Task{
		{Name: "one", Status: Completed, Output: 1}, {Name: "two", Status: Cancelled}, {Name: "three", Status: Faulted, Error: map[string]any{"status": 1}},
	}}
	faulted := &Outcome{Status: Faulted, Error: map[string]any{"status": 400}}
	for _, c := range []struct {
		out       *Outcome
		text, doc string
	}{
		{completed, "the workflow should cancel", ""},
		{completed, "the workflow should fault", ""},
		{faulted, "the workflow should complete", ""},
		{completed, "the workflow should complete with output:", "{a: [2]}"},
		{faulted, "the workflow should complete with output:", "null"},
		{faulted, "the workflow should fault with error:", "{status: 500}"},
		{completed, "the workflow should fault with error:", "null"},
		{completed, "the workflow output should have properties 'a', 'b'", ""},
		{faulted, "the workflow output should have properties 'a'", ""},
		{completed, "the workflow output should have a 'a' property with value:", "[2]"},
		{completed, "the workflow output should have a 'a' property containing 2 items", ""},
		{completed, "two should run first", ""},
		{completed, "one should run last", ""},
		{completed, "two should run before one", ""},
		{completed, "one should run after two", ""},
		{completed, "one should run before four", ""},
		{completed, "one should cancel", ""},
		{completed, "two should complete", ""},
		{completed, "one should fault", ""},
		{completed, "one should complete with output:", "2"},
		{completed, "three should fault with error:", "{status: 2}"},
		{nil, "the workflow should complete", ""},
		{completed, "something else", ""},
	} {
		p := &play{out: c.out}
		if err := p.run(t.Context(), Scenario{Steps: []Step{{Text: c.text, Doc: c.doc}}}); err == nil {
			t.Errorf("%q holds", c.text)
		}
	}
}

// TestBadFeatures: what the reader does not understand is an error, not passed over.
func TestBadFeatures(t *testing.T) {
	for _, src := range []string{
		"Feature: f\nScenario: s\n| a | table |\n",
		"Feature: f\nScenario: s\nGiven x:\n\"\"\"\nno end\n",
		"Feature: f\nScenario Outline: s\nScenario: t\nGiven x\nExamples:\n",
		"Feature: f\nScenario: s\n\"\"\"\nx\n\"\"\"\n",
	} {
		if _, err := parseFeature(src); err == nil {
			t.Errorf("no error in %q", src)
		}
	}
}
