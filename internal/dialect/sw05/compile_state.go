package sw05

import "github.com/lockstep-workflows/lockstep/internal/ir"

// state fills a state's entry and everything behind it:
//
//	entry (input schema, input filter) → body → output filter → output schema → left → way out
//
// A state that can fail, be undone or wait for events has its body, output
// filter and output schema in a region of its own; the rest is in the frame
// around it, so that a handler begins with the filtered input and without the
// output filter (semantics.md §Data filters 12).
func (c *compiler) state(s *state) {
	at := placeOf(s)
	entry := c.checked(s.inputSchema)
	entry.Put = replace(c.statePick(s.input))
	first := ir.NodeID(0)
	if !s.region() {
		first = c.body(s, false)
	} else {
		r := ir.Region{Name: at.Name, Entry: c.body(s, true), Catch: c.catches(s), Undo: c.undoRegion(s.undoneBy)}
		if len(s.retries) > 0 {
			r.Catch = c.retries(s)
		}
		if b, ok := s.body.(*callbackState); ok {
			// The event may arrive before the action returns.
			r.Listen = []ir.EventID{eventID(b.event)}
		}
		next := ir.NodeID(0)
		if s.typ != typeSwitch { // a switch leaves by Out
			next = c.leave(s, s.exit)
		}
		if len(s.retries) > 0 && len(s.onErrors) > 0 { // what is not tried again is for the handlers
			r = ir.Region{Name: at.Name, Entry: c.Enter(at, r, 0), Catch: c.catches(s)}
		}
		first = c.Enter(at, r, next)
	}
	c.Fill(c.entries[s.index], entry, first)
}

// region reports whether a state's body needs a region. One that waits for events does: the
// correlation values that its expressions can see end with the region.
func (s *state) region() bool {
	if len(s.onErrors) > 0 || len(s.retries) > 0 || s.undoneBy != nil {
		return true
	}
	switch b := s.body.(type) {
	case *eventState, *callbackState:
		return true
	case *switchState:
		return b.onEvents
	case *operationState:
		for _, a := range b.actions.list {
			if a.trigger != nil {
				return true
			}
		}
	}
	return false
}

// body compiles the body of a state up to the end of its region or, if it has none, up to its
// way out.
func (c *compiler) body(s *state, inRegion bool) ir.NodeID {
	if b, ok := s.body.(*switchState); ok {
		return c.switchState(s, b, inRegion)
	}
	next := ir.NodeID(0)
	if !inRegion {
		next = c.leave(s, s.exit)
	}
	next = c.output(s, c.errorResults(s, next), 0)
	at := placeOf(s)
	switch b := s.body.(type) {
	case *eventState:
		return c.eventState(s, b, next)
	case *operationState:
		return c.actions(at, b.actions, next)
	case *delayState:
		return c.Node(at, &ir.Await{Timeout: c.span(b.delay), OnTimeout: next}, next)
	case *parallelState:
		return c.parallelState(at, b, next)
	case *subflowState:
		return c.spawn(at, b.workflow, b.wait, next)
	case *injectState:
		if b.data == nil || b.data.value.Len() == 0 {
			return next // nothing to merge, whatever the data is
		}
		return c.Node(at, &ir.Eval{From: c.template(b.data), Put: ir.Put{Mode: ir.PutMerge}}, next)
	case *foreachState:
		return c.foreachState(at, b, next)
	case *callbackState:
		return c.callbackState(at, b, next)
	}
	return next
}

// output compiles the output filter and the output schema, and returns next if there are
// neither. If out is not 0, the region ends there and the frame around it goes on at out.
func (c *compiler) output(s *state, next, out ir.NodeID) ir.NodeID {
	at := placeOf(s)
	var ops []ir.Op
	if put := replace(c.statePick(s.output)); put.Mode != ir.PutNone {
		ops = append(ops, &ir.Eval{Put: put})
	}
	if s.outputSchema != nil {
		ops = append(ops, c.checked(s.outputSchema))
	}
	if len(ops) == 0 && out != 0 {
		ops = append(ops, &ir.Eval{})
	}
	for i := len(ops) - 1; i >= 0; i-- {
		next = c.Node(at, ops[i], next)
		c.Program.Nodes[next].Out, out = out, 0
	}
	return next
}

// leave records that the state is complete and takes a way out.
func (c *compiler) leave(s *state, e exit) ir.NodeID {
	return c.Leave(placeOf(s), &ir.Eval{}, c.way(s, e))
}

// switchState compiles 0.5 §Switch State: every condition has its own output
// filter and way out.
func (c *compiler) switchState(s *state, b *switchState, inRegion bool) ir.NodeID {
	at := placeOf(s)
	exit := func(e exit) ir.NodeID {
		left := c.leave(s, e)
		if inRegion {
			return c.output(s, 0, left)
		}
		return c.output(s, left, 0)
	}
	otherwise := exit(b.otherwise)
	if b.onEvents {
		await := &ir.Await{Need: 1, Timeout: c.span(b.timeout), OnTimeout: otherwise}
		for _, k := range b.conditions {
			await.Arms = append(await.Arms, ir.Arm{Event: eventID(k.event), Put: merge(c.eventPick(k.filter)), Next: exit(k.exit)})
		}
		return c.Node(at, await, otherwise)
	}
	branch := &ir.Branch{}
	for _, k := range b.conditions {
		branch.Cases = append(branch.Cases, ir.Case{When: c.when(k), Next: exit(k.exit)})
	}
	return c.Node(at, branch, otherwise)
}

// catches compiles the error definitions of a state. Their ways out are in the frame around
// its region.
func (c *compiler) catches(s *state) []ir.Catch {
	var out []ir.Catch
	for _, e := range s.onErrors {
		if e.test != nil {
			out = append(out, c.handler(s, e))
			continue
		}
		k := ir.Catch{Error: e.error.Text, Code: e.code.Literal(), Next: c.way(s, e.exit)}
		if k.Error == "*" {
			k.Error, k.Code = "", ""
			k.Any = true
		}
		if r := e.retry; r != nil {
			k.Retry = &ir.Retry{
				Name: r.name.Text, Delay: c.span(r.delay), Add: c.span(r.multiplier), Max: r.maxAttempts,
				JitterMillis: r.jitterMillis, JitterAtMost: c.span(r.jitterAtMost),
			}
		}
		out = append(out, k)
	}
	return out
}

// undoRegion returns the region of a compensating state and the states it goes on to. States
// with the same compensator share the region.
func (c *compiler) undoRegion(s *state) ir.RegionID {
	if s == nil {
		return 0
	}
	id, ok := c.undo[s]
	if !ok {
		id = c.Region(ir.Region{Name: s.nameText(), Entry: c.entries[s.index]})
		c.undo[s] = id
	}
	return id
}
