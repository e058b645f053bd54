package core

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// await opens the arms of an Await, and takes at once what is there already: the
// events the instance was started by, and those its region has heard.
func (m *machine) await(f *frame, n *ir.Node, op *ir.Await) {
	f.phase, f.taken = phaseWait, nil
	var open []int32
	for i := range op.Arms {
		if v, ok := m.ready(f, &op.Arms[i]); !ok {
			open = append(open, int32(i))
		} else if m.consume(f, n, int32(i), v); len(f.taken) == op.Need {
			break
		}
	}
	m.unstash(op, f.taken)
	if len(op.Arms) > 0 && len(f.taken) == op.Need {
		m.satisfied(f, n, op)
		return
	}
	if op.Timeout.Set {
		at, fault := m.after(f, op.Timeout)
		if fault != nil {
			m.raise(f, fault)
			return
		}
		m.timer(f, WaitTimer, at)
	}
	for _, i := range open {
		arm := &op.Arms[i]
		switch {
		case arm.Offer != nil:
			m.command(Offers{Ticket: f.open(WaitOffer, i, 0), Offers: []ir.Offer{*arm.Offer}})
		case arm.Listen == 0:
			m.subscribe(f, f.open(WaitEvent, i, 0), arm.Event)
		default:
			m.listenAnew(f, int32(arm.Listen-1))
		}
	}
	m.record(Record{Type: RecWaiting, Frame: f.id, Node: n.Name, Pos: n.Pos, Text: m.awaited(op)})
}

// listenAnew asks again for what the region listens to: the data by which the
// event must belong may have changed since the region began.
func (m *machine) listenAnew(f *frame, listen int32) {
	id := m.p.Regions[f.region].Listen[listen]
	for _, w := range f.waits {
		if w.kind == WaitListen && w.arm == listen {
			m.narrow(f, w, id)
			return
		}
	}
	m.subscribe(f, f.open(WaitListen, listen, 0), id)
}

func (m *machine) awaited(op *ir.Await) string {
	names := make([]string, 0, len(op.Arms))
	for _, a := range op.Arms {
		if a.Offer != nil {
			names = append(names, a.Offer.Actor+":"+a.Offer.Choice)
		} else {
			names = append(names, m.p.Events[a.Event].Name)
		}
	}
	return strings.Join(names, ", ")
}

// ready finds an event for an arm among those that arrived before it was opened. An event that no
// longer matches the correlation belongs to another instance.
func (m *machine) ready(f *frame, arm *ir.Arm) (expr.Value, bool) {
	switch {
	case arm.Offer != nil:
	case arm.Listen > 0:
		listen := int32(arm.Listen - 1)
		ev := &m.p.Events[m.p.Regions[f.region].Listen[listen]]
		for i := 0; i < len(f.heard); {
			h := f.heard[i]
			if h.index != listen {
				i++
				continue
			}
			f.heard = slices.Delete(f.heard, i, i+1)
			if m.meets(f, ev, h.event) {
				return h.event, true
			}
		}
	default:
		if i := m.stashed(arm.Event); i >= 0 {
			return m.s.stash[i].Value, true
		}
	}
	return expr.Null, false
}

func (m *machine) stashed(id ir.EventID) int {
	return slices.IndexFunc(m.s.stash, func(a Arrival) bool { return a.Event == id })
}

// unstash forgets the start events that arms have taken; one serves every arm of
// the Await that wants it.
func (m *machine) unstash(op *ir.Await, taken []heard) {
	for _, t := range taken {
		if arm := &op.Arms[t.index]; arm.Offer == nil && arm.Listen == 0 {
			if i := m.stashed(arm.Event); i >= 0 {
				m.s.stash = slices.Delete(slices.Clone(m.s.stash), i, i+1)
			}
		}
	}
}

// arrived takes an event for an open arm or a subscription of the region.
func (m *machine) arrived(f *frame, w wait, in Reply) {
	n := &m.p.Nodes[f.node]
	op, awaiting := n.Op.(*ir.Await)
	arm := w.arm
	if w.kind == WaitListen {
		arm = -1
		if awaiting && f.phase == phaseWait && !f.backingOff() {
			arm = int32(slices.IndexFunc(op.Arms, func(a ir.Arm) bool { return a.Listen == int(w.arm)+1 }))
		}
		if arm < 0 { // nobody waits for it yet
			f.heard, f.dirty = append(f.heard, heard{w.arm, in.Value}), true
			return
		}
	} else if !awaiting {
		m.breakf("frame %d waits for an event at a node that awaits none", f.id)
		return
	}
	m.consume(f, n, arm, in.Value)
	if len(f.taken) == op.Need {
		m.satisfied(f, n, op)
	}
}

// consume takes an event for an arm and fixes its correlation attributes.
func (m *machine) consume(f *frame, n *ir.Node, arm int32, event expr.Value) {
	op := n.Op.(*ir.Await)
	f.taken, f.dirty = append(f.taken, heard{arm, event}), true
	def := &m.p.Events[op.Arms[arm].Event]
	m.record(Record{Type: RecConsumed, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: def.Name, Data: event, HasData: true})
	fixed := false
	for _, c := range def.Correlate {
		if v, ok := event.Get(c.Attribute); ok {
			fixed = m.s.fix(c.Attribute, v.Text()) || fixed
		}
	}
	if fixed {
		m.resubscribe()
	}
}

// satisfied goes on after an Await that has what it needs: all values are put in
// the order of the arms (semantics.md §Data filters 11).
func (m *machine) satisfied(f *frame, n *ir.Node, op *ir.Await) {
	m.closeWaits(f, func(w wait) bool { return w.kind == WaitEvent || w.kind == WaitTimer || w.kind == WaitOffer })
	taken := f.taken
	f.taken = nil
	slices.SortStableFunc(taken, func(a, b heard) int { return int(a.index - b.index) })
	lend := expr.EmptyObject
	for _, t := range taken {
		arm := &op.Arms[t.index]
		if fault := m.put(f, n, &arm.Put, t.event, arm.Offer == nil); fault != nil {
			m.raise(f, fault)
			return
		}
		if arm.Offer == nil {
			for _, c := range m.p.Events[arm.Event].Correlate {
				if v, ok := t.event.Get(c.Attribute); ok {
					lend = lend.With(c.Attribute, v)
				}
			}
		}
	}
	if lend.Len() > 0 {
		f.under = m.overlay(lend, f.under)
	}
	if op.Need == 1 {
		m.goTo(f, op.Arms[taken[0].index].Next)
		return
	}
	m.advance(f, n)
}

func (m *machine) awaitTimedOut(f *frame) {
	n := &m.p.Nodes[f.node]
	op, ok := n.Op.(*ir.Await)
	if !ok {
		m.breakf("frame %d has a timer at a node that awaits nothing", f.id)
		return
	}
	if len(op.Arms) > 0 {
		m.record(Record{Type: RecTimedOut, Frame: f.id, Node: n.Name, Pos: n.Pos, Text: m.awaited(op)})
	}
	m.closeWaits(f, func(w wait) bool { return w.kind == WaitEvent || w.kind == WaitOffer })
	f.taken = nil
	m.goTo(f, op.OnTimeout)
}

// closeWaits cancels the open tickets that sel names.
func (m *machine) closeWaits(f *frame, sel func(wait) bool) {
	kept := f.waits[:0]
	for _, w := range f.waits {
		if !sel(w) {
			kept = append(kept, w)
			continue
		}
		if !w.timer() {
			m.command(Cancel{Ticket: ticket(f.id, w.n), Kind: w.kind})
		}
	}
	f.waits, f.dirty = kept, true
}

// subscribe asks for an event with the correlation that holds now.
func (m *machine) subscribe(f *frame, t Ticket, id ir.EventID) {
	ev := &m.p.Events[id]
	m.command(Subscribe{Ticket: t, Event: id, Name: ev.Name, Keys: m.keysOf(ev, m.scope(f))})
}

// keysOf are the attributes an event must have: the given value, or the one that
// an earlier event fixed (semantics.md §Functions, events, errors: Correlation).
func (m *machine) keysOf(ev *ir.Event, sees expr.Scope) []Key {
	var keys []Key
	for _, c := range ev.Correlate {
		if c.Select != 0 {
			continue // for the instance alone
		}
		k := Key{Name: c.Attribute}
		if c.Value != 0 {
			r, fault := m.eval(c.Value, sees)
			if k.Void = fault != nil || r.Missing || r.Value.IsNull(); !k.Void {
				k.Value, k.Fixed = r.Value.Text(), true
			}
		} else if m.s != nil {
			k.Value, k.Fixed = m.s.fixed(c.Attribute)
		}
		keys = append(keys, k)
	}
	return keys
}

// belongs checks an event again against what has been fixed since it was matched.
func (m *machine) belongs(f *frame, w wait, event expr.Value) bool {
	var ev *ir.Event
	if w.kind == WaitListen {
		ev = &m.p.Events[m.p.Regions[f.region].Listen[w.arm]]
	} else if op, ok := m.p.Nodes[f.node].Op.(*ir.Await); ok {
		ev = &m.p.Events[op.Arms[w.arm].Event]
	} else {
		return true // arrived reports the broken invariant
	}
	return m.meets(f, ev, event)
}

// meets says whether an event has the attributes that frame f wants by now.
func (m *machine) meets(f *frame, ev *ir.Event, event expr.Value) bool {
	for _, k := range m.keysOf(ev, m.scope(f)) {
		if v, ok := event.Get(k.Name); k.Void || k.Fixed && (!ok || v.Text() != k.Value) {
			return false
		}
	}
	return true
}

// resubscribe narrows the open subscriptions after an attribute became fixed.
func (m *machine) resubscribe() {
	for _, f := range m.s.frames {
		for _, w := range f.waits {
			switch w.kind {
			case WaitEvent:
				if op, ok := m.p.Nodes[f.node].Op.(*ir.Await); ok {
					m.narrow(f, w, op.Arms[w.arm].Event)
				}
			case WaitListen:
				m.narrow(f, w, m.p.Regions[f.region].Listen[w.arm])
			}
		}
	}
}

func (m *machine) narrow(f *frame, w wait, id ir.EventID) {
	if len(m.p.Events[id].Correlate) > 0 {
		m.subscribe(f, ticket(f.id, w.n), id)
	}
}

// listening reports whether the region's i-th subscription is open or answered.
func (m *machine) listening(f *frame, i int32) bool {
	return slices.ContainsFunc(f.waits, func(w wait) bool { return w.kind == WaitListen && w.arm == i }) ||
		slices.ContainsFunc(f.heard, func(h heard) bool { return h.index == i })
}

// fix remembers the value of a correlation attribute. It reports whether that is new.
func (s *State) fix(name, value string) bool {
	i, ok := slices.BinarySearchFunc(s.keys, name, func(k Key, n string) int { return strings.Compare(k.Name, n) })
	if ok {
		return false
	}
	s.keys = slices.Insert(s.keys, i, Key{Name: name, Value: value, Fixed: true})
	return true
}

func (s *State) fixed(name string) (string, bool) {
	for _, k := range s.keys {
		if k.Name == name {
			return k.Value, true
		}
	}
	return "", false
}

// StartKeys are the attributes that an event must have to start an instance that
// gets the given input.
func (p *Program) StartKeys(id ir.EventID, input expr.Value) []Key {
	m := machine{p: p}
	return m.keysOf(&p.Events[id], expr.Scope{Data: input})
}

// backingOff reports whether the region waits for its next attempt: it stands at the
// node that failed, but is not there.
func (f *frame) backingOff() bool {
	return slices.ContainsFunc(f.waits, func(w wait) bool { return w.kind == WaitRetry })
}
