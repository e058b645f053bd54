package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Fault is a workflow-level error: data that climbs the frames until a Catch
// matches.
type Fault struct {
	Name   string     `json:"name"`             // domain name; "Error" where only a technical code is known
	Code   string     `json:"code,omitempty"`   // the service's own code, or the exit code
	Status string     `json:"status,omitempty"` // HTTP status
	Title  string     `json:"title,omitempty"`
	Type   string     `json:"type,omitempty"`
	Detail string     `json:"detail,omitempty"` // a sentence for people
	Data   expr.Value `json:"data,omitzero"`    // the body of the answer, or what the expression saw
	Node   string     `json:"node,omitempty"`   // where it arose
	Pos    ir.Pos     `json:"pos,omitzero"`
	// Instance is where it arose as a JSON pointer into the definition, for dialects whose
	// errors tell that.
	Instance string `json:"instance,omitempty"`
	Final    bool   `json:"final,omitempty"` // cannot be caught

	Args  expr.Value `json:"args,omitzero"`  // of a call that failed: what the function was given
	State expr.Value `json:"state,omitzero"` // of an instance that failed: what the expressions of the state see, unless Data is that
	Cut   []string   `json:"cut,omitempty"`  // which of args, data and state are the beginning of their text: see [MaxFaultData]
	Trail []Hop      `json:"trail,omitempty"`
	Item  *Item      `json:"item,omitempty"` // of a foreach that it arose in, the innermost
}

// Hop is where a fault was in a workflow that another one waits for. The Trail of a
// fault has the innermost first; Node and Pos are of the workflow that has the fault now.
type Hop struct {
	Workflow string `json:"workflow"`
	Node     string `json:"node,omitempty"`
	Pos      ir.Pos `json:"pos,omitzero"`
}

// faultTimeout is the name of the fault of an action or region that takes too long.
const faultTimeout = "Timeout"

// faultNoSecret is the name of the fault of an expression that asks for a secret which does not
// exist; calls that need one fail alike.
const faultNoSecret = "authorization"

// Names of other faults that the core and the engine raise themselves.
const (
	FaultUnnamed    = "Error"                // a technical failure without a name of its own
	FaultData       = "DataError"            // data of the wrong kind for what the definition does with it
	FaultExpression = "ExpressionError"      // an expression cannot be evaluated, or exceeds a limit
	FaultSchema     = "SchemaViolation"      // data does not adhere to its schema
	FaultRestricted = "TransitionRestricted" // a transition's expression is not satisfied
	FaultNoFunction = "FunctionNotFound"
	FaultNoWorkflow = "WorkflowNotFound"
	FaultStepLimit  = "StepLimit"  // a loop without waiting
	FaultStateLimit = "StateLimit" // frames, fan width or data beyond the limits
	FaultCancelled  = "Cancelled"  // a child was cancelled or terminated from outside
)

func (f *Fault) Error() string {
	s := f.Name
	if f.Code != "" {
		s += " (" + f.Code + ")"
	} else if f.Status != "" {
		s += " (" + f.Status + ")"
	}
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	return s
}

// seen is the largest value that the fault carries.
func (f *Fault) seen() expr.Value {
	if f == nil {
		return expr.Null
	}
	return f.Data
}

// MaxFaultData bounds each value that a fault keeps for people ("fault-data"): a fault
// is stored, and handed from workflow to workflow.
const MaxFaultData = 64 << 10

// truncated is the fault as a failed instance keeps it: with the data of its state, and
// nothing that is too large. What a child's fault saw is more than what its parent does. Half of a
// secret is not found any more, so seal, which may be nil, keeps them out before.
func (f *Fault) truncated(state expr.Scope, seal Sealer) *Fault {
	out := *f
	if data := shown(state); len(f.Trail) == 0 && !expr.Equal(data, f.Data) {
		out.State = data
	}
	return out.shortened(MaxFaultData, seal)
}

// shortened is the fault without secrets and with the beginning of what is larger than a limit.
func (f *Fault) shortened(limit int, seal Sealer) *Fault {
	out := *f
	out.Cut = nil
	for _, v := range []struct {
		name  string
		value *expr.Value
	}{{"args", &out.Args}, {"data", &out.Data}, {"state", &out.State}} {
		cut := slices.Contains(f.Cut, v.name)
		if !cut && seal != nil {
			*v.value = seal.Redact(*v.value)
		}
		if !cut {
			*v.value, cut = shorten(*v.value, limit)
		}
		if cut {
			out.Cut = append(out.Cut, v.name)
		}
	}
	return &out
}

// Redacted is the fault without secrets; seal may be nil.
func (f *Fault) Redacted(seal Sealer) *Fault {
	if seal == nil || f == nil {
		return f
	}
	out := *f
	for _, text := range []*string{&out.Name, &out.Code, &out.Status, &out.Title, &out.Type, &out.Detail} {
		*text = seal.Message(*text)
	}
	for _, v := range []*expr.Value{&out.Data, &out.Args, &out.State} {
		*v = seal.Redact(*v)
	}
	if f.Item != nil {
		item := *f.Item
		item.Value = seal.Redact(item.Value)
		out.Item = &item
	}
	return &out
}

// Shorten replaces a value that is larger than MaxFaultData by the beginning of its text.
func Shorten(v expr.Value) (short expr.Value, cut bool) { return shorten(v, MaxFaultData) }

func shorten(v expr.Value, limit int) (short expr.Value, cut bool) {
	b := expr.Budget{Output: limit}
	text, err := b.AppendJSON(nil, v)
	if err == nil {
		return v, false
	}
	return expr.String(strings.ToValidUTF8(string(text[:min(len(text), limit)]), "")), true
}

// matches says whether the catch is meant for the fault (semantics.md §Functions,
// events, errors: onErrors). Any is decided by the caller, after the specific ones.
func matches(c *ir.Catch, f *Fault) bool {
	if c.Any {
		return false
	}
	if len(c.When) > 0 {
		return matchesOne(c.When, f)
	}
	named := c.Error != "" && f.called(c.Error)
	if c.Code == "" {
		return named
	}
	coded := c.Code == f.Code || c.Code == f.Status
	if c.Error == "" {
		return coded
	}
	uncoded := f.Code == "" && f.Status == ""
	return named && (coded || uncoded) || f.Name == FaultUnnamed && coded
}

// matchesOne reports whether one of several selections is meant for the fault: see [ir.Match].
func matchesOne(list []ir.Match, f *Fault) bool {
	return slices.ContainsFunc(list, func(m ir.Match) bool {
		if m.Code != "" && (m.Error == "" || f.Code != "" || f.Status != "") {
			if m.Code != f.Code && m.Code != f.Status {
				return false
			}
		} else if m.Error != "" && !f.called(m.Error) {
			return false
		}
		return (m.Type == "" || m.Type == f.Type) && (m.Status == "" || m.Status == cmp.Or(f.Status, f.Code)) &&
			(m.Instance == "" || m.Instance == f.Instance)
	})
}

// called reports whether that is the name, title or type of the fault.
func (f *Fault) called(name string) bool { return name == f.Name || name == f.Title || name == f.Type }

// catchFor finds the handler of a fault in the region of a frame: a specific definition
// beats a wildcard, whatever their order. A condition that cannot be evaluated is a fault that
// takes the place of the first one.
func (m *machine) catchFor(f *frame, fault *Fault) (handler int, instead *Fault) {
	if fault.Final || f.kind == kindRoot {
		return -1, nil
	}
	wild := -1
	r := &m.p.Regions[f.region]
	for i := range r.Catch {
		c := &r.Catch[i]
		specific := matches(c, fault)
		if !specific && (!c.Any || wild >= 0) || matchesOne(c.Except, fault) {
			continue
		}
		switch ok, instead := m.selects(f, c, c.Only, fault); {
		case instead != nil:
			return -1, instead
		case ok && specific:
			return i, nil
		case ok:
			wild = i
		}
	}
	return wild, nil
}

// selects reports whether a filter of a Catch selects a fault of the region of frame f.
func (m *machine) selects(f *frame, c *ir.Catch, only *ir.ErrorFilter, fault *Fault) (bool, *Fault) {
	if only == nil {
		return true, nil
	}
	object := m.p.errorObject(fault)
	for _, want := range only.With {
		have, _ := object.Get(want.Name)
		if v, err := expr.ParseJSON([]byte(want.Value)); err != nil || !expr.Equal(v, have) {
			return false, nil
		}
	}
	for _, cond := range []struct {
		id   ir.ExprID
		want bool
	}{{only.When, true}, {only.Except, false}} {
		if cond.id == 0 {
			continue
		}
		in := m.handlerScope(f, c, object)
		if !m.p.Variables {
			lent := lentError(object)
			if in.Lent = m.overlay(lent, in.Lent); !in.Data.IsObject() {
				in.Data = lent // it has no names that paths could begin with
			}
		}
		r, instead := m.eval(cond.id, in)
		if instead != nil {
			instead.Node, instead.Instance = m.stateOf(f), m.p.Regions[f.region].Ref
			m.p.typed(instead)
		}
		if instead != nil || r.True() != cond.want {
			return false, instead
		}
	}
	return true, nil
}

// handlerScope is what expressions of a handler see: what the region of frame f was entered
// with, the variables around it, and the error.
func (m *machine) handlerScope(f *frame, c *ir.Catch, object expr.Value) expr.Scope {
	if !m.p.Variables {
		return m.scope(f)
	}
	in := m.scope(m.s.frame(f.parent), binding{c.As, object})
	in.Data = f.input
	return in
}

// typed gives a fault the type, status and title that the program's errors have, where it has
// none of its own. A title goes with its type: a type of the author's does not get that of another.
func (p *Program) typed(f *Fault) *Fault {
	for _, t := range p.Errors {
		if t.Fault == f.Name || t.Fault == "" {
			if f.Type == "" || f.Type == t.Type {
				f.Type, f.Title = t.Type, cmp.Or(f.Title, t.Title)
			}
			f.Status = cmp.Or(f.Status, strconv.Itoa(t.Status))
			break
		}
	}
	return f
}

// ErrorObject is a fault as expressions of programs with error types see it.
func ErrorObject(f *Fault) expr.Value {
	status := expr.Null
	if n, err := strconv.Atoi(f.Status); err == nil {
		status = expr.Int(int64(n))
	}
	out := expr.Object(
		expr.Member{Key: "instance", Value: expr.String(f.Instance)},
		expr.Member{Key: "status", Value: status},
		expr.Member{Key: "type", Value: expr.String(f.Type)},
	)
	for _, m := range []struct{ key, text string }{{"title", f.Title}, {"detail", f.Detail}} {
		if m.text != "" {
			out = out.With(m.key, expr.String(m.text))
		}
	}
	return out
}

// errorObject is a fault as expressions of the program see it. In programs without error types it has a name and a
// message instead of a type and a title.
func (p *Program) errorObject(f *Fault) expr.Value {
	if len(p.Errors) > 0 {
		return ErrorObject(f)
	}
	out := expr.Object(expr.Member{Key: "name", Value: expr.String(f.Name)})
	for _, m := range []struct{ key, text string }{{"message", f.Detail}, {"code", f.Code}, {"status", f.Status}} {
		if m.text != "" {
			out = out.With(m.key, expr.String(m.text))
		}
	}
	return out
}

// lentError is what paths see of an error object where the data has nothing of that name: the error itself, and by
// their own names the members that say which it is.
func lentError(object expr.Value) expr.Value {
	out := expr.Object(expr.Member{Key: "error", Value: object})
	for _, key := range []string{"name", "message"} {
		if v, ok := object.Get(key); ok {
			out = out.With(key, v)
		}
	}
	return out
}

// raiseNode raises the fault that a program asks for.
func (m *machine) raiseNode(f *frame, op *ir.Raise) {
	fault := &Fault{Name: op.Error, Code: op.Code, Detail: op.Detail, Final: op.Final, Data: f.data}
	if op.From != 0 {
		r, failed := m.eval(op.From, m.scope(f))
		if failed != nil {
			m.raise(f, failed)
			return
		}
		text := func(name string) string {
			v, _ := r.Value.Get(name)
			if v.IsNull() {
				return ""
			}
			return v.Text()
		}
		fault.Type, fault.Status, fault.Title, fault.Detail = text("type"), text("status"), text("title"), text("detail")
		fault.Name = cmp.Or(fault.Title, fault.Type, FaultUnnamed)
	}
	m.raise(f, fault)
}

// raise lets a fault climb from frame f until a handler takes it.
func (m *machine) raise(f *frame, fault *Fault) {
	if m.s.status.Final() || m.broken != nil {
		return
	}
	if m.host.Sealer != nil {
		told := *fault
		told.Detail = m.host.Sealer.Message(told.Detail) // for people, and it may have a part of a secret
		fault = &told
	}
	if fault.Node == "" {
		n := &m.p.Nodes[f.node]
		located := *fault
		located.Node = m.stateOf(f)
		if located.Pos == (ir.Pos{}) {
			located.Pos = n.Pos
		}
		located.Instance = cmp.Or(located.Instance, n.Ref)
		if located.Item == nil {
			located.Item = m.itemOf(f)
		}
		fault = m.p.typed(&located)
	}
	sees := m.scope(f)
	for cur := f; ; {
		m.taskFaulted(cur, fault)
		i, instead := m.catchFor(cur, fault)
		if instead != nil {
			fault = instead
		}
		if i >= 0 && m.handle(cur, &m.p.Regions[cur.region], i, fault) {
			return
		}
		if cur.kind == kindRoot || cur.kind == kindDetached {
			m.finish(Failed, expr.Null, fault.truncated(sees, m.host.Sealer), false)
			return
		}
		next := m.s.frame(cur.parent)
		if next == nil {
			m.breakf("frame %d has no parent", cur.id)
			return
		}
		if cur.kind == kindBranch && m.holdItem(next, cur, fault) {
			return
		}
		cur = next
	}
}

// handle lets the i-th Catch of a region take a fault: retry the region, or go on
// at the handler with what the region was given (semantics.md §Data filters 12).
func (m *machine) handle(f *frame, r *ir.Region, i int, fault *Fault) bool {
	c := &r.Catch[i]
	if c.Retry != nil && m.retry(f, r, i, fault) {
		return true
	}
	if c.Next == 0 {
		return false
	}
	parent := m.s.frame(f.parent)
	if parent == nil || f.kind != kindEnter {
		m.breakf("region %d has a handler but was not entered", f.region)
		return true
	}
	m.record(Record{Type: RecCaught, Frame: f.id, Node: r.Name, Fault: fault})
	m.cut(f)
	parent.data, parent.dirty = f.input, true
	if op, ok := m.p.Nodes[c.Next].Op.(*ir.Enter); ok && op.Takes != "" {
		parent.bind(caughtError, ErrorObject(fault))
	}
	if c.Put != nil {
		if failed := m.put(parent, &m.p.Nodes[c.Next], c.Put, m.p.errorObject(fault), false); failed != nil {
			m.raise(parent, failed)
			return true
		}
	}
	m.goTo(parent, c.Next)
	return true
}

// stateOf names the state that frame f works for, or the node where that is not known.
func (m *machine) stateOf(f *frame) string { return m.s.owner(m.p, f) }

// runaway is the fault of an instance that never waits.
func (m *machine) runaway(f *frame) *Fault {
	where, why := fmt.Sprintf("%q", m.stateOf(f)), "is this a loop without an end?"
	for cur := f; cur.kind != kindRoot; {
		parent := m.s.frame(cur.parent)
		if parent == nil {
			break
		}
		if op, ok := m.p.Nodes[parent.node].Op.(*ir.Fan); ok && op.Each != nil && parent.fan != nil && cur.kind == kindBranch {
			where = fmt.Sprintf("item %d of %d of %s", cur.slot+1, parent.fan.total, where)
			why = "is this a loop without an end, or too many items inside an item?"
			break
		}
		cur = parent
	}
	return &Fault{
		Name: FaultStepLimit, Final: true,
		Detail: fmt.Sprintf("%d operations ran without waiting for anything, the last in %s (limit steps-without-waiting): %s", m.p.Limits.Steps, where, why),
	}
}
