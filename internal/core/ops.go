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
		m.record(Record{Type: RecEntered, Frame: f.id, Depth: m.depth(f), Node: n.Name, Pos: n.Pos, Data: m.p.Model.Entered(f.data, n.Name), HasData: true})
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
		f.give(m.enter(f, kindEnter, -1, op.Region, f.data, f.under), op.Takes)
	case *ir.Spawn:
		m.spawn(f, n, op)
	case *ir.Raise:
		m.raiseNode(f, op)
	case *ir.Undo:
		m.undo(f)
	case *ir.End:
		m.end(f, op)
	default:
		m.breakf("node %d has no operation", f.node)
	}
}

// stops pauses the instance at a breakpoint, once each time that it reaches the state.
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
	if op.Check != 0 && !op.CheckResult && !m.check(f, n, op, f.data) {
		return
	}
	value := f.data
	if op.From != 0 {
		r, fault := m.eval(op.From, m.scope(f))
		if fault != nil {
			m.raise(f, fault)
			return
		}
		m.holes(f, n, r)
		value = r.Value
	}
	if op.CheckResult && !m.check(f, n, op, value) {
		return
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
		if !m.p.Model.Keeps() {
			r.Data, r.HasData = f.data, true
		}
		m.record(r)
	}
	m.advance(f, n)
}

func (m *machine) branch(f *frame, n *ir.Node, op *ir.Branch) {
	sees := m.scope(f)
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

// check runs a schema program over data.
func (m *machine) check(f *frame, n *ir.Node, op *ir.Eval, data expr.Value) bool {
	violations, fault := m.violations(op.Check, data)
	if fault == nil && len(violations) > 0 {
		text := fmt.Sprintf("the data of %q does not adhere to its schema: %s", n.Name, describe(violations))
		if m.p.WarnSchemas {
			m.warn(f, n, "%s", text)
			return true
		}
		fault = &Fault{Name: FaultSchema, Detail: text, Data: data}
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
	r, fault := m.eval(schema, expr.Scope{Data: data})
	return r.Value.Items(), fault
}

// shown is the data of a scope with what is lent below it (semantics.md §Data filters 6,
// §Control flow ForEach), for people.
func shown(in expr.Scope) expr.Value {
	if in.Lent.IsNull() {
		return in.Data
	}
	return expr.Overlay(in.Data, in.Lent)
}

// eval evaluates an expression of the program under a fresh budget.
func (m *machine) eval(id ir.ExprID, in expr.Scope) (r expr.Result, fault *Fault) {
	if m.broken != nil {
		return expr.Result{}, m.stopped()
	}
	for _, name := range m.p.Exprs[id].Secrets {
		if _, ok := m.host.Secrets.Get(name); !ok {
			return expr.Result{}, &Fault{Name: faultNoSecret, Detail: fmt.Sprintf("there is no secret %q", name), Pos: m.p.Exprs[id].Pos}
		}
	}
	b := m.budget()
	allowed := b.Steps
	var err error
	if scoped, ok := m.p.exprs[id].(expr.Scoped); ok {
		r, err = scoped.EvalIn(in, &b)
	} else {
		r, err = m.p.exprs[id].Eval(in.Data, &b)
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
	if missing := (*expr.NoSecretError)(nil); errors.As(err, &missing) {
		return expr.Result{}, &Fault{Name: faultNoSecret, Detail: missing.Error(), Pos: pos}
	}
	fault = &Fault{Name: FaultExpression, Detail: fmt.Sprintf("%s: %v", clip(src), err), Data: shown(in), Pos: pos}
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

// holes records what a template's expressions did not find (semantics.md §Data filters 7).
func (m *machine) holes(f *frame, n *ir.Node, r expr.Result) {
	for _, src := range r.Holes {
		m.warn(f, n, "%s selects nothing; null is used", src)
	}
}

// pick selects and shapes a part of a value. It reports false where nothing is selected.
func (m *machine) pick(p *ir.Pick, from expr.Scope) (expr.Value, bool, *Fault) {
	v := from.Data
	if p.Expr != 0 {
		r, fault := m.eval(p.Expr, from)
		if fault != nil || r.Missing {
			return expr.Null, false, fault
		}
		v = r.Value
	} else if p.Wrap != ir.WrapOther {
		return v, true, nil
	}
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
	case ir.WrapOther:
		if v.IsObject() || v.IsNull() {
			return v, true, nil
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
// begins with an attribute the event has, else its data (semantics.md §Data filters 4).
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
		if value, there, fault = m.pick(&p.Pick, m.alone(f, value)); fault != nil {
			return fault
		}
	}
	if !there {
		if p.Warn && p.Pick.Expr != 0 {
			m.warn(f, n, "%s selects nothing; nothing is merged", clip(m.p.Exprs[p.Pick.Expr].Src))
		}
		return nil
	}
	switch p.To {
	case ir.ToContext:
		return m.setContext(value)
	case ir.ToVar:
		f.bind(p.Var, value)
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
	if !value.IsNull() && len(p.Path) > 0 {
		value = expr.Null.WithPath(p.Path, value)
	}
	m.collect(f, value)
	if !value.IsObject() {
		if !value.IsNull() && (p.Warn || !f.gather) {
			m.warn(f, n, "the result is %s, not an object: it is not merged into the state data", value.Kind().WithArticle())
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
// displace one (semantics.md §Data filters 9).
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
func (m *machine) after(f *frame, s ir.Span) (Time, *Fault) { return m.afterIn(m.scope(f), s) }

func (m *machine) afterIn(in expr.Scope, s ir.Span) (Time, *Fault) {
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
		r, fault := m.eval(s.Expr, in)
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
			return 0, &Fault{Name: FaultData, Data: shown(in), Pos: m.p.Exprs[s.Expr].Pos, Detail: fmt.Sprintf("%s gives %s, which %s%s", clip(m.p.Exprs[s.Expr].Src), clip(r.Value.String()), which, why)}
		}
		return m.since(in, s.Since, d)
	}
	return m.since(in, s.Since, calendar.Duration{Months: s.Months, Days: s.Days, Nanos: s.Nanos})
}

// since is when a duration ends that began at the instant of an expression, or begins now. It is not in the past.
func (m *machine) since(in expr.Scope, begin ir.ExprID, d calendar.Duration) (Time, *Fault) {
	if begin == 0 {
		return addTo(m.now, d)
	}
	r, fault := m.eval(begin, in)
	if fault != nil {
		return 0, fault
	}
	t, err := time.Parse(time.RFC3339, r.Value.Str())
	if err != nil {
		return 0, &Fault{Name: FaultData, Pos: m.p.Exprs[begin].Pos, Detail: fmt.Sprintf("%s gives %s, which is not an instant", clip(m.p.Exprs[begin].Src), clip(r.Value.String()))}
	}
	at, fault := addTo(TimeOf(t), d)
	return max(at, m.now), fault
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

// depth counts the branches, iterations and nested regions around a frame.
func (m *machine) depth(f *frame) int {
	d := 0
	for f != nil && f.kind != kindRoot {
		if f.kind == kindBranch || f.kind == kindDetached || m.p.Regions[f.region].Nested {
			d++
		}
		f = m.s.frame(f.parent)
	}
	return d
}
