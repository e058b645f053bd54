package scenario_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// bomb is one of two workflows that start each other, twice each time.
func bomb(id, other string) string {
	return strings.NewReplacer("ID", id, "OTHER", other).Replace(`
id: ID
name: Bomb
states:
- {name: Both, type: parallel, start: {kind: default}, branches: [{name: x, workflowId: OTHER}, {name: y, workflowId: OTHER}], end: {kind: default}}
`)
}

// crowd starts a workflow for each of a thousand items.
func crowd(id, other string) string {
	return strings.NewReplacer("ID", id, "OTHER", other, "LIST", "[0"+strings.Repeat(", 0", 999)+"]").Replace(`
id: ID
name: Crowd
states:
- {name: Items, type: inject, start: {kind: default}, data: {l: LIST}, transition: {nextState: Each}}
- {name: Each, type: foreach, inputCollection: "{{ $.l }}", iterationParam: l, workflowId: OTHER, end: {kind: default}}
`)
}

func TestLimitEndsForkBombs(t *testing.T) {
	for name, make := range map[string]func(id, other string) string{"parallel": bomb, "foreach": crowd} {
		f := load(t, map[string]string{
			"a.yaml": make("a", "b"), "b.yaml": make("b", "a"),
			"x_test.yaml": "workflow: [a.yaml, b.yaml]\nscenarios:\n- {name: boom, expect: {status: completed}}\n",
		})
		r := scenario.Run(context.Background(), f, options())
		if len(r.Results) != 1 || len(r.Results[0].Failures) != 1 {
			t.Fatalf("%s: %+v", name, r)
		}
		const want = "more than 10000 instances at a time (limit scenario-instances)"
		if got := r.Results[0].Failures[0]; got.Field != "limit" || !strings.Contains(got.Message, want) {
			t.Errorf("%s: got %+v, want %s", name, got, want)
		}
	}
}

func TestClockOutsideTheHorizon(t *testing.T) {
	const file = `
workflow: a.yaml
scenarios:
- {name: late, clock: "2300-01-01T00:00:00Z", expect: {status: completed}}
- {name: early, clock: "1600-01-01T00:00:00Z", expect: {status: completed}}
- {name: last, clock: "2261-12-31T00:00:00Z", expect: {status: completed}}
- {name: event, events: [{at: P300Y, event: {type: a}}], expect: {status: completed}}
`
	_, err := scenario.Parse("x_test.yaml", []byte(file))
	if err == nil {
		t.Fatal("no mistakes found")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, want := range []string{"x_test.yaml:4:23 error TS104", "x_test.yaml:5:24 error TS104", "x_test.yaml:7:26 error TS104"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) || !strings.Contains(lines[i], "limit timer-horizon") {
			t.Errorf("want %s in:\n%v", want, err)
		}
	}
	if len(lines) != 3 {
		t.Errorf("got %d mistakes:\n%v", len(lines), err)
	}
}

func TestDefinitionIsNotAScenarioFile(t *testing.T) {
	_, err := scenario.Parse("dir/order.yaml", []byte(loop))
	want := "dir/order.yaml:2:1 error TS103 this is a definition, not a scenario file; scenarios stand beside it, in order_test.yaml"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	want = "dir/order.yaml:1:1 error TS103 this is a definition, not a scenario file; scenarios stand beside it, in order_test.yaml"
	_, err = scenario.Parse("dir/order.yaml", []byte("document: {dsl: 1.0.3, namespace: default, name: order, version: 1.0.0}\ndo: [{a: {set: {b: 1}}}]\n"))
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestNamesCannotCommandATerminal has escape sequences where authors choose names.
func TestNamesCannotCommandATerminal(t *testing.T) {
	f := load(t, map[string]string{
		"a.yaml": `
id: "a\e[31m"
name: A
states:
- {name: "A\e]0;owned\a\e[2J", type: inject, start: {kind: default}, data: {}, end: {kind: default}}
- {name: "B\u202e", type: inject, data: {}, end: {kind: default}}
`,
		"x_test.yaml": `
workflow: a.yaml
scenarios:
- {name: "evil\e[2J\nok 2 - fake", expect: {status: failed, path: ["C\e[2J"]}}
`,
	})
	reports := []scenario.Report{scenario.Run(context.Background(), f, options())}
	var text, tap strings.Builder
	err := errors.Join(
		scenario.WriteText(&text, reports, scenario.TextOptions{Coverage: scenario.FullCoverage}),
		scenario.WriteTAP(&tap, reports))
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{text.String(), tap.String()} {
		if strings.ContainsAny(out, "\x1b\a\u202e") || !strings.Contains(out, "path taken: A·]0;owned··[2J") {
			t.Errorf("got %q", out)
		}
		if slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return strings.HasPrefix(line, "ok 2") }) {
			t.Errorf("a name makes a line of its own: %q", out)
		}
	}
}

// TestLongPathIsCut fails a scenario after many states.
func TestLongPathIsCut(t *testing.T) {
	f := load(t, map[string]string{"loop.yaml": loop, "x_test.yaml": `
workflow: loop.yaml
scenarios:
- {name: for ever, mocks: {f: {result: {}}}, expect: {status: completed}}
`})
	o := options()
	o.Limits.Steps = 2000
	var text strings.Builder
	if err := scenario.WriteText(&text, []scenario.Report{scenario.Run(context.Background(), f, o)}, scenario.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); len(got) > 2000 || !strings.Contains(got, " more … ") {
		t.Errorf("%d bytes:\n%.3000s", len(got), got)
	}
}

// TestCoverageOfCompensationBeforeAnError counts the error's transition although
// states are undone before it.
func TestCoverageOfCompensationBeforeAnError(t *testing.T) {
	f := load(t, map[string]string{
		"a.yaml": `
id: a
name: A
functions: [{name: f}]
states:
- {name: Book, type: operation, start: {kind: default}, actions: [{functionRef: {refName: f}}], compensatedBy: Unbook, transition: {nextState: Pay}}
- name: Pay
  type: operation
  actions: [{functionRef: {refName: pay}}]
  onErrors: [{error: "*", transition: {compensateBefore: true, nextState: Sorry}}]
  end: {kind: default}
- {name: Unbook, type: operation, usedForCompensation: true, actions: [{functionRef: {refName: f}}]}
- {name: Sorry, type: inject, data: {}, end: {kind: default}}
`,
		"x_test.yaml": `
workflow: a.yaml
scenarios:
- {name: no money, mocks: {f: {result: {}}, pay: {error: Broke}}, expect: {path: [Book, Pay, Unbook, Sorry]}}
`,
	})
	r := scenario.Run(context.Background(), f, options())
	if len(r.Results) != 1 || !r.Results[0].Passed() {
		t.Fatalf("%+v", r)
	}
	if got := strings.Join(r.Coverage[0].MissingEdges(), ", "); got != "Pay → (end)" {
		t.Errorf("never taken: %s", got)
	}
}
