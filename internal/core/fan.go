package core

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// fan is the progress of a Fan: which items were launched, what came back. The
// items themselves are not stored: they follow from the frame's data, which does
// not change while the fan runs. Each result is a page of its own, so that a
// finished item costs one small write however many there are.
type fan struct {
	total, next, live, ended, need, limit int32
	results                               []result
	items                                 []expr.Value // of Each; nil after decoding, until needed
	carried                               *expr.Value  // the list of items, stored where the data that gave them changes
	dirty                                 []int32      // results to write
	held                                  int32        // results that are there
	pairs                                 bool         // results are those of a Feed with a body
	bad                                   []int32      // the items whose result is a failure, sorted
	redo                                  int32        // while failed items run again: those from here on are yet to begin; else -1
	launching                             bool
	kept                                  int32 // while decoding: results that are yet to be read
}

// result is what the slot-th branch or item gave.
type result struct {
	value  expr.Value // the list of what it put, or its output (JoinArray)
	has    bool
	stored bool // a page holds it
	failed bool // instead of a value, fault: why, nil if it was cancelled
	fault  *Fault
}

func (m *machine) fanOut(f *frame, n *ir.Node, op *ir.Fan) {
	if op.Feed != nil {
		m.feed(f, n, op.Feed)
		return
	}
	fan := &fan{total: int32(len(op.Branches)), limit: int32(m.p.Limits.FanInFlight), redo: -1}
	if op.Each != nil {
		items, fault := m.items(f, op.Each)
		if fault == nil && len(items) > m.p.Limits.FanWidth {
			fault = limitFault("fan-width", m.p.Limits.FanWidth, fmt.Sprintf("%d items", len(items)))
		}
		most := int64(0)
		if fault == nil {
			most, fault = m.count(f, op.Each.Max, "max")
		}
		if fault != nil {
			m.raise(f, fault)
			return
		}
		fan.items, fan.total = items, int32(len(items))
		if most > 0 {
			fan.limit = int32(min(most, int64(len(items))))
		}
	}
	need, fault := m.count(f, op.Need, "n")
	if fault != nil {
		m.raise(f, fault)
		return
	}
	waited := fan.total
	for _, b := range op.Branches {
		if b.Detached {
			waited--
		}
	}
	fan.need = waited
	if op.Join == ir.JoinFirst {
		fan.need = min(waited, 1)
	}
	if op.Need != 0 && need < int64(waited) {
		fan.need = int32(need)
	}
	m.pay(int(fan.total) / itemsPerStep)
	if op.Join != ir.JoinLast {
		fan.results = make([]result, fan.total)
	} else {
		list := expr.Array(fan.items...)
		fan.limit, fan.carried = 1, &list
	}
	f.fan, f.phase, f.dirty = fan, phaseWait, true
	m.launch(f, n, op)
}

// items are the elements of the collection of an Each.
func (m *machine) items(f *frame, each *ir.Each) ([]expr.Value, *Fault) {
	r, fault := m.eval(each.Over, m.scope(f))
	if fault != nil {
		return nil, fault
	}
	src, pos := clip(m.p.Exprs[each.Over].Src), m.p.Exprs[each.Over].Pos
	if r.Missing && !r.List {
		return nil, &Fault{Name: FaultData, Pos: pos, Data: shown(m.scope(f)), Detail: fmt.Sprintf("the collection %s does not exist in the state data", src)}
	}
	if !r.Value.IsArray() {
		return nil, &Fault{Name: FaultData, Pos: pos, Data: shown(m.scope(f)), Detail: fmt.Sprintf("the collection %s is %s, not an array", src, r.Value.Kind().WithArticle())}
	}
	return r.Value.Items(), nil
}

// count evaluates a number that may be written as text.
func (m *machine) count(f *frame, id ir.ExprID, what string) (int64, *Fault) {
	if id == 0 {
		return 0, nil
	}
	r, fault := m.eval(id, m.scope(f))
	if fault != nil {
		return 0, fault
	}
	v := r.Value
	if v.Kind() == expr.KindString {
		if num, err := expr.Number(v.Str()); err == nil {
			v = num
		}
	}
	i, ok := v.Int()
	if !ok || i < 0 {
		return 0, &Fault{Name: FaultData, Pos: m.p.Exprs[id].Pos, Data: shown(m.scope(f)), Detail: fmt.Sprintf("%s must be a whole number, not %s", what, clip(r.Value.String()))}
	}
	return i, nil
}

// launch starts branches or items up to the limit.
func (m *machine) launch(f *frame, n *ir.Node, op *ir.Fan) {
	fan := f.fan
	lent := m.overlay(f.data, f.under)
	limit := min(fan.limit, int32(m.p.Limits.FanInFlight))
	fan.launching = true
	for fan.live < limit && f.fan == fan && !m.s.status.Final() && m.broken == nil { // a launch may fail the fan
		slot, ok := fan.following()
		if !ok || fan.failed() >= m.p.Limits.FanFailures {
			break
		}
		if fan.live > 0 && op.Each != nil && op.Each.Batch && slot == fan.next && slot%fan.limit == 0 {
			break // the next batch waits for this one
		}
		m.beginItem(f, slot)
		region, kind, data, under := ir.RegionID(0), kindBranch, f.data, f.under
		if op.Each != nil {
			if fan.items == nil {
				items, fault := m.items(f, op.Each)
				if fault != nil || len(items) != int(fan.total) {
					m.breakf("the collection of node %d changed while its fan ran", f.node)
					return
				}
				fan.items = items
			}
			region = op.Each.Body
			switch on, fault := m.goesOn(f, op.Each, slot); {
			case fault != nil:
				fan.launching = false
				m.raise(f, fault)
				return
			case !on:
				m.join(f, n, op)
				return
			}
			switch {
			case len(op.Each.In) > 0:
				data = f.data.WithPath(op.Each.In, fan.items[slot])
			case !op.Each.Carry:
				data = expr.Object(expr.Member{Key: op.Each.Var, Value: fan.items[slot]})
				under = lent
			}
		} else {
			region = op.Branches[slot].Region
			if op.Branches[slot].Detached {
				kind = kindDetached
			}
		}
		parent := f
		if kind == kindDetached {
			parent = m.s.root() // nobody waits for it: it belongs to the instance
		} else {
			fan.live++
		}
		if child := m.enter(parent, kind, slot, region, data, under); kind == kindDetached {
			m.keepVars(f, child)
		}
	}
	fan.launching = false
	switch {
	case f.fan != fan || m.s.status.Final() || m.broken != nil:
	case fan.need == 0:
		m.join(f, n, op) // nothing to wait for: no items, or every branch is detached
	default:
		m.itemsOver(f)
	}
}

// goesOn reports whether an item is next: the condition of its Each, if there is one, holds.
func (m *machine) goesOn(f *frame, each *ir.Each, slot int32) (bool, *Fault) {
	if each.While == 0 {
		return true, nil
	}
	r, fault := m.eval(each.While, m.scope(f, f.fan.vars(each, slot)...))
	return r.True(), fault
}

// vars are the variables of an item.
func (x *fan) vars(each *ir.Each, slot int32) []binding {
	if !each.Carry || slot < 0 || int(slot) >= len(x.items) {
		return nil
	}
	return []binding{{each.Var, x.items[slot]}, {each.At, expr.Int(int64(slot))}}
}

// loopVars are the variables of the item that frame f runs, if it runs one.
func (m *machine) loopVars(f *frame) []binding {
	if f.kind != kindBranch {
		return nil
	}
	parent := m.s.frame(f.parent)
	op, ok := m.p.Nodes[parent.node].Op.(*ir.Fan)
	switch {
	case !ok || parent.fan == nil || f.slot < 0:
		return nil
	case op.Each != nil:
		return parent.fan.vars(op.Each, f.slot)
	case op.Feed != nil:
		return []binding{{op.Feed.Var, parent.fan.results[f.slot].value.Items()[0]}, {op.Feed.At, expr.Int(int64(f.slot))}}
	}
	return nil
}

// branchEnded takes the result of a branch or item.
func (m *machine) branchEnded(f *frame, slot int32, value expr.Value, has bool) {
	fan := f.fan
	n := &m.p.Nodes[f.node]
	op, ok := n.Op.(*ir.Fan)
	if !ok || fan == nil || slot < 0 || slot >= fan.total {
		m.breakf("a branch ended in frame %d, which runs none", f.id)
		return
	}
	if op.Feed != nil {
		m.fedOne(f, n, op.Feed, slot, value)
		return
	}
	fan.live--
	f.dirty = true
	if op.Each != nil && !f.inner {
		m.s.steps = 0 // a long list is no runaway: it ends. What happens in one item is counted
	}
	switch {
	case op.Join == ir.JoinLast:
		if fault := m.setData(f, value); fault != nil {
			m.raise(f, fault)
			return
		}
	case has && op.Join != ir.JoinDrop:
		fan.results[slot] = result{value: value, has: true}
		fan.held++
		fan.dirty = append(fan.dirty, slot)
	}
	fan.ended++ // only now: an item whose output is refused is not done
	if fan.ended < fan.need {
		m.launch(f, n, op)
		return
	}
	m.join(f, n, op)
}

// join ends a fan: unfinished branches are cancelled, and results become data in the order of
// declaration, not of completion.
func (m *machine) join(f *frame, n *ir.Node, op *ir.Fan) {
	m.closeChildren(f)
	fan := f.fan
	m.forgetFan(f)
	f.phase = phaseRun
	var fault *Fault
	switch op.Join {
	case ir.JoinMerge:
		fault = m.joinMerge(f, fan.results)
	case ir.JoinAppend:
		old, _ := f.data.Lookup(op.Path...)
		items := make([]expr.Value, 0, old.Len()+len(fan.results))
		items = append(items, old.Items()...)
		for _, r := range fan.results {
			if r.has {
				items = append(items, m.folded(r.value))
			}
		}
		list := expr.Array(items...)
		m.collect(f, expr.Null.WithPath(op.Path, list))
		fault = m.setData(f, f.data.WithPath(op.Path, list))
	case ir.JoinArray:
		items := make([]expr.Value, fan.total)
		for i, r := range fan.results {
			items[i] = r.value
		}
		fault = m.setData(f, expr.Array(items...))
	case ir.JoinFirst:
		for _, r := range fan.results {
			if r.has {
				fault = m.setData(f, r.value)
			}
		}
	}
	if fault != nil {
		m.raise(f, fault)
		return
	}
	m.advance(f, n)
}

// joinMerge merges results into the data of frame f. The data is as large as its parts
// at most, so the whole is measured only where that is too much.
func (m *machine) joinMerge(f *frame, results []result) *Fault {
	bytes := m.measure(f.data).bytes
	for _, r := range results {
		for _, v := range r.value.Items() {
			if m.collect(f, v); !v.IsObject() || m.broken != nil {
				continue
			}
			merged, size := m.merge(f.data, v), m.measure(v)
			if bytes += size.bytes; size.deep || bytes > m.p.Limits.DataBytes {
				if fault := m.tooLarge(merged); fault != nil {
					return fault
				}
				bytes = m.last.bytes
			}
			f.data, f.dirty = merged, true
		}
	}
	return nil
}

// forgetFan drops the progress of a fan and the pages of its results.
func (m *machine) forgetFan(f *frame) {
	if f.fan == nil {
		return
	}
	for i := range f.fan.results {
		if f.fan.results[i].stored {
			m.s.gone = append(m.s.gone, Page{Frame: f.id, Part: int32(i) + 1})
		}
	}
	f.fan, f.dirty = nil, true
}
