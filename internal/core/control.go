package core

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func (m *machine) control(in Control) error {
	s := m.s
	refuse := func(format string, args ...any) error {
		return &Rejected{Msg: fmt.Sprintf(format, args...)}
	}
	failed := s.status == Failed
	switch in.Verb {
	case VerbLabel:
		if !in.Data.IsObject() {
			return refuse("labels must be an object")
		}
		if tags, ok := in.Data.Get(JobTags); ok && m.p.Job && !areTags(tags) {
			return refuse("the tags of a job must be a list of texts")
		}
	case VerbRetry, VerbSkip:
		if !failed {
			return refuse("only a failed instance can be given %s; this one is %s", in.Verb, s.Status())
		}
		if in.Verb == VerbSkip && !in.HasData {
			return refuse("skip needs the output that the failed state should have given")
		}
	case VerbAmend:
		if s.status.Final() && !(m.p.Job && s.status == Completed) {
			return refuse("the instance is %s already", s.status)
		}
	default:
		if s.status.Final() {
			return refuse("the instance is %s already", s.status)
		}
	}
	switch in.Verb {
	case VerbSuspend:
		if s.paused {
			return refuse("the instance is paused already")
		}
	case VerbResume:
		if !s.paused {
			return refuse("the instance is not paused")
		}
	case VerbAmend:
		if !in.HasData {
			return refuse("amend needs data")
		}
		if m.innermost().fan != nil {
			return refuse("branches or iterations work with the data now; amend it when they are done")
		}
	case VerbCancel:
		if s.undoing {
			return refuse("the instance is being cancelled already")
		}
	case VerbSkip:
		if m.afterState(s.root()) == 0 {
			return refuse("the state has several ways out, and skip cannot choose; retry it with amended data")
		}
	}
	record := Record{Type: RecControl, Name: string(in.Verb), Text: in.Actor, Data: in.Data, HasData: in.HasData}
	if m.p.Job {
		if err := m.jobControl(&in, &record); err != nil {
			return err
		}
	}
	m.record(record)
	m.waited()
	return m.intervene(in)
}

func (m *machine) intervene(in Control) error {
	s := m.s
	switch in.Verb {
	case VerbCancel:
		s.paused, s.costly = false, false
		if in.Compensate {
			m.cancelUndoing()
		} else {
			m.finish(Cancelled, expr.Null, nil, false)
		}
	case VerbTerminate:
		s.paused, s.costly = false, false
		m.finish(Terminated, expr.Null, nil, false)
	case VerbSuspend:
		s.paused, s.costly = true, in.TooExpensive
	case VerbResume:
		s.paused, s.costly = false, false
	case VerbLabel:
		s.labels = m.labelled(in.Data)
	case VerbRetry, VerbSkip:
		f := s.root()
		if in.HasData {
			if fault := m.setData(f, in.Data); fault != nil {
				return &Rejected{Msg: fault.Detail}
			}
		}
		s.status, s.fault, s.output, s.paused, s.costly = Running, nil, expr.Null, false, false
		f.phase, f.dirty = phaseRun, true
		if in.Verb == VerbSkip {
			f.node = m.afterState(f)
		}
	case VerbAmend:
		f := m.innermost()
		if fault := m.setData(f, in.Data); fault != nil {
			return &Rejected{Msg: fault.Detail}
		}
		for _, o := range s.frames {
			o.bulk.saved = nil // pages may refer to the data that is replaced
		}
	default:
		return &Rejected{Msg: fmt.Sprintf("unknown verb %q", in.Verb)}
	}
	return nil
}

// cancelUndoing stops what runs and compensates what completed; the instance is
// cancelled when that is done.
func (m *machine) cancelUndoing() {
	root := m.s.root()
	m.closeAll()
	m.closeWaits(root, func(wait) bool { return true })
	m.forgetFan(root)
	root.phase, m.s.undoing = phaseWait, true
	m.undo(root)
}

// afterState is the node that completes the state which frame f works on, 0 where
// there are several.
func (m *machine) afterState(f *frame) ir.NodeID {
	id := f.node
	for range m.p.Nodes {
		n := &m.p.Nodes[id]
		if _, fork := n.Op.(*ir.Branch); fork {
			return 0
		}
		if id = n.Next; id == 0 || m.p.Nodes[id].Mark == ir.MarkLeft {
			return id
		}
	}
	return 0
}

// innermost is the frame that works on the current state: down from the root
// along regions that were entered.
func (m *machine) innermost() *frame {
	f := m.s.root()
	for {
		i := slices.IndexFunc(m.s.frames, func(c *frame) bool { return c.parent == f.id && (c.kind == kindEnter || c.kind == kindUndo) })
		if i < 0 {
			return f
		}
		f = m.s.frames[i]
	}
}
