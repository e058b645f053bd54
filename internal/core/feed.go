package core

import (
	"math"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// A Feed uses the progress of a fan: total is how many events it took, each of which has a page
// that holds the event as it was read and then what became of it; next is the first that has not
// begun its body, ended how many have their result, and need how many there will be in all.

// endless is the need of a Feed that waits for its Until or Stop.
const endless = math.MaxInt32 / 4

// feedEvent is the event of an arm of a Feed: those that it takes, then those that stop it.
func feedEvent(op *ir.Feed, arm int32) ir.EventID {
	if n := int32(len(op.Events)); arm >= n {
		return op.Stop[arm-n]
	}
	return op.Events[arm]
}

// feed begins to take events.
func (m *machine) feed(f *frame, n *ir.Node, op *ir.Feed) {
	f.fan = &fan{need: 1, pairs: op.Body != 0, redo: -1}
	switch {
	case op.All:
		f.fan.need = int32(len(op.Events))
	case !op.Ends():
		f.fan.need = endless
	}
	f.phase, f.dirty = phaseWait, true
	m.forgetKeys(f, op)
	for arm := range int32(len(op.Events) + len(op.Stop)) {
		m.subscribeFeed(f, f.open(WaitFeed, arm, 0), op, arm)
	}
	m.record(Record{Type: RecWaiting, Frame: f.id, Node: n.Name, Pos: n.Pos, Text: m.p.Events[op.Events[0]].Name})
}

func (m *machine) subscribeFeed(f *frame, t Ticket, op *ir.Feed, arm int32) {
	id := feedEvent(op, arm)
	c := Subscribe{Ticket: t, Event: id, Name: m.p.Events[id].Name, Keys: m.feedKeys(f, &m.p.Events[id])}
	if op.Ends() {
		c.Most = int(f.fan.need - f.fan.total)
	}
	m.command(c)
}

// keyVar is the variable of a frame that holds a correlation key which its Feed has fixed.
func keyVar(name string) string { return "correlation " + name }

// forgetKeys drops what a Feed that ran in the frame before has left.
func (m *machine) forgetKeys(f *frame, op *ir.Feed) {
	for arm := range int32(len(op.Events) + len(op.Stop)) {
		for _, c := range m.p.Events[feedEvent(op, arm)].Correlate {
			f.unbind(keyVar(c.Attribute))
		}
	}
}

// feedKeys are the attributes that an event must have.
func (m *machine) feedKeys(f *frame, ev *ir.Event) []Key {
	var keys []Key
	for _, c := range ev.Correlate {
		v, fixed := m.wanted(f, c)
		if c.Select == 0 { // others are for the instance alone
			k := Key{Name: c.Attribute, Fixed: fixed, Void: fixed && v.IsNull()}
			if fixed && !k.Void {
				k.Value = v.Text()
			}
			keys = append(keys, k)
		}
	}
	return keys
}

// wanted is the value that a correlation key must have, if there is one already. Null means that no
// event has it.
func (m *machine) wanted(f *frame, c ir.Correlation) (expr.Value, bool) {
	if c.Value == 0 {
		for _, b := range f.vars {
			if b.name == keyVar(c.Attribute) {
				return b.value, true
			}
		}
		return expr.Null, false
	}
	r, fault := m.eval(c.Value, m.scope(f))
	if fault != nil {
		return expr.Null, true
	}
	return r.Value, true
}

// fed takes an event for a Feed, whichever of its tickets the event came by. It reports false for one that
// the Feed does not want.
func (m *machine) fed(f *frame, event expr.Value) bool {
	n := &m.p.Nodes[f.node]
	fanned, ok := n.Op.(*ir.Fan)
	if !ok || fanned.Feed == nil || f.fan == nil {
		m.breakf("frame %d waits for an event of a feed at a node that has none", f.id)
		return true
	}
	op := fanned.Feed
	arm, ok := m.armFor(f, op, event)
	if !ok {
		return false
	}
	m.waited()
	def := &m.p.Events[feedEvent(op, arm)]
	m.record(Record{Type: RecConsumed, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: def.Name, Data: event, HasData: true})
	fixed := m.fixKeys(f, def, event)
	stops := int(arm) >= len(op.Events)
	if stops || op.All { // once is enough
		m.closeWaits(f, func(o wait) bool { return o.kind == WaitFeed && o.arm == arm })
	}
	if stops {
		m.stopFeed(f, op)
	} else if fault := m.takeEvent(f, op, def, event); fault != nil {
		m.raise(f, fault)
		return true
	}
	if f.fan.total < f.fan.need && (fixed || stops || op.All) {
		m.renewFeed(f, op, fixed)
	}
	m.onward(f, n, op)
	return true
}

// armFor finds the open arm that an event is for: one that ends the Feed comes first, then the order of
// declaration decides.
func (m *machine) armFor(f *frame, op *ir.Feed, event expr.Value) (int32, bool) {
	for _, stops := range []bool{true, false} {
		for _, w := range f.waits {
			if w.kind == WaitFeed && (int(w.arm) >= len(op.Events)) == stops && m.accepts(f, &m.p.Events[feedEvent(op, w.arm)], event) {
				return w.arm, true
			}
		}
	}
	return 0, false
}

// takeEvent adds an event to those that the Feed took, and looks whether that is enough.
func (m *machine) takeEvent(f *frame, op *ir.Feed, def *ir.Event, event expr.Value) *Fault {
	item, fault := m.read(op.Read, def, event)
	if fault != nil {
		return fault
	}
	fan := f.fan
	if int(fan.total) >= m.p.Limits.FanWidth {
		return limitFault("fan-width", m.p.Limits.FanWidth, "too many events for one task")
	}
	if op.Body != 0 {
		item = expr.Array(item)
	}
	fan.results = append(fan.results, result{value: item, has: true})
	fan.dirty = append(fan.dirty, fan.total)
	fan.total++
	fan.held++
	f.dirty = true
	if op.Until != 0 {
		r, fault := m.eval(op.Until, m.untilScope(f))
		if fault != nil {
			return fault
		}
		if r.True() {
			fan.need = fan.total
		}
	}
	return nil
}

// renewFeed asks again where a Feed wants other events than before: an arm is served, or a key is fixed.
// Its tickets are others then. The events that are on their way to the old ones are put back, and come
// again with those that are visible only now, all in the order in which they were stored. A Feed that
// wants no event from before must not have its events put back: its tickets stay.
func (m *machine) renewFeed(f *frame, op *ir.Feed, fixed bool) {
	stay := slices.ContainsFunc(slices.Concat(op.Events, op.Stop), func(id ir.EventID) bool { return m.p.Events[id].New })
	if stay && !fixed {
		return
	}
	waits := slices.Clone(f.waits)
	if !stay {
		m.closeWaits(f, func(w wait) bool { return w.kind == WaitFeed })
	}
	for _, w := range waits {
		switch {
		case w.kind != WaitFeed:
		case stay:
			m.subscribeFeed(f, ticket(f.id, w.n), op, w.arm)
		default:
			m.subscribeFeed(f, f.open(WaitFeed, w.arm, 0), op, w.arm)
		}
	}
}

// untilScope shows the array of what was read.
func (m *machine) untilScope(f *frame) expr.Scope {
	in := m.scope(f)
	m.pay(len(f.fan.results) / itemsPerStep)
	in.Data = f.fan.array(func(v expr.Value) expr.Value { return v.Items()[0] })
	return in
}

// array lists what part selects of what a Feed with a body keeps for each event: the pair of what
// was read and what became of it. Without a body that is what was read.
func (x *fan) array(part func(pair expr.Value) expr.Value) expr.Value {
	items := make([]expr.Value, len(x.results))
	for i, r := range x.results {
		if items[i] = r.value; x.pairs {
			items[i] = part(r.value)
		}
	}
	return expr.Array(items...)
}

// stopFeed ends a Feed whose last stop has come.
func (m *machine) stopFeed(f *frame, op *ir.Feed) {
	waits := func(o wait) bool { return o.kind == WaitFeed && int(o.arm) >= len(op.Events) }
	if !op.StopAll || !slices.ContainsFunc(f.waits, waits) {
		f.fan.need = f.fan.total
	}
}

// onward runs the body for the next event, or ends the Feed.
func (m *machine) onward(f *frame, n *ir.Node, op *ir.Feed) {
	fan := f.fan
	f.dirty = true
	if fan.total >= fan.need {
		m.closeWaits(f, func(w wait) bool { return w.kind == WaitFeed })
	}
	if op.Body == 0 {
		fan.next, fan.ended = fan.total, fan.total
	}
	if fan.ended >= fan.need {
		list := fan.array(func(v expr.Value) expr.Value { return v.Items()[1] })
		m.forgetFan(f)
		m.correlatedAll(f, n, op)
		if fault := m.setData(f, list); fault != nil {
			m.raise(f, fault)
			return
		}
		m.advance(f, n)
		return
	}
	if fan.live == 0 && fan.next < fan.total {
		slot := fan.next
		fan.next++
		fan.live++
		item := fan.results[slot].value.Items()[0]
		m.enter(f, kindBranch, slot, op.Body, item, f.under)
	}
}

// fedOne takes what became of an event.
func (m *machine) fedOne(f *frame, n *ir.Node, op *ir.Feed, slot int32, value expr.Value) {
	fan := f.fan
	fan.live--
	fan.ended++
	if !f.inner {
		m.s.steps = 0 // as for items
	}
	item := expr.Null
	if op.Until != 0 { // which looks at it again
		item = fan.results[slot].value.Items()[0]
	}
	fan.results[slot].value = expr.Array(item, value)
	fan.dirty = append(fan.dirty, slot)
	m.onward(f, n, op)
}

// accepts reports whether an event is one that the frame's Feed wants.
func (m *machine) accepts(f *frame, def *ir.Event, event expr.Value) bool {
	typ, _ := event.Get("type")
	source, _ := event.Get("source")
	if def.Type != "" && def.Type != typ.Str() || def.Source != "" && def.Source != source.Str() {
		return false
	}
	in := m.scope(f)
	for _, w := range def.Where {
		if !m.holds(w, in, event) {
			return false
		}
	}
	for _, c := range def.Correlate {
		have, ok := m.correlated(f, c, event)
		want, fixed := m.wanted(f, c)
		if !ok || fixed && (want.IsNull() || want.Text() != have.Text()) {
			return false
		}
	}
	return true
}

// holds reports whether a condition on an event does.
func (m *machine) holds(w ir.Where, in expr.Scope, event expr.Value) bool {
	var ok bool
	if in.Data, ok = event.Get(w.Attribute); !ok {
		return false
	}
	r, fault := m.eval(w.Expr, in)
	switch {
	case fault != nil:
		return false
	case r.Value.Kind() == expr.KindBool:
		return r.Value.Bool()
	}
	return expr.Equal(r.Value, in.Data)
}

// correlated is what an event has for a correlation key.
func (m *machine) correlated(f *frame, c ir.Correlation, event expr.Value) (expr.Value, bool) {
	if c.Select == 0 {
		v, ok := event.Get(c.Attribute)
		if path, is := strings.CutPrefix(c.From, "$."); is && !ok { // as a Feed has it, with names only
			v, ok = event, true
			for name := range strings.SplitSeq(path, ".") {
				if v, ok = v.Get(name); !ok {
					return expr.Null, false
				}
			}
			return expr.String(v.Text()), !v.IsNull()
		}
		return v, ok && !v.IsNull()
	}
	in := expr.Scope{}
	if f != nil {
		in = m.scope(f)
	}
	in.Data = event
	r, fault := m.eval(c.Select, in)
	return r.Value, fault == nil && !r.Value.IsNull()
}

// fixKeys fixes the keys of a Feed that have no value yet, also those for which this event had to
// have a certain one. It reports whether there were any.
func (m *machine) fixKeys(f *frame, def *ir.Event, event expr.Value) bool {
	fixed := false
	for _, c := range def.Correlate {
		name := keyVar(c.Attribute)
		if slices.ContainsFunc(f.vars, func(b binding) bool { return b.name == name }) {
			continue
		}
		v, _ := m.correlated(f, c, event)
		f.bind(name, v)
		fixed = true
	}
	return fixed
}

// read is what an instance gets of an event: what the expression gives, without what was added to
// the event for correlation.
func (m *machine) read(by ir.ExprID, def *ir.Event, event expr.Value) (expr.Value, *Fault) {
	for _, c := range def.Correlate {
		if c.From != "" {
			event = event.Without(c.Attribute)
		}
	}
	if by == 0 {
		return event, nil
	}
	r, fault := m.eval(by, expr.Scope{Data: event})
	return r.Value, fault
}

// asInput makes an array of the events that start an instance its input.
func (m *machine) asInput(in *Start) *Fault {
	items := make([]expr.Value, len(in.Events))
	for i, a := range in.Events {
		var fault *Fault
		if items[i], fault = m.read(m.p.Start.Read, &m.p.Events[a.Event], a.Value); fault != nil {
			return fault
		}
	}
	in.Data, in.Events = expr.Array(items...), nil
	return nil
}

// StartsWith reports whether the conditions of a start event hold for an event, besides what a
// filter of stores compares.
func (p *Program) StartsWith(id ir.EventID, event expr.Value) bool {
	m := machine{p: p, s: &State{}}
	def := &p.Events[id]
	for _, w := range def.Where {
		if !m.holds(w, expr.Scope{}, event) {
			return false
		}
	}
	for _, c := range def.Correlate {
		if !p.Start.AsInput {
			break // keys that an event does not have are free
		}
		have, ok := m.correlated(nil, c, event)
		if !ok {
			return false
		}
		if c.Value != 0 && c.Select != 0 {
			if r, fault := m.eval(c.Value, expr.Scope{}); fault != nil || r.Value.Text() != have.Text() {
				return false
			}
		}
	}
	return true
}

// KeyOf is what an event has for a correlation key that an expression selects.
func (p *Program) KeyOf(c ir.Correlation, event expr.Value) (string, bool) {
	m := machine{p: p, s: &State{}}
	v, ok := m.correlated(nil, c, event)
	return v.Text(), ok
}
