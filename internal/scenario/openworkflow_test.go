package scenario_test

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// A scenario of Open Workflow 1.0 is started by its input, its events or its schedule, one of them,
// and ends at its until.
func TestStartsOfOpenWorkflow(t *testing.T) {
	const document = "document: {dsl: 1.0.3, namespace: test, name: w, version: 1.0.0}\n"
	for _, c := range []struct{ name, workflow, scenario string }{
		{"the schedule, once", "schedule: {every: PT20M}\ndo: [{s: {set: {n: 1}}}]", "expect: {instances: 1, output: {n: 1}}"},
		{"the schedule, until", "schedule: {every: PT20M}\ndo: [{s: {set: {n: 1}}}]", "until: PT1H, expect: {instances: 3, elapsed: PT0S}"},
		{"cron, until", "schedule: {cron: '*/20 * * * *'}\ndo: [{s: {set: {n: 1}}}]", "until: PT50M, expect: {instances: 2}"},
		{"the input, beside a schedule", "schedule: {every: PT20M}\ndo: [{s: {set: {n: '${ . }'}}}]", "input: 5, until: PT1H, expect: {instances: 1, output: {n: 5}}"},
		{"the events", "schedule: {on: {one: {with: {type: a}}}}\ndo: [{s: {set: {n: '${ . }'}}}]", "events: [{event: {type: a, data: 1}}], expect: {instances: 1, output: {n: [1]}}"},
		{"the input, beside events", "schedule: {on: {one: {with: {type: a}}}}\ndo: [{s: {set: {n: '${ . }'}}}]", "input: [x], expect: {instances: 1, output: {n: [x]}}"},
		{"no event", "schedule: {on: {one: {with: {type: a}}}}\ndo: [{s: {set: {n: 1}}}]", "expect: {status: none, instances: 0}"},
		{"time ends in a wait", "do: [{w: {wait: PT2H}}]", "until: PT1H, expect: {status: waiting}"},
		{"the input is refused", "input: {schema: {document: {type: number}}}\ndo: [{s: {set: {n: 1}}}]", "input: [], expect: {status: failed, path: [], instances: 1, error: {status: 400, instance: /input}}"},
		{"a secret", "use: {secrets: [a]}\ndo: [{s: {set: '${ $secrets }'}}]", "secrets: {a: 1, b: 2}, expect: {output: {a: 1}}"},
		{"no secret", "use: {secrets: [a]}\ndo: [{s: {set: '${ $secrets.a }'}}]", "secrets: {b: 2}, expect: {error: {status: 403}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := load(t, map[string]string{
				"w.yaml": document + c.workflow, "x_test.yaml": "workflow: w.yaml\nscenarios:\n- {name: x, " + c.scenario + "}\n",
			})
			report := scenario.Run(t.Context(), f, scenario.Options{Registry: dialects.All(), Languages: languages.All()})
			if report.Diagnostics.HasErrors() {
				t.Fatal(report.Diagnostics)
			}
			if report.Failed() {
				var text strings.Builder
				_ = scenario.WriteText(&text, []scenario.Report{report}, scenario.TextOptions{})
				t.Error(text.String())
			}
		})
	}
}
