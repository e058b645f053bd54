package sim

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/sim/naive10"
)

// interpret10 runs a case of version 1.0 on its interpreter.
func interpret10(c *Case) (out Outcome, open string) {
	if _, scheduled := c.Def.Get("schedule"); !scheduled && !c.ByHand {
		return out, "nothing starts it"
	}
	input := c.Input
	if input.IsNull() { // which is none
		input = expr.EmptyObject
	}
	n := &naive10.Case{Start: Epoch, Input: plain(input), HasInput: c.ByHand}
	for _, def := range append([]expr.Value{c.Def}, c.Subs...) {
		n.Definitions = append(n.Definitions, plain(def).(map[string]any))
	}
	for _, e := range c.Events {
		event := plain(e.Event).(map[string]any)
		event["specversion"] = "1.0"
		n.Events = append(n.Events, naive10.Event{At: e.At, Event: event})
	}
	mocks := naive10.Mocks{}
	for _, m := range c.Mocks {
		for _, a := range m.Answers {
			answer := naive10.Answer{Result: plain(a.Result), Echo: a.Echo, Delay: a.Delay}
			if a.Error != nil {
				answer.Error = a.Error.object()
			}
			mocks[m.Function] = append(mocks[m.Function], answer)
		}
	}
	n.Answer = mocks.Answer(func(name string) { panic("sim: no mock of " + name) })
	got := naive10.Run(n)
	for _, in := range got.Instances {
		instance := Instance{
			Workflow: in.Namespace + "." + in.Workflow, Status: in.Status, Path: in.Path, Created: in.Created, Ended: in.Ended,
			Output: value(in.Output), Error: errorText(in.Error),
		}
		out.Instances = append(out.Instances, instance)
	}
	for _, call := range got.Calls {
		out.Calls = append(out.Calls, Call{call.At, call.Function, value(call.Args), call.Maybe})
	}
	for _, p := range got.Produced {
		e := maps.Clone(p.Event)
		for _, key := range []string{"id", "time", "datacontenttype"} { // nobody compares them
			delete(e, key)
		}
		out.Produced = append(out.Produced, Produced{p.At, value(e)})
	}
	out.Reached, out.Mixed = got.Reached, got.Mixed
	return out, got.Open
}

// object is an error as answers of 1.0 give it.
func (f *Fault) object() map[string]any {
	e := map[string]any{}
	if f.Type != "" {
		e["type"] = f.Type
	}
	if n, err := strconv.Atoi(f.Status); err == nil {
		e["status"] = n
	}
	if f.Title != "" {
		e["title"] = f.Title
	}
	return e
}

// errorText is what is compared of the error of a failed instance: titles and details of errors that the
// runtime raises are its own affair.
func errorText(e map[string]any) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%v %v at %v", e["type"], e["status"], e["instance"])
}

func plain(v expr.Value) any {
	out, err := naive10.Decode(v.AppendJSON(nil))
	if err != nil {
		panic("sim: " + err.Error())
	}
	return out
}

func value(v any) expr.Value {
	out, err := expr.ParseJSON(naive10.Encode(v))
	if err != nil {
		panic("sim: " + err.Error())
	}
	return out
}
