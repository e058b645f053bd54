package core

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Progress is how far a foreach is.
type Progress struct {
	State    string       `json:"state"` // its name
	Total    int          `json:"total"`
	Done     int          `json:"done"` // items that completed
	Failed   int          `json:"failed,omitempty"`
	InFlight int          `json:"inFlight,omitempty"` // items that run now
	Failures []FailedItem `json:"failures,omitempty"` // the first ones, by their index
}

// FailedItem is an item that failed, for people. Its value is in the fault, where that did not arise in an
// item of another foreach inside of it.
type FailedItem struct {
	Index int    `json:"index"`
	Fault *Fault `json:"fault"`
}

// Bounds of Progress: it is stored with every step.
const (
	MaxProgress        = 8   // foreach states at a time ("progress-states")
	MaxRunningFailures = 10  // failed items that are listed while the foreach runs ("failures-listed-running")
	MaxFailures        = 100 // failed items of an instance that failed ("failures-listed")
)

// Progress lists how far each foreach is that the instance runs or failed in, without those inside of
// others.
func (s *State) Progress(p *Program) []Progress {
	var out []Progress
	for _, f := range s.frames {
		if f.fan == nil || len(out) == MaxProgress {
			continue
		}
		op, ok := p.Nodes[f.node].Op.(*ir.Fan)
		if !ok || op.Each == nil || s.insideEach(p, f) {
			continue
		}
		out = append(out, s.progress(p, f))
	}
	return out
}

func (s *State) insideEach(p *Program, f *frame) bool {
	for f.kind != kindRoot && f.kind != kindDetached {
		parent := s.frame(f.parent)
		if op, ok := p.Nodes[parent.node].Op.(*ir.Fan); ok && op.Each != nil && f.kind == kindBranch {
			return true
		}
		f = parent
	}
	return false
}

func (s *State) progress(p *Program, f *frame) Progress {
	x := f.fan
	out := Progress{State: s.owner(p, f), Total: int(x.total), Done: int(x.ended), InFlight: int(x.live)}
	most := MaxRunningFailures
	if s.status.Final() {
		most = MaxFailures
	}
	for _, slot := range x.bad[:x.failed()] {
		fault := x.results[slot].fault
		if fault == nil {
			continue
		}
		if out.Failed++; out.Failed <= most {
			out.Failures = append(out.Failures, FailedItem{int(slot), fault.brief()})
		}
	}
	return out
}

// brief is the fault of an item in a list: without data, and not long.
func (f *Fault) brief() *Fault {
	out := *f
	out.Data, out.Args, out.State, out.Cut = expr.Null, expr.Null, expr.Null, nil
	if len(out.Detail) > MaxItemValue {
		out.Detail = strings.ToValidUTF8(out.Detail[:MaxItemValue], "") + "…"
	}
	return &out
}

// owner names the state that frame f works for, or its node where that is not known.
func (s *State) owner(p *Program, f *frame) string {
	own := ""
	for cur := f; cur != nil; cur = s.frame(cur.parent) {
		if state := p.owner[cur.node]; state != "" {
			return state
		}
		if own == "" { // a region that does nothing has no node
			own = p.Nodes[cur.node].Name
		}
	}
	return own
}
