package scenario_test

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// logging compiles 0.5, where no document can ask for it, with functions that log.
type logging struct{ sw05.FrontEnd }

func (l logging) Compile(src dialect.Source) (*ir.Program, dialect.Diagnostics) {
	p, found := l.FrontEnd.Compile(src)
	for i := range p.Functions {
		if strings.HasPrefix(p.Functions[i].Name, "log") {
			p.Functions[i].Operation = "call:log:INFO"
		}
	}
	return p, found
}

// TestLogCallsNeedNoMock: a scenario goes on without one, and sees the call. All other functions need theirs.
func TestLogCallsNeedNoMock(t *testing.T) {
	const steps = `
id: w
name: W
functions: [{name: log}, {name: other}]
states:
- name: Call
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: FUNCTION, parameters: {message: hello}}}]
  end: {kind: default}
`
	for function, want := range map[string]string{"log": "", "other": "called without a mock"} {
		f := load(t, map[string]string{"w.yaml": strings.Replace(steps, "FUNCTION", function, 1), "x_test.yaml": `
workflow: w.yaml
scenarios:
- {name: a, input: {b: 1}, expect: {status: completed, output: {b: 1}, calls: [{function: log, arguments: {message: hello}}]}}
`})
		o := options()
		o.Registry = dialect.NewRegistry(logging{})
		r := scenario.Run(t.Context(), f, o)
		got := r.Diagnostics.Error()
		for _, result := range r.Results {
			for _, failure := range result.Failures {
				got += failure.Message
			}
		}
		if len(r.Results) != 1 || want == "" && len(r.Results[0].Failures) > 0 || !strings.Contains(got, want) {
			t.Errorf("%s: %s", function, got)
		}
	}
}
