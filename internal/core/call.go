package core

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/texts"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// scoped is what an action's expressions see: the filtered data, and below it
// what the frame lends (semantics.md §Data filters 6, 8).
func (m *machine) scoped(f *frame, scope *ir.Pick) (expr.Scope, *Fault) {
	if scope.Expr == 0 {
		return m.scope(f), nil
	}
	v, ok, fault := m.pick(scope, m.scope(f))
	if fault != nil || !ok {
		return m.scope(f), fault // selects nothing: not filtered
	}
	return m.alone(f, v), nil
}

// arguments are what a function is called with.
func (m *machine) arguments(f *frame, op *ir.Call) (expr.Result, *Fault) {
	scope, fault := m.scoped(f, &op.Scope)
	switch {
	case fault != nil:
		return expr.Result{}, fault
	case op.Args != 0:
		if b, ok := ir.BuiltinOf(m.p.Functions[op.Function].Operation); ok && b.Authorized {
			return m.authorized(f, op)
		}
		return m.eval(op.Args, scope)
	case op.Data:
		return expr.Result{Value: scope.Data}, nil
	}
	return expr.Result{Value: expr.EmptyObject}, nil
}

// authorized is arguments with marks in them for the credentials of the call. Text of the data must
// not look like one, or who sends it could have the credentials put where they are told.
func (m *machine) authorized(f *frame, op *ir.Call) (expr.Result, *Fault) {
	with := func(scheme, parameter string) (expr.Result, *Fault) {
		return m.eval(op.Args, m.scope(f, binding{"authorization", expr.Object(
			expr.Member{Key: "parameter", Value: expr.String(parameter)},
			expr.Member{Key: "scheme", Value: expr.String(scheme)},
		)}))
	}
	r, fault := with("", "")
	switch {
	case fault != nil:
		return r, fault
	case texts.Any(r.Value, func(text string) bool { return strings.Contains(text, ir.AuthorizationMark) }):
		return r, &Fault{
			Name: FaultExpression, Pos: m.p.Exprs[op.Args].Pos,
			Detail: fmt.Sprintf("the arguments refer to $authorization, so no text in them may have %q in it", ir.AuthorizationMark),
		}
	}
	return with(ir.AuthorizationScheme, ir.AuthorizationParameter)
}

func (m *machine) call(f *frame, n *ir.Node, op *ir.Call) {
	r, fault := m.arguments(f, op)
	if fault != nil {
		m.raise(f, fault)
		return
	}
	m.holes(f, n, r)
	args := r.Value
	fn := &m.p.Functions[op.Function]
	parked := int32(0)
	if m.host.Parks != nil && m.host.Parks(fn) {
		parked = 1
	}
	t := f.open(WaitCall, parked, 0)
	f.phase = phaseWait
	m.command(Invoke{Ticket: t, Function: *fn, Args: args, Attempt: int(f.attempt), Node: n.Name, Deadline: m.deadline(f)})
	m.record(Record{Type: RecCalled, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: fn.Name, Ticket: t, Attempt: int(f.attempt), Data: args, HasData: true})
}

// deadline is when the innermost region around a frame that has a timeout times out; 0: only the workflow has one.
func (m *machine) deadline(f *frame) Time {
	for ; f.kind != kindRoot; f = m.s.frame(f.parent) {
		var at Time
		for _, w := range f.waits {
			if (w.kind == WaitDeadline || w.kind == WaitTotal) && (at == 0 || w.at < at) {
				at = w.at
			}
		}
		if at != 0 {
			return at
		}
	}
	return 0
}

// returned takes a call's answer.
func (m *machine) returned(f *frame, in Reply) {
	n := &m.p.Nodes[f.node]
	op, ok := n.Op.(*ir.Call)
	if !ok {
		m.breakf("frame %d waits for a call at a node that makes none", f.id)
		return
	}
	name := m.p.Functions[op.Function].Name
	if in.Fault = m.inItem(f, in.Fault); in.Fault != nil {
		m.record(Record{Type: RecCallFailed, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: name, Ticket: in.Ticket, Fault: in.Fault, Text: in.Text})
		m.raise(f, in.Fault)
		return
	}
	m.record(Record{Type: RecReturned, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: name, Ticket: in.Ticket, Data: in.Value, HasData: !in.None, Text: in.Text})
	if !in.None {
		if fault := m.put(f, n, &op.Result, in.Value, false); fault != nil {
			m.raise(f, fault)
			return
		}
	}
	m.advance(f, n)
}

func (m *machine) spawn(f *frame, n *ir.Node, op *ir.Spawn) {
	input := f.data
	if op.From != 0 {
		r, fault := m.eval(op.From, m.scope(f))
		if fault != nil {
			m.raise(f, fault)
			return
		}
		if !r.Missing {
			input = r.Value
		}
	}
	if !input.IsObject() && !m.p.AnyInput {
		m.raise(f, &Fault{Name: FaultData, Data: input, Detail: fmt.Sprintf("the input of workflow %q must be an object, not %s", op.Workflow, input.Kind().WithArticle())})
		return
	}
	f.tickets++
	t := ticket(f.id, f.tickets)
	awaited := op.Wait || op.Continue && m.host.Awaited
	m.command(Spawn{Ticket: t, Workflow: op.Workflow, Version: op.Version, Latest: op.Latest, Input: input, Wait: awaited, Continue: op.Continue && !awaited})
	m.record(Record{Type: RecSpawned, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: op.Workflow, Ticket: t, Data: input, HasData: true})
	if !awaited && !op.Continue {
		m.advance(f, n)
		return
	}
	f.waits = append(f.waits, wait{n: f.tickets, kind: WaitChild})
	f.phase = phaseWait
}

// childEnded takes the end of a child that was waited for.
func (m *machine) childEnded(f *frame, in Reply) {
	n := &m.p.Nodes[f.node]
	op, ok := n.Op.(*ir.Spawn)
	if !ok {
		m.breakf("frame %d waits for a child at a node that starts none", f.id)
		return
	}
	if op.Continue && !m.host.Awaited && in.Fault == nil { // it has begun
		m.advance(f, n)
		return
	}
	in.Fault = m.inItem(f, in.Fault)
	m.record(Record{Type: RecChildEnded, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: op.Workflow, Ticket: in.Ticket, Data: in.Value, HasData: in.Fault == nil && !in.None, Fault: in.Fault})
	if in.Fault != nil {
		fault := *in.Fault
		fault.Instance = "" // it arises here, for this workflow
		m.raise(f, &fault)
		return
	}
	if !in.None {
		if fault := m.put(f, n, &op.Result, in.Value, false); fault != nil {
			m.raise(f, fault)
			return
		}
	}
	if in.Terminate {
		// semantics.md §Control flow: terminate ends everything, also from inside a
		// sub-flow; the output is the active state's data.
		m.finish(Completed, m.stateData(f), nil, true)
		return
	}
	m.advance(f, n)
}

// stateData is the data of the state that frame f works for: that of the
// outermost fan around it, else its own.
func (m *machine) stateData(f *frame) expr.Value {
	data := f.data
	for f.kind != kindRoot {
		inFan := f.kind == kindBranch
		if f = m.s.frame(f.parent); inFan {
			data = f.data
		}
	}
	return data
}

// emitWhole produces an event of which the program gives every attribute that it likes.
func (m *machine) emitWhole(f *frame, n *ir.Node, op *ir.Emit) {
	r, fault := m.eval(op.From, m.scope(f))
	if fault != nil {
		m.raise(f, fault)
		return
	}
	f.tickets++
	out := Emit{Ticket: ticket(f.id, f.tickets), Name: m.p.Events[op.Event].Name}
	event := expr.Object(
		expr.Member{Key: "id", Value: expr.String(m.host.Key(out.Ticket))},
		expr.Member{Key: "source", Value: expr.String(m.p.Events[op.Event].Source)},
		expr.Member{Key: "specversion", Value: expr.String("1.0")},
		expr.Member{Key: "time", Value: expr.String(m.now.String())},
		expr.Member{Key: "type", Value: expr.String(m.p.Events[op.Event].Type)},
	)
	for _, a := range r.Value.Members() {
		if a.Key != "data" {
			a.Value = attribute(a.Value)
		}
		event = event.With(a.Key, a.Value)
	}
	if kind, _ := event.Get("type"); kind.Kind() != expr.KindString || kind.Str() == "" {
		m.raise(f, &Fault{Name: FaultData, Data: event, Detail: "an event must have a type, which is a text that is not empty"})
		return
	}
	out.Event = event
	m.command(out)
	m.record(Record{Type: RecProduced, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: out.Name, Ticket: out.Ticket, Data: event, HasData: true})
	if fault := m.put(f, n, &op.Result, event, false); fault != nil {
		m.raise(f, fault)
		return
	}
	m.advance(f, n)
}

func (m *machine) emit(f *frame, n *ir.Node, op *ir.Emit) {
	if op.Whole {
		m.emitWhole(f, n, op)
		return
	}
	ev := &m.p.Events[op.Event]
	scope, fault := m.scoped(f, &op.Scope)
	out := Emit{Name: ev.Name, Source: ev.Source, Type: ev.Type}
	var r expr.Result
	switch {
	case fault != nil:
	case op.From != 0:
		if r, fault = m.eval(op.From, scope); fault == nil {
			m.holes(f, n, r)
			out.Data, out.HasData = r.Value, true
		}
	case op.Pick.Expr != 0:
		if out.Data, out.HasData, fault = m.pick(&op.Pick, scope); fault == nil && !out.HasData {
			m.warn(f, n, "%s selects nothing; event %q has no data", clip(m.p.Exprs[op.Pick.Expr].Src), ev.Name)
		}
	}
	if fault == nil && op.Attrs != 0 {
		if r, fault = m.eval(op.Attrs, scope); fault == nil {
			m.holes(f, n, r)
			for _, a := range r.Value.Members() {
				if !a.Value.IsNull() {
					out.Attrs = append(out.Attrs, expr.Member{Key: a.Key, Value: attribute(a.Value)})
				}
			}
		}
	}
	if fault != nil {
		m.raise(f, fault)
		return
	}
	f.tickets++
	out.Ticket = ticket(f.id, f.tickets)
	m.command(out)
	m.record(Record{Type: RecProduced, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: ev.Name, Ticket: out.Ticket, Data: out.Data, HasData: out.HasData})
	m.advance(f, n)
}

// attribute makes a value fit for a CloudEvents context attribute.
func attribute(v expr.Value) expr.Value {
	if v.IsArray() || v.IsObject() {
		return expr.String(v.String())
	}
	return v
}
