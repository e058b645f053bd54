package sim

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/sim/naive08"
)

// interpretLater runs a case of version 0.6, 0.7, 0.8 or 0.9 on their interpreter.
func interpretLater(form int) func(*Case) (Outcome, string) {
	return func(c *Case) (out Outcome, open string) {
		n := &naive08.Case{Form: form, Start: Epoch, Input: plain(c.Input), ByHand: c.ByHand, Mocks: map[string][]naive08.Answer{}}
		for _, def := range append([]expr.Value{c.Def}, c.Subs...) {
			n.Definitions = append(n.Definitions, plain(def).(map[string]any))
		}
		for _, e := range c.Events {
			n.Events = append(n.Events, naive08.Event{At: e.At, Event: plain(e.Event).(map[string]any)})
		}
		for _, m := range c.Mocks {
			for _, a := range m.Answers {
				answer := naive08.Answer{Result: plain(a.Result), HasResult: a.HasResult, Echo: a.Echo, Delay: a.Delay}
				if f := a.Error; f != nil {
					answer.Error = &naive08.Fault{Name: f.Name, Code: f.Code, Status: f.Status, Title: f.Title, Type: f.Type}
				}
				n.Mocks[m.Function] = append(n.Mocks[m.Function], answer)
			}
		}
		got := naive08.Run(n)
		for _, in := range got.Instances {
			instance := Instance{Workflow: in.Workflow, Status: in.Status, Path: in.Path, Created: in.Created, Ended: in.Ended, Output: value(in.Output)}
			if in.Fault != nil {
				instance.Error = in.Fault.String()
			}
			out.Instances = append(out.Instances, instance)
		}
		for _, call := range got.Calls {
			out.Calls = append(out.Calls, Call{call.At, call.Function, value(call.Args), call.Maybe})
		}
		for _, p := range got.Produced {
			out.Produced = append(out.Produced, Produced{p.At, value(p.Event)})
		}
		out.Reached, out.Mixed = got.Reached, got.Mixed
		return out, got.Open
	}
}
