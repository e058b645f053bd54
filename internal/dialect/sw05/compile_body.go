package sw05

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// eventState waits for events, then acts (0.5 §Event State).
//
// In the start state the events are there already, so there is no timeout, and
// a retry repeats the actions with the same events (0.5 §Defining Retries).
// Elsewhere the timeout skips the actions (0.5 §Event State: Timeout).
func (c *compiler) eventState(s *state, b *eventState, next ir.NodeID) ir.NodeID {
	at := placeOf(s)
	starts := s == c.w.start
	act := func(list ...*onEvents) ir.NodeID {
		first := next
		for _, o := range slices.Backward(list) {
			first = c.actions(at, o.actions, first)
		}
		if starts {
			first = c.Node(at, &ir.Eval{Checkpoint: true}, first)
		}
		return first
	}
	await := &ir.Await{Need: 1}
	if !starts {
		await.Timeout, await.OnTimeout = c.span(b.timeout), next
	}
	if b.exclusive {
		for _, o := range b.onEvents {
			await.Arms = c.arms(await.Arms, o, act(o), false)
		}
		return c.Node(at, await, next)
	}
	first := act(b.onEvents...)
	for _, o := range b.onEvents {
		await.Arms = c.arms(await.Arms, o, first, true)
	}
	await.Need = len(await.Arms)
	return c.Node(at, await, first)
}

// arms adds an arm for each event of an entry. An event that stands twice needs
// no second arm where one arrival serves both, or where the first entry takes it.
func (c *compiler) arms(arms []ir.Arm, o *onEvents, next ir.NodeID, all bool) []ir.Arm {
	for _, u := range o.events {
		arm := ir.Arm{Event: eventID(u), Put: merge(c.eventPick(o.filter)), Next: next}
		if slices.ContainsFunc(arms, func(a ir.Arm) bool {
			return a.Event == arm.Event && (!all || c.samePick(a.Put.Pick, arm.Put.Pick))
		}) {
			continue
		}
		arms = append(arms, arm)
	}
	return arms
}

// samePick reports whether two picks select the same, wherever they stand.
func (c *compiler) samePick(a, b ir.Pick) bool {
	same := c.Program.Exprs[a.Expr].Src == c.Program.Exprs[b.Expr].Src
	a.Expr, b.Expr = 0, 0
	return same && a == b
}

// callbackState runs its action, then waits for the event that its region
// listens to (0.5 §Callback State; semantics.md §Control flow).
func (c *compiler) callbackState(at ir.Place, b *callbackState, next ir.NodeID) ir.NodeID {
	wait := c.Node(at, &ir.Await{
		Need: 1, Timeout: c.span(b.timeout), OnTimeout: next,
		Arms: []ir.Arm{{Event: eventID(b.event), Listen: 1, Put: merge(c.eventPick(b.filter)), Next: next}},
	}, next)
	return c.action(at, b.action, wait)
}

// parallelState runs branches side by side and merges what they add (0.5
// §Parallel State; semantics.md §Control flow).
func (c *compiler) parallelState(at ir.Place, b *parallelState, next ir.NodeID) ir.NodeID {
	fan := &ir.Fan{Need: c.quantity(b.need), Join: ir.JoinMerge}
	for _, br := range b.branches {
		here := ir.Place{Name: br.name.Literal(), Pos: br.node.IRPos()}
		r := ir.Region{Name: here.Name, Collect: true}
		if br.states != nil {
			r.Entry = c.scope(here, br.states, nil)
		} else {
			r.Entry = c.work(here, br.actions, br.workflow)
		}
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: c.Region(r), Detached: br.detached})
	}
	return c.Node(at, fan, next)
}

// foreachState runs its body per item (0.5 §ForEach State).
func (c *compiler) foreachState(at ir.Place, b *foreachState, next ir.NodeID) ir.NodeID {
	fan := &ir.Fan{Join: ir.JoinDrop}
	if b.in != nil {
		fan.Each = c.eachBefore05(at, b)
	} else {
		body := c.Region(ir.Region{Name: at.Name, Entry: c.work(at, b.actions, b.workflow), Collect: true})
		fan.Each = &ir.Each{Over: c.path(b.over), Body: body, Var: b.variable.Text, Max: c.quantity(b.max)}
	}
	if b.keep {
		fan.Join, fan.Path = ir.JoinAppend, b.into
	}
	return c.Node(at, fan, next)
}

// work is what a branch or an iteration does; an empty one does nothing.
func (c *compiler) work(at ir.Place, a actions, workflow *dialect.Node) ir.NodeID {
	if workflow != nil {
		return c.spawn(at, workflow, true, 0)
	}
	return c.actions(at, a, 0)
}
