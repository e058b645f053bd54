package sw05

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// way compiles where a state goes on: guard, compensation, events, target. It
// returns 0, the end of the region, where a compensating state has no transition.
func (c *compiler) way(s *state, e exit) ir.NodeID {
	at := placeOf(s)
	switch {
	case e.transition != nil:
		t := e.transition
		next := c.produce(at, t.produce, c.entries[t.to.index])
		if t.compensate != nil {
			next = c.Node(at, &ir.Undo{}, next)
		}
		if t.expression != nil || t.test != nil {
			next = c.guard(at, s, t, next)
		}
		return next
	case e.end != nil:
		next := ir.NodeID(0)
		if s.scope.parent == nil || e.end.terminate { // else only the branch or the iteration is over
			next = c.Node(at, &ir.End{Terminate: e.end.terminate}, 0)
		}
		next = c.produce(at, e.end.produce, next)
		if e.end.compensate != nil {
			next = c.Node(at, &ir.Undo{}, next)
		}
		return next
	}
	return 0
}

// guard restricts a transition (0.5 §Restricting Transitions based on state output).
func (c *compiler) guard(at ir.Place, s *state, t *transition, next ir.NodeID) ir.NodeID {
	var pos ir.Pos
	var text string
	var when ir.ExprID
	if t.test != nil {
		pos, text, when = t.test.node.IRPos(), t.test.label, c.test(t.test)
	} else {
		pos, text, when = t.expression.node.IRPos(), fmt.Sprintf("{{ %s }}", t.expression.src), c.path(t.expression)
	}
	refused := c.Node(ir.Place{Name: at.Name, Pos: pos}, &ir.Raise{
		Error: restricted, Final: true,
		Detail: fmt.Sprintf("the transition from %q to %q is not allowed: %s is not satisfied by the state's output",
			s.nameText(), t.to.nameText(), text),
	}, 0)
	return c.Node(at, &ir.Branch{Cases: []ir.Case{{When: when, Next: next}}}, refused)
}

// restricted is the name of the fault of a guarded transition.
const restricted = "TransitionRestricted"

func (c *compiler) produce(at ir.Place, list []*produced, next ir.NodeID) ir.NodeID {
	for i := len(list) - 1; i >= 0; i-- {
		next = c.emit(at, *list[i], ir.Pick{}, next)
	}
	return next
}

// emit sends an event. What its data selects is keyed by the results rule; $
// alone is all of the data.
func (c *compiler) emit(at ir.Place, p produced, scope ir.Pick, next ir.NodeID) ir.NodeID {
	out := &ir.Emit{Event: sentID(p.event), Scope: scope, From: c.template(p.data), Attrs: c.template(p.attributes)}
	switch {
	case p.selects == nil:
	case p.selects.Root:
		out.From = c.path(p.selects)
	default:
		out.Pick = c.resultsPick(p.selects)
	}
	return c.Node(at, out, next)
}
