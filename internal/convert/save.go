package convert

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/format"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// Scenario writes the case of a difference as a scenario file that names a workflow.
// What is expected is what the source did: `lockstep test` passes with the source.
func (d *Difference) Scenario(workflow string) ([]byte, error) {
	s := obj("name", str(fmt.Sprintf("case %d of the conversion", d.Number)))
	if d.Case.ByHand {
		s = s.With("input", d.Case.Input)
	}
	mocks := expr.EmptyObject
	for _, m := range d.Case.Mocks {
		var list []expr.Value
		for _, a := range m.Answers {
			list = append(list, answerValue(a))
		}
		mocks = mocks.With(m.Function, expr.Array(list...))
	}
	if mocks.Len() > 0 {
		s = s.With("mocks", mocks)
	}
	var events []expr.Value
	for _, e := range d.Case.Events {
		events = append(events, obj("at", str(iso(e.At)), "event", e.Event))
	}
	if len(events) > 0 {
		s = s.With("events", expr.Array(events...))
	}
	s = s.With("expect", d.Source.expect())
	w := &writer{}
	w.comment(0, "A case in which a definition and its conversion differ in "+d.What+".")
	w.key(0, "workflow", str(workflow))
	w.key(0, "scenarios", expr.Array(s))
	order, err := format.OrderOf(scenario.Schema())
	if err != nil {
		return nil, err
	}
	return format.Source("case_test.yaml", w.Bytes(), order)
}

// expect is an outcome as a scenario expects it.
func (o Outcome) expect() expr.Value {
	out := expr.EmptyObject
	calls := []expr.Value{}
	for _, c := range o.Calls {
		calls = append(calls, obj("function", str(c.Function), "arguments", c.Args))
	}
	if o.Status == statusRunning {
		return out // it has no end
	}
	out = obj("status", str(o.Status), "calls", expr.Array(calls...), "instances", expr.Int(int64(o.Instances)))
	if o.HasOutput {
		out = out.With("output", o.Output)
	}
	if o.Category != "" {
		out = out.With("error", obj("name", str(o.Error)))
	}
	if o.Status == "completed" || o.Status == "failed" {
		out = out.With("elapsed", str(iso(o.Elapsed)))
	}
	return out
}

// answerValue is an answer as scenario files write it.
func answerValue(a mock.Answer) expr.Value {
	out := expr.EmptyObject
	if a.Delay != 0 {
		out = out.With("delay", str(iso(a.Delay)))
	}
	switch {
	case a.Error != nil:
		e := obj("name", str(a.Error.Name))
		if a.Error.Code != "" {
			e = e.With("code", str(a.Error.Code))
		}
		out = out.With("error", e)
	case a.HasResult:
		out = out.With("result", a.Result)
	}
	return out
}

func answerText(a mock.Answer) string { return answerValue(a).String() }
