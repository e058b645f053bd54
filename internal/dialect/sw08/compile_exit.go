package sw08

import (
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// way compiles where a state goes on: compensation, events, target (0.8 §Triggering Compensation). It returns
// 0, the end of the region, where a compensating state goes nowhere.
func (c *compiler) way(s *state, e exit) ir.NodeID {
	at := placeOf(s)
	switch {
	case e.transition != nil:
		t := e.transition
		next := c.entries[t.to.index]
		if !s.compensation { // a compensation that began is finished
			next = c.onward(at, next)
		}
		return c.passing(at, s.ref, t.produce, t.compensate != nil, next)
	case e.end != nil && s.compensation: // 0.8 §Defining Compensation: it is ignored
		return c.passing(at, s.ref, e.end.produce, false, 0)
	case e.end != nil:
		next := c.ended(at, e.end)
		if k := e.end.continueAs; k != nil {
			next = c.continued(at, k)
		}
		return c.passing(at, s.ref, e.end.produce, e.end.compensate != nil, next)
	}
	return 0
}

// passing is what happens between a state and where it leads to.
func (c *compiler) passing(at ir.Place, ref string, events []*produced, compensate bool, next ir.NodeID) ir.NodeID {
	for i := len(events) - 1; i >= 0; i-- {
		next = c.emit(at, ref, events[i], nil, next)
	}
	if compensate {
		next = c.Node(at, &ir.Undo{}, next)
	}
	return next
}

// ended completes the instance, or with keepActive leaves it waiting (0.8 §End Definition).
//
// Under a timeout that interrupts, the states are in a region, and the end is that of the workflow itself, which
// waits for calls that nothing else waits for.
func (c *compiler) ended(at ir.Place, e *end) ir.NodeID {
	switch {
	case e.terminate:
		// 0.6 §End Definition: it ends the workflow that waits for this one as well.
		return c.Node(at, &ir.End{Terminate: true, Own: c.w.form != form06}, 0)
	case c.w.keepActive:
		return c.onward(at, c.unlessPast(at, c.kept(at)))
	}
	return c.onward(at, c.complete(at))
}

// complete ends the flow.
func (c *compiler) complete(at ir.Place) ir.NodeID {
	if c.w.timeouts.workflow == nil {
		return c.Node(at, &ir.End{}, 0)
	}
	return c.Node(at, &ir.Eval{}, 0)
}

// unlessPast completes the instance behind the timeout of the workflow, and goes on at next before.
func (c *compiler) unlessPast(at ir.Place, next ir.NodeID) ir.NodeID {
	if c.w.timeouts.workflow == nil {
		return next
	}
	past := ir.Case{When: c.jq("$context."+contextPast+" == true", at.Pos), Next: c.complete(at)}
	return c.Node(at, &ir.Branch{Cases: []ir.Case{past}}, next)
}

// kept keeps the instance active: its first state waits for further events (docs/semantics.md), any other
// instance for its timeout, or to be ended from outside.
func (c *compiler) kept(at ir.Place) ir.NodeID {
	if _, ok := c.w.start.body.(*eventState); ok {
		return c.entries[c.w.start.index]
	}
	wait := &ir.Await{Timeout: c.remaining()}
	if wait.Timeout.Set {
		wait.OnTimeout = c.expired
	}
	next := c.Node(at, wait, 0)
	if c.w.timeouts.workflow == nil {
		return next
	}
	return c.Node(at, c.note("{"+contextData+": .}", at), next)
}

// continued starts the workflow that goes on for this one, and ends (0.8 §Continuing as a new Execution).
func (c *compiler) continued(at ir.Place, k *continueAs) ir.NodeID {
	at.Pos = k.workflow.IRPos()
	spawn := c.Node(at, &ir.Spawn{
		Workflow: k.workflow.Text, Version: k.version.Literal(), Continue: true, From: c.expr(k.data),
		Result: ir.Put{Mode: ir.PutReplace},
	}, c.complete(at))
	if t := c.w.timeouts.workflow; t == nil || !t.interrupt {
		return spawn
	}
	// The timeout of this workflow is not that of the one that goes on: leave its regions, unless it is over.
	out := c.Out(at, &ir.Eval{}, c.Out(at, &ir.Eval{}, spawn))
	past := ir.Case{When: c.jq("$context."+contextPast+" == true", at.Pos), Next: spawn}
	return c.Node(at, &ir.Branch{Cases: []ir.Case{past}}, out)
}

// emit sends an event (0.8 §ProducedEvent Definition). from filters the data that its expressions see.
func (c *compiler) emit(at ir.Place, ref string, p *produced, from *expression, next ir.NodeID) ir.NodeID {
	out := &ir.Emit{Event: p.event.def.producedID, Scope: ir.Pick{Expr: c.expr(from)}, Attrs: c.expr(p.attributes)}
	if p.data != nil && p.data.lang == jq.SelectLang {
		out.Pick = ir.Pick{Expr: c.expr(p.data)}
	} else {
		out.From = c.expr(p.data)
	}
	return c.at(c.Node(at, out, next), ref)
}
