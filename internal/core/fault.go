package core

import (
	"fmt"
	"slices"
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
	Final  bool       `json:"final,omitempty"` // cannot be caught

	Args  expr.Value `json:"args,omitzero"`  // of a call that failed: what the function was given
	State expr.Value `json:"state,omitzero"` // of an instance that failed: what the expressions of the state see, unless Data is that
	Cut   []string   `json:"cut,omitempty"`  // which of args, data and state are the beginning of their text: see [MaxFaultData]
	Trail []Hop      `json:"trail,omitempty"`
}

// Hop is where a fault was in a workflow that another one waits for. The Trail of a
// fault has the innermost first; Node and Pos are of the workflow that has the fault now.
type Hop struct {
	Workflow string `json:"workflow"`
	Node     string `json:"node,omitempty"`
	Pos      ir.Pos `json:"pos,omitzero"`
}

// Names of faults that the core and the engine raise themselves.
const (
	FaultUnnamed    = "Error"                // a technical failure without a name of its own
	FaultTimeout    = "Timeout"              // an action or region took too long
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

// told is the fault as a failed instance keeps it: with the data of its state, and
// nothing that is too large. What a child's fault saw is more than what its parent does.
func (f *Fault) told(state view) *Fault {
	out := *f
	if data := state.whole(); len(f.Trail) == 0 && !expr.Equal(data, f.Data) {
		out.State = data
	}
	out.Cut = nil
	for _, v := range []struct {
		name  string
		value *expr.Value
	}{{"args", &out.Args}, {"data", &out.Data}, {"state", &out.State}} {
		cut := slices.Contains(f.Cut, v.name)
		if !cut {
			*v.value, cut = Shorten(*v.value)
		}
		if cut {
			out.Cut = append(out.Cut, v.name)
		}
	}
	return &out
}

// Shorten replaces a value that is larger than MaxFaultData by the beginning of its text.
func Shorten(v expr.Value) (short expr.Value, cut bool) {
	b := expr.Budget{Output: MaxFaultData}
	text, err := b.AppendJSON(nil, v)
	if err == nil {
		return v, false
	}
	return expr.String(strings.ToValidUTF8(string(text[:min(len(text), MaxFaultData)]), "")), true
}

// matches says whether the catch is meant for the fault (SEMANTICS §Functions,
// events, errors: onErrors). Any is decided by the caller, after the specific ones.
func matches(c *ir.Catch, f *Fault) bool {
	if c.Any {
		return false
	}
	named := c.Error != "" && (c.Error == f.Name || c.Error == f.Title || c.Error == f.Type)
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

// catchFor finds the handler of a fault in a region: a specific definition beats
// a wildcard, whatever their order.
func catchFor(r *ir.Region, f *Fault) int {
	if f.Final {
		return -1
	}
	wild := -1
	for i := range r.Catch {
		if matches(&r.Catch[i], f) {
			return i
		}
		if r.Catch[i].Any && wild < 0 {
			wild = i
		}
	}
	return wild
}

// raise lets a fault climb from frame f until a handler takes it.
func (m *machine) raise(f *frame, fault *Fault) {
	if m.s.status.Final() || m.broken != nil {
		return
	}
	if fault.Node == "" {
		n := &m.p.Nodes[f.node]
		located := *fault
		located.Node = m.stateOf(f)
		if located.Pos == (ir.Pos{}) {
			located.Pos = n.Pos
		}
		fault = &located
	}
	sees := f.view()
	for cur := f; ; {
		r := &m.p.Regions[cur.region]
		if i := catchFor(r, fault); i >= 0 && cur.kind != kindRoot {
			if m.handle(cur, r, i, fault) {
				return
			}
		}
		if cur.kind == kindRoot || cur.kind == kindDetached {
			m.finish(Failed, expr.Null, fault.told(sees), false)
			return
		}
		next := m.s.frame(cur.parent)
		if next == nil {
			m.breakf("frame %d has no parent", cur.id)
			return
		}
		cur = next
	}
}

// handle lets the i-th Catch of a region take a fault: retry the region, or go on
// at the handler with what the region was given (SEMANTICS §Data filters 12).
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
	m.goTo(parent, c.Next)
	return true
}

// stateOf names the state that frame f works for, or the node where that is not known.
func (m *machine) stateOf(f *frame) string {
	own := ""
	for cur := f; cur != nil; cur = m.s.frame(cur.parent) {
		if state := m.p.owner[cur.node]; state != "" {
			return state
		}
		if own == "" { // a region that does nothing has no node
			own = m.p.Nodes[cur.node].Name
		}
	}
	return own
}

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
