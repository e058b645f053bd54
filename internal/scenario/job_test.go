package scenario_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

const dishes = `
name: dishes
states:
- {name: DIRTY, timeout: {after: P1D, to: BROKEN}}
- {name: CLEAN}
- {name: BROKEN}
transitions:
- {from: DIRTY, to: CLEAN, eligible: CLIENT}
- {from: DIRTY, to: CLEAN, eligible: WFX}
- {from: DIRTY, to: DIRTY, eligible: WFX}
- {from: DIRTY, to: BROKEN, eligible: WFX}
`

// runJob runs scenarios of the dishes.
func runJob(t *testing.T, scenarios string) scenario.Report {
	t.Helper()
	f := load(t, map[string]string{"w.yaml": dishes, "x_test.yaml": "workflow: w.yaml\nscenarios:\n" + scenarios})
	o := options()
	o.Registry = dialect.NewRegistry(wfx.FrontEnd{}, sw05.FrontEnd{})
	return scenario.Run(context.Background(), f, o)
}

// What differs from the scenario is told, with what was open.
func TestTakesThatDiffer(t *testing.T) {
	for name, test := range map[string]struct{ scenario, field, message string }{
		"allowed": {
			"- {name: a, takes: [{actor: CLIENT, state: CLEAN, rejected: true}], expect: {state: CLEAN}}", "takes", "CLIENT to CLEAN, was allowed",
		},
		"rejected": {
			"- {name: a, takes: [{actor: CLIENT, state: BROKEN}], expect: {state: BROKEN}}", "takes",
			"open are CLIENT to CLEAN, WFX to CLEAN, WFX to BROKEN, CLIENT to DIRTY, WFX to DIRTY",
		},
		"state": {
			"- {name: a, takes: [{actor: CLIENT, state: CLEAN}], expect: {state: BROKEN}}", "state", "expected BROKEN, got CLEAN",
		},
		"output": {
			"- {name: a, takes: [{actor: CLIENT, state: CLEAN, progress: 3}], expect: {output: {state: CLEAN}}}", "output", "the output differs",
		},
		"too late": {
			"- {name: a, takes: [{at: P1DT1S, actor: CLIENT, state: CLEAN}], expect: {state: BROKEN}}", "takes", "rejected",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := runJob(t, test.scenario)
			if len(r.Results) != 1 || len(r.Results[0].Failures) == 0 {
				t.Fatalf("%v %+v", r.Diagnostics, r.Results)
			}
			if f := r.Results[0].Failures[0]; f.Field != test.field || !strings.Contains(f.Message, test.message) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// What a job cannot do is told before anything runs.
func TestJobMistakes(t *testing.T) {
	for mistake, want := range map[string]string{
		"- {name: a, takes: [{actor: CLIENT, state: CLAEN}], expect: {state: CLEAN}}": `has no state "CLAEN"; did you mean "CLEAN"?`,
		"- {name: a, expect: {state: GONE}}":                                          `has no state "GONE"`,
		"- {name: a, expect: {path: [DIRTY, BROKE]}}":                                 `has no state "BROKE"`,
		"- {name: a, events: [{event: {type: x}}], expect: {state: DIRTY}}":           "never for an event",
	} {
		if r := runJob(t, mistake); len(r.Results) > 0 || !strings.Contains(r.Diagnostics.Error(), want) {
			t.Errorf("%s: %v", mistake, r.Diagnostics)
		}
	}
	for mistake, want := range map[string]string{
		"takes: [{at: PT2S, actor: CLIENT, state: A}, {at: PT1S, actor: CLIENT, state: A}]": "the take before this one comes later, at PT2S",
		"takes: [{actor: CLIENT, state: A, progress: 101}]":                                 "progress must be a whole number of at most 100",
		"takes: [{actor: CLIENT, state: A, progress: half}]":                                "progress must be a whole number",
		"takes: [{actor: CLIENT, state: A, message: 1}]":                                    "message must be a string",
		"takes: [{actor: CLIENT, state: A, context: [1]}]":                                  "context must be an object",
		"takes: [{actor: ROBOT, state: A}]":                                                 `actor cannot be "ROBOT"; one of CLIENT, WFX`,
		"takes: [{at: P400Y, actor: CLIENT, state: A}]":                                     "limit timer-horizon",
		"client: ''": "client must not be empty",
	} {
		_, err := scenario.Parse("x_test.yaml", []byte("workflow: w.yaml\nscenarios:\n- name: a\n  "+mistake+"\n  expect: {state: A}\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", mistake, err)
		}
	}
}

// What is for jobs is refused elsewhere.
func TestJobKeysAreForJobs(t *testing.T) {
	f := load(t, map[string]string{"loop.yaml": loop, "x_test.yaml": `
workflow: loop.yaml
scenarios:
- {name: one, client: ada, takes: [{actor: CLIENT, state: DONE}], expect: {state: DONE}}
`})
	r := scenario.Run(t.Context(), f, options())
	if n, _ := r.Diagnostics.Counts(); n != 3 || len(r.Results) > 0 {
		t.Errorf("%v", r.Diagnostics)
	}
}

// A transition is covered by the actor that took it, the clock's apart from both.
func TestCoverageTellsActorsApart(t *testing.T) {
	const byClient = "- {name: a, takes: [{actor: CLIENT, state: CLEAN}], expect: {state: CLEAN}}\n"
	const byClock = "- {name: b, expect: {state: BROKEN}}\n"
	const news = "- {name: c, takes: [{actor: CLIENT, state: DIRTY}, {actor: WFX, state: DIRTY}], expect: {state: BROKEN}}\n"
	for scenarios, want := range map[string]string{
		byClient:                  "DIRTY → CLEAN (WFX), DIRTY → DIRTY (WFX), DIRTY → BROKEN (WFX), DIRTY → BROKEN (timeout P1D)",
		byClock:                   "DIRTY → CLEAN (CLIENT), DIRTY → CLEAN (WFX), DIRTY → DIRTY (WFX), DIRTY → BROKEN (WFX)",
		news:                      "DIRTY → CLEAN (CLIENT), DIRTY → CLEAN (WFX), DIRTY → BROKEN (WFX)",
		byClient + byClock + news: "DIRTY → CLEAN (WFX), DIRTY → BROKEN (WFX)",
	} {
		r := runJob(t, scenarios)
		if r.Failed() || len(r.Coverage) != 1 {
			t.Fatalf("%v %+v", r.Diagnostics, r.Results)
		}
		if got := strings.Join(r.Coverage[0].MissingEdges(), ", "); got != want {
			t.Errorf("%s\nmissing %s\nwant    %s", scenarios, got, want)
		}
	}
}

// Two runs of the examples are equal.
func TestJobsRepeat(t *testing.T) {
	o := options()
	o.Registry = dialect.NewRegistry(wfx.FrontEnd{})
	f, err := scenario.Load(t.Context(), filepath.Join("..", "..", "examples", "jobs", "firmware_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var texts [2]strings.Builder
	for i := range texts {
		report := scenario.Run(t.Context(), f, o)
		if report.Failed() || len(report.Results) < 5 {
			t.Fatalf("%v %+v", report.Diagnostics, report.Results)
		}
		if err := scenario.WriteJSON(&texts[i], []scenario.Report{report}); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() {
		t.Errorf("%s\n%s", &texts[0], &texts[1])
	}
}

// A take without a time comes right after the one before.
func TestTakesComeInTheOrderListed(t *testing.T) {
	r := runJob(t, `
- name: a
  takes:
  - {at: PT1H, actor: WFX, state: DIRTY, message: begin}
  - {actor: CLIENT, state: CLEAN}
  - {actor: CLIENT, state: CLEAN, message: shiny}
  expect: {state: CLEAN, elapsed: PT1H, output: {state: CLEAN, message: shiny}}
`)
	if r.Failed() || len(r.Results) != 1 {
		t.Errorf("%v %+v", r.Diagnostics, r.Results)
	}
}
