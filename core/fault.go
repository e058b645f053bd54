package core

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/ir"
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
	if m.s.status.Final() {
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
	for cur := f; ; {
		r := &m.p.Regions[cur.region]
		if i := catchFor(r, fault); i >= 0 && cur.kind != kindRoot {
			if m.handle(cur, r, i, fault) {
				return
			}
		}
		if cur.kind == kindRoot || cur.kind == kindDetached {
			m.finish(Failed, expr.Null, fault, false)
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
	m.remove(f)
	parent.data, parent.dirty = f.input, true
	m.goTo(parent, c.Next)
	return true
}

// stateOf names the state that frame f works for: branches and actions have names of
// their own, which say little to who reads of a fault.
func (m *machine) stateOf(f *frame) string {
	own := m.p.Nodes[f.node].Name
	for cur := f; cur != nil; cur = m.s.frame(cur.parent) {
		if name := m.p.Nodes[cur.node].Name; m.p.states[name] {
			return name
		}
	}
	return own
}
