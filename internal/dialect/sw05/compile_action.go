package sw05

import (
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// actions runs actions one after the other, or side by side.
func (c *compiler) actions(at ir.Place, a actions, next ir.NodeID) ir.NodeID {
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
		fan.Branches = append(fan.Branches, c.Branch(r))
	}
	return c.Node(at, fan, next)
}

// actionName is what people know an action by.
func actionName(at ir.Place, a *action) string {
	switch {
	case a.name.Literal() != "":
		return a.name.Text
	case a.call != nil:
		return a.call.refName.Text
	case a.trigger != nil:
		return a.trigger.produce.event.node.Literal()
	}
	return at.Name
}

// action compiles one action (0.5 §Action Definition). A timeout makes it a
// region, whose fault the state's onErrors can handle.
func (c *compiler) action(at ir.Place, a *action, next ir.NodeID) ir.NodeID {
	here := actionPlace(at, a)
	if a.timeout == nil {
		return c.invoke(here, a, next)
	}
	return c.Node(here, &ir.Enter{Region: c.Region(c.actionRegion(at, a))}, next)
}

// actionRegion is an action as a region of its own, with its timeout.
func (c *compiler) actionRegion(at ir.Place, a *action) ir.Region {
	return ir.Region{Name: actionName(at, a), Entry: c.invoke(actionPlace(at, a), a, 0), Timeout: c.span(a.timeout)}
}

// actionPlace is an action's own name and place; one without a name goes by what
// it belongs to.
func actionPlace(at ir.Place, a *action) ir.Place {
	if a.name.Literal() != "" {
		at.Name = a.name.Text
	}
	return ir.Place{Name: at.Name, Pos: a.node.IRPos()}
}

func (c *compiler) invoke(at ir.Place, a *action, next ir.NodeID) ir.NodeID {
	scope := c.statePick(a.input)
	if a.call != nil {
		return c.Node(at, &ir.Call{
			Function: c.function(a.call), Scope: scope, Args: c.template(a.call.parameters), Result: merge(c.resultsPick(a.results)),
		}, next)
	}
	wait := c.Node(at, &ir.Await{Need: 1, Arms: []ir.Arm{
		{Event: eventID(a.trigger.result), Put: merge(c.eventPick(a.results)), Next: next},
	}}, next)
	return c.emit(at, a.trigger.produce, scope, wait)
}

// spawn starts another workflow; what it gives is merged where it is waited for.
func (c *compiler) spawn(at ir.Place, workflow *dialect.Node, wait bool, next ir.NodeID) ir.NodeID {
	at.Pos = workflow.IRPos() // what is not there, or fails, is told where it is named
	op := &ir.Spawn{Workflow: workflow.Text, Wait: wait}
	if wait {
		op.Result = merge(ir.Pick{})
	}
	return c.Node(at, op, next)
}
