package scenario_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

func options() scenario.Options {
	return scenario.Options{Registry: dialect.NewRegistry(sw05.FrontEnd{}), Languages: jsonpath.Languages()}
}

// load writes files into a folder and reads the scenario file among them.
func load(t *testing.T, files map[string]string) *scenario.File {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := scenario.Load(t.Context(), filepath.Join(dir, "x_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const loop = `
id: loop
name: Loop
functions: [{name: f}]
states:
- name: Call
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: f}}]
  transition: {nextState: Wait}
- {name: Wait, type: delay, timeDelay: PT1S, transition: {nextState: Call}}
`

func TestLimitsEndEndlessScenarios(t *testing.T) {
	f := load(t, map[string]string{"loop.yaml": loop, "x_test.yaml": `
workflow: loop.yaml
scenarios:
- {name: for ever, mocks: {f: {result: {}}}, expect: {status: completed}}
`})
	for limit, limits := range map[string]trial.Limits{
		"more than 50 calls of functions (limit scenario-calls)": {Calls: 50},
		"more than 70 steps (limit scenario-steps)":              {Steps: 70},
	} {
		o := options()
		o.Limits = limits
		r := scenario.Run(context.Background(), f, o)
		if got := r.Results[0].Failures[0]; got.Field != "limit" || !strings.Contains(got.Message, limit) {
			t.Errorf("got %+v, want the limit %s", got, limit)
		}
	}
}

func TestOnlyRunsWhatMatches(t *testing.T) {
	f := load(t, map[string]string{"loop.yaml": loop, "x_test.yaml": `
workflow: loop.yaml
scenarios:
- {name: one, mocks: {f: {error: {name: X}}}, expect: {status: failed}}
- {name: two, mocks: {f: {error: {name: X}}}, expect: {status: failed}}
`})
	o := options()
	o.Only = regexp.MustCompile("^t")
	r := scenario.Run(context.Background(), f, o)
	if len(r.Results) != 1 || r.Results[0].Name != "two" || !r.Results[0].Passed() {
		t.Errorf("got %+v", r.Results)
	}
}

// TestTwoRunsAreEqual runs a scenario with jitter, retries and parallel branches
// twice: nothing may differ, not even the ids in produced events.
func TestTwoRunsAreEqual(t *testing.T) {
	f := load(t, map[string]string{"fork.yaml": `
id: fork
name: Fork
functions: [{name: f}, {name: g}]
events: [{name: Done, type: done, kind: produced}]
retries: [{name: R, delay: PT10S, jitter: 0.5, maxAttempts: 5}]
states:
- name: Fork
  type: parallel
  start: {kind: default}
  branches:
  - {name: A, actions: [{functionRef: {refName: f}}]}
  - {name: B, actions: [{functionRef: {refName: g}}]}
  onErrors: [{error: X, retryRef: R, end: {kind: default}}]
  end: {kind: event, produceEvents: [{eventRef: Done, data: "{{ $.n }}"}]}
`, "x_test.yaml": `
workflow: fork.yaml
scenarios:
- name: jitter
  mocks: {f: [{error: {name: X}}, {error: {name: X}}, {result: {n: 1}}], g: {delay: PT1S, result: {m: 1}}}
  expect: {status: completed, output: {n: 1, m: 1}}
`})
	first := scenario.Run(context.Background(), f, options()).Results[0]
	second := scenario.Run(context.Background(), f, options()).Results[0]
	if !first.Passed() {
		t.Fatalf("failed: %+v", first.Failures)
	}
	if a, b := first.Outcome.Elapsed(), second.Outcome.Elapsed(); a != b || a.Seconds() == 21 {
		t.Errorf("elapsed %s and %s: want the same, and jitter in it", a, b)
	}
	if a, b := first.Outcome.Produced[0].String(), second.Outcome.Produced[0].String(); a != b {
		t.Errorf("produced %s and %s", a, b)
	}
}

// TestUnexpectedFailureFails says that a scenario which expects nothing of the
// status does not hide a failure.
func TestUnexpectedFailureFails(t *testing.T) {
	f := load(t, map[string]string{"loop.yaml": loop, "x_test.yaml": `
workflow: loop.yaml
scenarios:
- {name: path only, mocks: {f: {error: {name: X}}}, expect: {path: [Call]}}
- {name: error given, mocks: {f: {error: {name: X}}}, expect: {error: {name: X}}}
- {name: another error, mocks: {f: {error: {name: X}}}, expect: {error: {name: Y}}}
`})
	r := scenario.Run(context.Background(), f, options())
	if r.Results[0].Passed() || !r.Results[1].Passed() || r.Results[2].Passed() {
		t.Errorf("passed: %t %t %t, want false true false", r.Results[0].Passed(), r.Results[1].Passed(), r.Results[2].Passed())
	}
}

func TestDefinitionsOfOneIDAreRefused(t *testing.T) {
	f := load(t, map[string]string{"loop.yaml": loop, "again.yaml": loop, "x_test.yaml": `
workflow: [loop.yaml, again.yaml]
scenarios: [{name: a, expect: {status: completed}}]
`})
	r := scenario.Run(context.Background(), f, options())
	if got := r.Diagnostics.Error(); !strings.Contains(got, `TS108 the id "loop" is also that of`) || len(r.Results) != 0 {
		t.Errorf("got %s and %d results", got, len(r.Results))
	}
}
