package core

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Items that fail. The first failing item of a foreach fails the state at once where something in the
// definition handles that. Otherwise the instance is going to fail, and a person decides: the other
// items run to their end first, so that one list has all that is wrong and a retry calls only those
// (semantics.md §Control flow: ForEach).

// Item is the element of a foreach that a fault arose in.
type Item struct {
	Index int        `json:"index"` // from 0
	Value expr.Value `json:"value,omitzero"`
	Cut   bool       `json:"cut,omitempty"` // Value is the beginning of its text: see [MaxItemValue]
}

// MaxItemValue bounds the value of an item that a fault names ("item-value").
const MaxItemValue = 256

// maxItemFault bounds each value of the fault that a failed item keeps ("item-fault"): there may be as
// many as items fail and are in flight.
const maxItemFault = 2 << 10

// itemOf is the innermost item that frame f works for, nil if it works for none.
func (m *machine) itemOf(f *frame) *Item {
	for ; f != nil && f.kind != kindRoot && f.kind != kindDetached; f = m.s.frame(f.parent) {
		if f.kind != kindBranch || f.slot < 0 {
			continue
		}
		parent := m.s.frame(f.parent)
		op, ok := m.p.Nodes[parent.node].Op.(*ir.Fan)
		if !ok || op.Each == nil || parent.fan == nil {
			continue
		}
		var v expr.Value
		switch each := op.Each; {
		case each.Carry && int(f.slot) < len(parent.fan.items):
			v = parent.fan.items[f.slot]
		case len(each.In) > 0:
			v, _ = f.input.Lookup(each.In...)
		default:
			v, _ = f.input.Get(each.Var)
		}
		if m.host.Sealer != nil {
			v = m.host.Sealer.Redact(v)
		}
		item := &Item{Index: int(f.slot)}
		item.Value, item.Cut = shorten(v, MaxItemValue)
		return item
	}
	return nil
}

// indexOf is the index of the innermost item that frame f works for, -1 if it works for none.
func (m *machine) indexOf(f *frame) int {
	for ; f.inner; f = m.s.frame(f.parent) {
		if f.kind != kindBranch || f.slot < 0 {
			continue
		}
		if op, ok := m.p.Nodes[m.s.frame(f.parent).node].Op.(*ir.Fan); ok && op.Each != nil {
			return int(f.slot)
		}
	}
	return -1
}

// inItem is a fault that says in which item of a foreach frame f got it.
func (m *machine) inItem(f *frame, fault *Fault) *Fault {
	item := m.itemOf(f)
	if fault == nil || item == nil && fault.Item == nil {
		return fault
	}
	out := *fault
	out.Item = item
	return &out
}

// topEach reports whether frame f runs a foreach that is part of no other one, and of no branch.
func (m *machine) topEach(f *frame) bool {
	op, ok := m.p.Nodes[f.node].Op.(*ir.Fan)
	if !ok || op.Each == nil || f.fan == nil {
		return false
	}
	for ; f != nil && f.kind == kindEnter; f = m.s.frame(f.parent) {
	}
	return f != nil && f.kind == kindRoot
}

// holdItem takes a fault of an item that nothing handles: the item is over, and the others go on.
// It reports false where the foreach fails at once.
func (m *machine) holdItem(f, item *frame, fault *Fault) bool {
	if !m.topEach(f) || item.slot < 0 {
		return false
	}
	m.failing = &failing{f.fan, item.slot, fault}
	n := &m.p.Nodes[f.node]
	op := n.Op.(*ir.Fan)
	// A later item must not begin before the one before it is done.
	if fault.Final || op.Join == ir.JoinLast || f.fan.limit == 1 || m.mayHandle(f, fault) {
		return false
	}
	m.failing = nil
	m.record(Record{Type: RecItemFailed, Frame: f.id, Node: n.Name, Pos: n.Pos, Fault: fault})
	m.cut(item)
	f.fan.live--
	f.dirty = true
	m.s.steps = 0
	f.fan.fail(item.slot, fault.shortened(maxItemFault, m.host.Sealer))
	if !f.fan.launching {
		m.launch(f, n, op)
	}
	return true
}

// failing is the item that a fault climbed from last.
type failing struct {
	fan   *fan
	slot  int32
	fault *Fault
}

// mayHandle reports whether a handler of frame f or of those around it may take a fault.
func (m *machine) mayHandle(f *frame, fault *Fault) bool {
	for ; f != nil && f.kind != kindRoot && f.kind != kindDetached; f = m.s.frame(f.parent) {
		i, instead := m.catchFor(f, fault)
		if instead != nil {
			return true
		}
		if i < 0 {
			continue
		}
		c := &m.p.Regions[f.region].Catch[i]
		if c.Next != 0 || c.Retry != nil && (c.Retry.Always || f.attempts == nil && c.Retry.Max > 0 || f.attempts != nil && int(f.attempts[i]) < c.Retry.Max) {
			return true
		}
	}
	return false
}

// fail notes that an item failed; without a fault it was cancelled when another one did.
func (x *fan) fail(slot int32, fault *Fault) {
	if x.results == nil {
		x.results = make([]result, x.total)
	}
	x.results[slot] = result{failed: true, fault: fault, stored: x.results[slot].stored}
	x.held++
	x.dirty = append(x.dirty, slot)
	i, _ := slices.BinarySearch(x.bad, slot)
	x.bad = slices.Insert(x.bad, i, slot)
}

// failed counts the items that failed, without those that are yet to be run again.
func (x *fan) failed() int {
	if x.redo < 0 {
		return len(x.bad)
	}
	i, _ := slices.BinarySearch(x.bad, x.redo)
	return i
}

// following is the item that begins next: a failed one that is run again, else the first that has not begun.
func (x *fan) following() (slot int32, ok bool) {
	if x.redo >= 0 {
		if i, _ := slices.BinarySearch(x.bad, x.redo); i < len(x.bad) {
			return x.bad[i], true
		}
		x.redo = -1
	}
	return x.next, x.next < x.total
}

// beginItem takes an item off the list of those that are yet to begin. What it left when it failed goes.
func (m *machine) beginItem(f *frame, slot int32) {
	x := f.fan
	f.dirty = true
	if x.redo < 0 {
		x.next++
		return
	}
	x.redo = slot + 1
	m.forgetFailure(f, slot)
}

func (m *machine) forgetFailure(f *frame, slot int32) {
	x := f.fan
	if x.results[slot].stored {
		m.s.gone = append(m.s.gone, Page{Frame: f.id, Part: slot + 1})
	}
	x.results[slot] = result{}
	x.held--
	x.dirty = slices.DeleteFunc(x.dirty, func(s int32) bool { return s == slot })
	x.bad = slices.DeleteFunc(x.bad, func(s int32) bool { return s == slot })
}

// itemsOver ends a foreach whose items failed once no other one runs: with the fault of the first.
func (m *machine) itemsOver(f *frame) {
	x := f.fan
	if x.live > 0 || x.failed() == 0 {
		return
	}
	fault := x.results[x.bad[0]].fault
	if fault == nil {
		m.breakf("an item of node %d was cancelled while its fan ran", f.node)
		return
	}
	m.raise(f, fault)
}

// keepItems leaves the foreach that an instance fails in as it is, so that a retry can go on with it. It
// returns the frames that must stay, the innermost first.
func (m *machine) keepItems() []*frame {
	f := m.s.root()
	chain := []*frame{}
	for f.fan == nil {
		i := slices.IndexFunc(m.s.frames, func(c *frame) bool { return c.parent == f.id && c.kind == kindEnter })
		if i < 0 {
			return nil
		}
		f = m.s.frames[i]
		chain = append(chain, f)
	}
	if !m.topEach(f) {
		return nil
	}
	x := f.fan
	x.redo = -1
	for _, c := range m.s.frames {
		if c.parent != f.id || c.kind != kindBranch || c.slot < 0 {
			continue
		}
		var fault *Fault
		if m.failing != nil && m.failing.fan == x && m.failing.slot == c.slot {
			fault = m.failing.fault.shortened(maxItemFault, m.host.Sealer)
		}
		x.fail(c.slot, fault)
	}
	x.live = 0
	if m.p.Nodes[f.node].Op.(*ir.Fan).Join == ir.JoinLast && len(x.bad) == 0 {
		x.next = x.ended // the condition of the next item failed
	}
	f.dirty = true
	return chain
}

// keep lets go of what a frame waits for; the frame stays.
func (m *machine) keep(f *frame) {
	m.taskBecame(TaskCancelled, f, nil)
	m.closeWaits(f, func(wait) bool { return true })
	f.taken, f.heard, f.phase, f.faulted = nil, nil, phaseWait, false
	f.attempts, f.delays = nil, nil
}

// keptEach is the frame of the foreach that a failed instance keeps, and the frames around it without
// the root, outermost first.
func (s *State) keptEach() (each *frame, around []*frame) {
	if s.status != Failed || len(s.frames) == 0 {
		return nil, nil
	}
	f := s.root()
	if len(s.frames) > 1 {
		f = s.frames[len(s.frames)-1]
	}
	if f.fan == nil {
		return nil, nil
	}
	return f, s.frames[1:]
}

// retryItems goes on with the foreach that the instance failed in: items that failed, were cancelled or
// have not begun run, and the results of the others stay.
func (m *machine) retryItems() {
	f, around := m.s.keptEach()
	m.s.status, m.s.fault, m.s.output = Running, nil, expr.Null
	m.s.paused, m.s.costly = false, false
	for _, c := range around {
		r := &m.p.Regions[c.region]
		c.attempt++
		c.dirty = true
		if c.began != 0 {
			c.began = m.now
		}
		m.taskBecame(TaskResumed, c, nil)
		if m.arm(c, r.Total, WaitTotal) {
			m.begin(c, r)
		}
		if m.s.status.Final() || m.s.frame(f.id) != f || f.fan == nil {
			return // a timeout could not be set, and that failed the instance or a handler took it
		}
	}
	if len(f.fan.bad) > 0 {
		f.fan.redo = 0
	}
	n := &m.p.Nodes[f.node]
	m.launch(f, n, n.Op.(*ir.Fan))
}

// dropKept lets go of the foreach that a failed instance keeps.
func (m *machine) dropKept() {
	for _, f := range m.s.frames {
		f.faulted = f.kind != kindRoot // its task was told to have ended before
	}
	m.closeAll()
	m.forgetFan(m.s.root())
}
