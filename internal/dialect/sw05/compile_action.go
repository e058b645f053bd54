package sw05

import (
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// actions runs actions one after the other, or side by side.
func (c *compiler) actions(at place, a actions, next ir.NodeID) ir.NodeID {
	if !a.parallel || len(a.list) < 2 {
		for i := len(a.list) - 1; i >= 0; i-- {
			next = c.action(at, a.list[i], next)
		}
		return next
	}
	fan := &ir.Fan{Join: ir.JoinMerge}
	for _, one := range a.list {
		r := c.actionRegion(at, one)
		r.Collect = true
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: c.region(r)})
	}
	return c.node(at, fan, next)
}

// actionName is what people know an action by.
func actionName(at place, a *action) string {
	switch {
	case text(a.name) != "":
		return a.name.Text
	case a.call != nil:
		return a.call.refName.Text
	case a.trigger != nil:
		return text(a.trigger.produce.event.node)
	}
	return at.name
}

// action compiles one action (003 §Action Definition). A timeout makes it a
// region, whose fault the state's onErrors can handle.
func (c *compiler) action(at place, a *action, next ir.NodeID) ir.NodeID {
	here := actionPlace(at, a)
	if a.timeout == nil {
		return c.invoke(here, a, next)
	}
	return c.node(here, &ir.Enter{Region: c.region(c.actionRegion(at, a))}, next)
}

// actionRegion is an action as a region of its own, with its timeout.
func (c *compiler) actionRegion(at place, a *action) ir.Region {
	return ir.Region{Name: actionName(at, a), Entry: c.invoke(actionPlace(at, a), a, 0), Timeout: c.span(a.timeout)}
}

// actionPlace is an action's own name and place; one without a name goes by what
// it belongs to.
func actionPlace(at place, a *action) place {
	if text(a.name) != "" {
		at.name = a.name.Text
	}
	return place{at.name, posOf(a.node)}
}

func (c *compiler) invoke(at place, a *action, next ir.NodeID) ir.NodeID {
	scope := c.statePick(a.input)
	if a.call != nil {
		return c.node(at, &ir.Call{
			Function: c.function(a.call), Scope: scope, Args: c.template(a.call.parameters), Result: merge(c.resultsPick(a.results)),
		}, next)
	}
	wait := c.node(at, &ir.Await{Need: 1, Arms: []ir.Arm{
		{Event: eventID(a.trigger.result), Put: merge(c.eventPick(a.results)), Next: next},
	}}, next)
	return c.emit(at, a.trigger.produce, scope, wait)
}

// spawn starts another workflow; what it gives is merged where it is waited for.
func (c *compiler) spawn(at place, workflow *dialect.Node, wait bool, next ir.NodeID) ir.NodeID {
	at.pos = posOf(workflow) // what is not there, or fails, is told where it is named
	op := &ir.Spawn{Workflow: workflow.Text, Wait: wait}
	if wait {
		op.Result = merge(ir.Pick{})
	}
	return c.node(at, op, next)
}
