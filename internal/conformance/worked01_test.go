package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// typos01 are the slips of the pen in the published definitions of version 0.1.
var typos01 = strings.NewReplacer("save_resut", "save_result", "STATE_END", "STATE-END", "SATATE-END", "STATE-END")

// TestWorkedExamples01 runs the published examples of version 0.1, in all three
// forms, with their typos corrected.
func TestWorkedExamples01(t *testing.T) {
	var all []worked
	if !readCorpus(t, "worked.json", &all) {
		return
	}
	ran := 0
	for _, w := range all {
		if !strings.HasPrefix(w.Version, "v0.1") {
			continue
		}
		ran++
		t.Run(w.ID, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(corpus, w.Workflow))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), filepath.Base(w.Workflow))
			write(t, path, []byte(typos01.Replace(string(text))))
			s := scenario.Scenario{Name: w.ID, Clock: clock, Input: *w.Input, HasInput: true, Mocks: mock.Mocks{}}
			s.Expect = scenario.Expect{Status: scenario.StatusCompleted, Output: w.Output}
			calls := make([]scenario.ExpectCall, 0, len(w.Functions))
			for _, name := range []string{"hello", "save_result"} { // in the order of the picture
				f, ok := w.Functions[name]
				if !ok {
					t.Fatalf("the example has no function %q", name)
				}
				s.Mocks[name] = []mock.Answer{{Result: f.Out, HasResult: true}}
				calls = append(calls, scenario.ExpectCall{Function: name, Arguments: f.In})
			}
			s.Expect.Calls = &calls
			runFile(t, &scenario.File{Path: w.ID, Workflows: []scenario.Workflow{{Path: path}}, Scenarios: []scenario.Scenario{s}})
		})
	}
	if ran != 3 {
		t.Errorf("%d examples of version 0.1, not one of each form", ran)
	}
}

// TestPublishedTypos01: what the published definitions misspell is told, with what
// was meant; they are not corrected silently.
func TestPublishedTypos01(t *testing.T) {
	for _, name := range []string{"v0.1-kebab-early/spec-filter-mechanism.json", "v0.1-kebab/hello-world-example.json", "v0.1-camel/hello-world-example.json"} {
		text, err := os.ReadFile(filepath.Join(corpus, filepath.FromSlash(name)))
		if err != nil {
			t.Logf("no copy of the published definitions: %v", err)
			return
		}
		t.Run(name, func(t *testing.T) {
			_, found := registry.Compile(name, text, dialect.MapBundle{}, dialect.Options{Functions: []string{"hello", "save_result"}})
			told := found.Error()
			for typo, meant := range map[string]string{"save_resut": `"save_result"`, `"STATE_END"`: `"STATE-END"`} {
				if strings.Contains(string(text), typo) && !strings.Contains(told, meant) {
					t.Errorf("nothing says that %s is %s:\n%s", typo, meant, told)
				}
			}
		})
	}
}
