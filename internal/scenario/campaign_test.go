package scenario_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

const kitchen = `
id: kitchen
name: Kitchen
functions: [{name: wash, operation: "job:dishes"}]
states:
- name: Wash
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: wash, parameters: {client: "{{ $.cook }}"}}}]
  end: {kind: default}
`

// runKitchen runs scenarios of a workflow that creates jobs.
func runKitchen(t *testing.T, workflows, scenarios string) scenario.Report {
	t.Helper()
	f := load(t, map[string]string{"w.yaml": dishes, "k.yaml": kitchen, "x_test.yaml": "workflow: " + workflows + "\nscenarios:\n" + scenarios})
	o := options()
	o.Registry = dialect.NewRegistry(wfx.FrontEnd{}, sw05.FrontEnd{})
	return scenario.Run(context.Background(), f, o)
}

func TestCreatedJobs(t *testing.T) {
	const wash = "calls: [{function: wash, arguments: {client: ada}}]"
	for name, c := range map[string]struct{ workflows, scenario, want string }{
		"moved by its client":   {"[k.yaml, w.yaml]", "input: {cook: ada}, takes: [{client: ada, actor: CLIENT, state: CLEAN}], expect: {status: completed, elapsed: PT0S, " + wash + "}", ""},
		"moved by time":         {"[k.yaml, w.yaml]", "input: {cook: ada}, expect: {status: completed, elapsed: P1D, " + wash + "}", ""},
		"refused":               {"[k.yaml, w.yaml]", "input: {cook: ada}, takes: [{client: ada, actor: CLIENT, state: BROKEN, rejected: true}], expect: {status: completed}", ""},
		"mocked":                {"[k.yaml, w.yaml]", "input: {cook: ada}, mocks: {wash: {result: {state: CLEAN}}}, expect: {output: {cook: ada, state: CLEAN}, instances: 1, " + wash + "}", ""},
		"mocked with the rest":  {"[k.yaml, w.yaml]", `input: {cook: ada}, mocks: {"*": {result: {}}}, expect: {output: {cook: ada}}`, ""},
		"neither":               {"k.yaml", "input: {cook: ada}, expect: {status: failed}", `function "wash" was called without a mock`},
		"nobody's":              {"[k.yaml, w.yaml]", "input: {cook: ada}, takes: [{client: bob, actor: CLIENT, state: CLEAN}], expect: {status: completed}", `client "bob" has no job at that time`},
		"refused unexpectedly":  {"[k.yaml, w.yaml]", "input: {cook: ada}, takes: [{client: ada, actor: CLIENT, state: BROKEN}], expect: {status: completed}", "was rejected"},
		"called with other":     {"[k.yaml, w.yaml]", "input: {cook: bob}, expect: {" + wash + "}", "the calls differ"},
		"a take without client": {"[k.yaml, w.yaml]", "input: {cook: ada}, takes: [{actor: CLIENT, state: CLEAN}], expect: {status: completed}", "does not say whose job it moves"},
		"a state that is not":   {"[k.yaml, w.yaml]", "input: {cook: ada}, takes: [{client: ada, actor: CLIENT, state: CLEEN}], expect: {status: completed}", `has a state "CLEEN"; did you mean "CLEAN"?`},
		"the state of what":     {"[k.yaml, w.yaml]", "input: {cook: ada}, expect: {state: CLEAN}", "a state is expected of jobs"},
		"a take without jobs":   {"k.yaml", "input: {cook: ada}, takes: [{client: ada, actor: CLIENT, state: CLEAN}], expect: {status: completed}", "takes are for jobs"},
		"a take of the one job": {"w.yaml", "takes: [{client: ada, actor: CLIENT, state: CLEAN}], expect: {state: CLEAN}", "all takes move the one job under test"},
	} {
		t.Run(name, func(t *testing.T) {
			r := runKitchen(t, c.workflows, "- {name: a, "+c.scenario+"}\n")
			var text strings.Builder
			text.WriteString(r.Diagnostics.Error())
			for _, result := range r.Results {
				for _, f := range result.Failures {
					text.WriteString(f.Message + "\n")
				}
			}
			if got := text.String(); c.want == "" && (got != "" || len(r.Results) != 1) || !strings.Contains(got, c.want) {
				t.Errorf("%d results: %s", len(r.Results), got)
			}
		})
	}
}
