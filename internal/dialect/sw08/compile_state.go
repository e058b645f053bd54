package sw08

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// state fills a state's entry and everything behind it:
//
//	entry (input filter) → body → output filter → left → way out
//
// A state that can fail, time out, be undone or wait for events has its body and output filter in a region of
// its own; the rest is in the frame around it, so that a handler begins with the filtered input and without
// the output filter (docs/semantics.md).
//
// stateExecTimeout ends all attempts, and is handled but not retried: so it bounds a region inside of the one
// whose handlers take it, and only the inner one retries.
func (c *compiler) state(s *state) {
	at := placeOf(s)
	k := &stateCompiler{compiler: c, s: s, at: at, limit: s.timeouts}
	first := ir.NodeID(0)
	if !s.region() {
		first = k.body(func(e exit) ir.NodeID { return k.output(k.leave(e), 0) })
	} else {
		first = k.regions()
		if !k.starts() {
			first = k.noted(first)
		}
	}
	input := &ir.Eval{Put: replaced(c.expr(s.input))}
	if c.w.timeouts.workflow == nil {
		c.Fill(c.entries[s.index], input, first)
		return
	}
	if input.Put.Mode != ir.PutNone {
		first = c.at(c.Node(at, input, first), s.ref)
	}
	c.Fill(c.entries[s.index], c.note("{"+contextData+": .}", at), first)
}

// stateCompiler compiles one state.
type stateCompiler struct {
	*compiler
	s     *state
	at    ir.Place
	limit timeouts   // of actions: those of the state, or of the branch that is compiled
	jumps []ir.Catch // of what handlers of actions lead to
}

// node adds a node of the state.
func (k *stateCompiler) node(op ir.Op, next ir.NodeID) ir.NodeID {
	return k.compiler.at(k.Node(k.at, op, next), k.s.ref)
}

// replaced makes what an expression selects the data; without one nothing happens.
func replaced(e ir.ExprID) ir.Put {
	if e == 0 {
		return ir.Put{}
	}
	return ir.Put{Pick: ir.Pick{Expr: e}, Mode: ir.PutReplace, Warn: true}
}

// region reports whether a state's body needs a region. One that waits for events does: the
// correlation values that its expressions can see end with the region.
func (s *state) region() bool {
	if len(s.onErrors) > 0 || len(s.handlers) > 0 || s.undoneBy != nil || s.timeouts.state != nil {
		return true
	}
	switch b := s.body.(type) {
	case *eventState, *callbackState:
		return true
	case *switchState:
		return b.onEvents
	case *subflowState:
		return b.repeat != nil
	}
	for _, a := range s.actions() {
		if a.trigger != nil || a.subscribe != nil {
			return true
		}
		for _, h := range a.handlers {
			if h.then.leaves() {
				return true
			}
		}
	}
	return false
}

// regions compiles the body into its regions, and what follows them.
func (k *stateCompiler) regions() ir.NodeID {
	s := k.s
	total := k.totalTimeout()
	depth := 1
	if total.Set {
		depth = 2
	}
	_, switches := s.body.(*switchState)
	entry := k.body(func(e exit) ir.NodeID {
		if !switches {
			return k.output(0, 0)
		}
		return k.output(0, k.outward(depth-1, k.leave(e))) // each condition leaves by a way of its own
	})
	r := ir.Region{Name: k.at.Name, Ref: s.ref, Entry: entry, Catch: k.catches(true)}
	if b, ok := s.body.(*callbackState); ok {
		// The event may arrive before the action returns.
		r.Listen = []ir.EventID{b.event.def.consumedID}
	}
	if b, ok := s.body.(*subflowState); ok && b.repeat != nil {
		for _, u := range b.repeat.stop {
			r.Listen = append(r.Listen, u.def.consumedID)
		}
	}
	next := ir.NodeID(0)
	if !switches {
		next = k.leave(s.exit)
	}
	if total.Set {
		for i := range r.Catch {
			r.Catch[i].Next = 0 // the region around handles it
		}
		r.Total = total
		r = ir.Region{Name: k.at.Name, Entry: k.compiler.at(k.Enter(k.at, r, 0), s.ref), Catch: k.catches(false)}
	}
	r.Undo = k.undoRegion(s.undoneBy)
	return k.compiler.at(k.Enter(k.at, r, next), s.ref)
}

// outward is how a node leads out of so many regions more.
func (k *stateCompiler) outward(regions int, to ir.NodeID) ir.NodeID {
	for range regions {
		to = k.Out(k.at, &ir.Eval{}, to)
	}
	return to
}

// body compiles the body of a state. done gives what follows it on a way out: the output filter and more.
func (k *stateCompiler) body(done func(exit) ir.NodeID) ir.NodeID {
	s := k.s
	if b, ok := s.body.(*switchState); ok {
		return k.switchState(b, done)
	}
	next := done(s.exit)
	switch b := s.body.(type) {
	case *eventState:
		return k.eventState(b, next)
	case *operationState:
		return k.actions(k.at, b.actions, next)
	case *sleepState:
		if next == 0 { // a wait goes on at a node
			next = k.node(&ir.Eval{}, 0)
		}
		return k.node(&ir.Await{Timeout: k.span(b.duration), OnTimeout: next}, next)
	case *parallelState:
		return k.parallelState(b, next)
	case *subflowState:
		return k.subflowState(b, next)
	case *injectState:
		if b.data == nil || b.data.value.Len() == 0 {
			return next // nothing to merge, whatever the data is
		}
		return k.node(&ir.Eval{From: k.expr(b.data), Put: ir.Put{Mode: ir.PutMerge}}, next)
	case *foreachState:
		return k.foreachState(b, next)
	case *callbackState:
		return k.callbackState(b, next)
	}
	return next
}

// output compiles the output filter, and returns next if there is none. If out is not 0, the region ends there
// and the frame around it goes on at out.
func (k *stateCompiler) output(next, out ir.NodeID) ir.NodeID {
	put := replaced(k.expr(k.s.output))
	if put.Mode == ir.PutNone && out == 0 {
		return next
	}
	id := k.node(&ir.Eval{Put: put}, next)
	k.Program.Nodes[id].Out = out
	return id
}

// leave records that the state is complete and takes a way out.
func (k *stateCompiler) leave(e exit) ir.NodeID {
	return k.Leave(k.at, &ir.Eval{}, k.way(k.s, e))
}

// faultNoMatch is the name of the fault of a switch without a default where no condition holds.
const faultNoMatch = "NoMatch"

// switchState compiles 0.8 §Switch State: every condition has its own output filter and way out.
func (k *stateCompiler) switchState(b *switchState, done func(exit) ir.NodeID) ir.NodeID {
	otherwise := ir.NodeID(0)
	if b.hasDefault {
		otherwise = done(b.otherwise)
	} else {
		otherwise = k.node(&ir.Raise{
			Error: faultNoMatch, Detail: fmt.Sprintf("no condition of %s holds, and it has no default", k.s.title()),
		}, 0)
	}
	if b.onEvents {
		await := &ir.Await{Need: 1, Timeout: k.span(k.s.timeouts.event), OnTimeout: otherwise}
		for _, one := range b.conditions {
			await.Arms = append(await.Arms, ir.Arm{Event: one.event.def.consumedID, Put: k.eventPut(one.event.def, one.filter), Next: done(one.exit)})
		}
		return k.node(await, otherwise)
	}
	branch := &ir.Branch{}
	for _, one := range b.conditions {
		branch.Cases = append(branch.Cases, ir.Case{When: k.expr(one.when), Next: done(one.exit)})
	}
	return k.node(branch, otherwise)
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
