package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// exec runs the node that frame f stands at.
func (m *machine) exec(f *frame) {
	if f.node == 0 { // an empty region
		m.complete(f)
		return
	}
	n := &m.p.Nodes[f.node]
	if n.Mark == ir.MarkEntered {
		if m.stops(f, n) {
			return
		}
		m.record(Record{Type: RecEntered, Frame: f.id, Depth: m.depth(f), Node: n.Name, Pos: n.Pos, Data: m.enteredWith(f, n), HasData: true})
	}
	switch op := n.Op.(type) {
	case *ir.Eval:
		m.evalNode(f, n, op)
	case *ir.Branch:
		m.branch(f, n, op)
	case *ir.Call:
		m.call(f, n, op)
	case *ir.Await:
		m.await(f, n, op)
	case *ir.Emit:
		m.emit(f, n, op)
	case *ir.Fan:
		m.fanOut(f, n, op)
	case *ir.Enter:
		f.phase = phaseWait
		m.enter(f, kindEnter, op.Region, f.data, f.under)
	case *ir.Spawn:
		m.spawn(f, n, op)
	case *ir.Raise:
		m.raise(f, &Fault{Name: op.Error, Code: op.Code, Detail: op.Detail, Final: op.Final, Data: f.data})
	case *ir.Undo:
		m.undo(f)
	case *ir.End:
		m.end(f, op)
	default:
		m.breakf("node %d has no operation", f.node)
	}
}

// stops pauses the instance before a state where it is told to, once each time that
// it comes there.
func (m *machine) stops(f *frame, n *ir.Node) bool {
	if f.stopped == f.node {
		f.stopped = 0
		return false
	}
	if !slices.ContainsFunc(m.p.Stops, func(s string) bool { return s == "*" || s == n.Name }) {
		return false
	}
	f.stopped, m.s.paused = f.node, true
	m.record(Record{Type: RecStopped, Frame: f.id, Depth: m.depth(f), Node: n.Name, Pos: n.Pos, Data: f.data, HasData: true})
	return true
}

func (m *machine) evalNode(f *frame, n *ir.Node, op *ir.Eval) {
	if op.Check != 0 && !m.check(f, n, op) {
		return
	}
	value := f.data
	if op.From != 0 {
		r, fault := m.eval(op.From, f.view())
		if fault != nil {
			m.raise(f, fault)
			return
		}
		m.holes(f, n, r)
		value = r.Value
	}
	if op.Put.Mode != ir.PutNone {
		if fault := m.put(f, n, &op.Put, value, false); fault != nil {
			m.raise(f, fault)
			return
		}
	}
	if op.Checkpoint {
		f.again, f.againAt, f.againLen = f.data, n.Next, f.delta.Len()
	}
	if n.Mark == ir.MarkLeft {
		r := Record{Type: RecLeft, Frame: f.id, Depth: m.depth(f), Node: n.Name, Pos: n.Pos}
		if !m.p.Job { // what a job leaves a state with is in the record before
			r.Data, r.HasData = f.data, true
		}
		m.record(r)
	}
	m.advance(f, n)
}

func (m *machine) branch(f *frame, n *ir.Node, op *ir.Branch) {
	sees := f.view()
	for _, c := range op.Cases {
		r, fault := m.eval(c.When, sees)
		if fault != nil {
			m.raise(f, fault)
			return
		}
		if r.True() {
			m.goTo(f, c.Next)
			return
		}
	}
	m.advance(f, n)
}

// check runs a schema program over the data.
func (m *machine) check(f *frame, n *ir.Node, op *ir.Eval) bool {
	violations, fault := m.violations(op.Check, f.data)
	if fault == nil && len(violations) > 0 {
		text := fmt.Sprintf("the data of %q does not adhere to its schema: %s", n.Name, describe(violations))
		if m.p.WarnSchemas {
			m.warn(f, n, "%s", text)
			return true
		}
		fault = &Fault{Name: FaultSchema, Detail: text, Data: f.data}
	}
	if fault != nil {
		if op.CheckPos != (ir.Pos{}) {
			fault.Pos = op.CheckPos
		}
		m.raise(f, fault)
		return false
	}
	return true
}

func (m *machine) violations(schema ir.ExprID, data expr.Value) ([]expr.Value, *Fault) {
	r, fault := m.eval(schema, view{data: data})
	return r.Value.Items(), fault
}

// view is what an expression looks at: data, and below it what is lent for names
// that the data lacks (SEMANTICS §Data filters 6, §Control flow ForEach).
type view struct{ data, lent expr.Value }

// whole is all that there is to see, for people.
func (v view) whole() expr.Value {
	if v.lent.IsNull() {
		return v.data
	}
	return expr.Overlay(v.data, v.lent)
}

// eval evaluates an expression of the program under a fresh budget.
func (m *machine) eval(id ir.ExprID, v view) (r expr.Result, fault *Fault) {
	if m.broken != nil {
		return expr.Result{}, m.stopped()
	}
	b := m.budget()
	allowed := b.Steps
	var err error
	if lending, ok := m.p.exprs[id].(expr.Lending); ok && !v.lent.IsNull() {
		r, err = lending.EvalLent(v.data, v.lent, &b)
	} else {
		r, err = m.p.exprs[id].Eval(v.data, &b)
	}
	tooMuch := m.spend(allowed, &b)
	switch {
	case err == nil:
		return r, nil
	case errors.Is(err, expr.ErrStopped):
		return expr.Result{}, m.stopped()
	}
	src, pos := m.p.Exprs[id].Src, m.p.Exprs[id].Pos
	var part *expr.PartError
	if errors.As(err, &part) {
		src = part.Src
		if places := m.p.Exprs[id].Parts; part.Part < len(places) {
			pos = places[part.Part]
		}
	}
	if tooMuch != nil {
		err = tooMuch
	}
	fault = &Fault{Name: FaultExpression, Detail: fmt.Sprintf("%s: %v", clip(src), err), Data: v.whole(), Pos: pos}
	var limit *expr.LimitError
	fault.Final = errors.As(err, &limit)
	return expr.Result{}, fault
}

func clip(src string) string {
	const most = 120
	if len(src) > most {
		return strings.ToValidUTF8(src[:most], "") + "…"
	}
	return src
}

// holes records what a template's expressions did not find (SEMANTICS §Data filters 7).
func (m *machine) holes(f *frame, n *ir.Node, r expr.Result) {
	for _, src := range r.Holes {
		m.warn(f, n, "%s selects nothing; null is used", src)
	}
}

// pick selects and shapes a part of a value. It reports false where nothing is selected.
func (m *machine) pick(p *ir.Pick, from view) (expr.Value, bool, *Fault) {
	if p.Expr == 0 {
		return from.data, true, nil
	}
	r, fault := m.eval(p.Expr, from)
	if fault != nil || r.Missing {
		return expr.Null, false, fault
	}
	v := r.Value
	switch p.Wrap {
	case ir.WrapSingle:
		if v.IsArray() {
			return v, true, nil
		}
	case ir.WrapAlways:
	case ir.WrapMatches:
		if items := v.Items(); len(items) == 1 && items[0].IsObject() {
			return items[0], true, nil
		}
	default:
		return v, true, nil
	}
	if p.Key == "" {
		return v, true, nil
	}
	return expr.Object(expr.Member{Key: p.Key, Value: v}), true, nil
}

// eventPart is what a Pick looks at in an event: the whole of it where the path
// begins with an attribute the event has, else its data (SEMANTICS §Data filters 4).
func eventPart(p *ir.Pick, event expr.Value) (expr.Value, bool) {
	if p.First != "" {
		if _, ok := event.Get(p.First); ok {
			return event, true
		}
	}
	return event.Get("data")
}

// put changes the frame's data (and delta) by a value.
func (m *machine) put(f *frame, n *ir.Node, p *ir.Put, value expr.Value, event bool) *Fault {
	if p.Mode == ir.PutNone {
		return nil
	}
	there := true
	if event {
		value, there = eventPart(&p.Pick, value)
	}
	if there {
		var fault *Fault
		if value, there, fault = m.pick(&p.Pick, view{data: value}); fault != nil {
			return fault
		}
	}
	if !there {
		if p.Warn && p.Pick.Expr != 0 {
			m.warn(f, n, "%s selects nothing; nothing is merged", clip(m.p.Exprs[p.Pick.Expr].Src))
		}
		return nil
	}
	switch p.Mode {
	case ir.PutReplace:
		if len(p.Path) > 0 {
			value = expr.Null.WithPath(p.Path, value)
		}
		return m.setData(f, value)
	case ir.PutSet:
		m.collect(f, expr.Null.WithPath(p.Path, value))
		return m.setData(f, f.data.WithPath(p.Path, value))
	}
	m.collect(f, value)
	if !value.IsObject() {
		if !value.IsNull() {
			m.warn(f, n, "the result is %s, not an object: it is not merged into the state data", article(value.Kind()))
		}
		return nil
	}
	return m.setData(f, m.merge(f.data, value))
}

func (m *machine) collect(f *frame, value expr.Value) {
	if f.gather {
		m.pay(f.delta.Len() / itemsPerStep)
		f.delta, f.dirty = f.delta.Append(value), true
	}
}

// folded is a delta as one result: objects merge, and what is no object does not
// displace one (SEMANTICS §Data filters 9).
func (m *machine) folded(delta expr.Value) expr.Value {
	out := expr.Null
	for i, v := range delta.Items() {
		if i == 0 || v.IsObject() || !out.IsObject() {
			out = m.merge(out, v)
		}
	}
	return out
}

// setData replaces a frame's data within the limits of size and nesting.
func (m *machine) setData(f *frame, v expr.Value) *Fault {
	if f.data.Same(v) {
		return nil
	}
	if fault := m.tooLarge(v); fault != nil {
		return fault
	}
	f.data, f.dirty = v, true
	return nil
}

// tooLarge says which limit data exceeds.
func (m *machine) tooLarge(v expr.Value) *Fault {
	size := m.measure(v)
	switch {
	case size.deep:
		return limitFault("data-depth", expr.MaxDepth-8, "the state data nests too deep")
	case size.large:
		return limitFault("data-bytes", m.p.Limits.DataBytes, "the state data is too large")
	}
	return nil
}

// after is the instant a span from now.
func (m *machine) after(f *frame, s ir.Span) (Time, *Fault) {
	switch {
	case s.Until != "":
		t, err := time.Parse(time.RFC3339, s.Until)
		if err != nil {
			return 0, &Fault{Name: FaultData, Detail: fmt.Sprintf("%q is not an instant", s.Until)}
		}
		if t.Year() > farthest {
			return 0, &Fault{Name: FaultData, Detail: fmt.Sprintf("%s is beyond the year %d (limit timer-horizon)", s.Until, farthest)}
		}
		return max(TimeOf(t), m.now), nil
	case s.Expr != 0:
		r, fault := m.eval(s.Expr, f.view())
		if fault != nil {
			return 0, fault
		}
		d, err := calendar.ParseDuration(r.Value.Str())
		if err != nil {
			const which = "is not an ISO 8601 duration: "
			why := err.Error()
			if _, rest, said := strings.Cut(why, which); said { // with the text, which stands here already
				why = rest
			}
			return 0, &Fault{Name: FaultData, Data: f.view().whole(), Pos: m.p.Exprs[s.Expr].Pos, Detail: fmt.Sprintf("%s gives %s, which %s%s", clip(m.p.Exprs[s.Expr].Src), clip(r.Value.String()), which, why)}
		}
		return addTo(m.now, d)
	}
	return addTo(m.now, calendar.Duration{Months: s.Months, Days: s.Days, Nanos: s.Nanos})
}

// farthest is the last year a timer may point to: beyond it nanoseconds do not fit.
const farthest = 2261

func addTo(t Time, d calendar.Duration) (Time, *Fault) {
	at := d.AddTo(t.Std())
	if at.Year() > farthest || at.Before(t.Std()) {
		return 0, &Fault{Name: FaultData, Detail: fmt.Sprintf("%s from now is beyond the year %d (limit timer-horizon)", d, farthest)}
	}
	return TimeOf(at), nil
}

// depth counts the branches and iterations around a frame.
func (m *machine) depth(f *frame) int {
	d := 0
	for f != nil && f.kind != kindRoot {
		if f.kind == kindBranch || f.kind == kindDetached {
			d++
		}
		f = m.s.frame(f.parent)
	}
	return d
}
