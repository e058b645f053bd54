package core

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func (m *machine) control(in Control) error {
	in.Items = in.Items && in.Verb == VerbRetry
	if why := m.refusal(in); why != "" {
		return &Rejected{Msg: why}
	}
	record := Record{Type: RecControl, Name: string(in.Verb), Text: in.Actor, Data: in.Data, HasData: in.HasData}
	if in.Items {
		each, _ := m.s.keptEach()
		record.Data, record.HasData = expr.Object(expr.Member{Key: "failedItems", Value: expr.Int(int64(len(each.fan.bad)))}), true
	}
	if err := m.adapt(&in, &record); err != nil {
		return &Rejected{Msg: err.Error()}
	}
	m.record(record)
	m.waited()
	return m.intervene(in)
}

// refusal says why an intervention is not possible now, if it is not.
func (m *machine) refusal(in Control) string {
	status := m.s.status
	switch in.Verb {
	case VerbLabel:
		if !in.Data.IsObject() {
			return "labels must be an object"
		}
		return ""
	case VerbRetry, VerbSkip:
		if status != Failed {
			return fmt.Sprintf("only a failed instance can be given %s; this one is %s", in.Verb, m.s.Status())
		}
		if each, _ := m.s.keptEach(); in.Items && each == nil {
			return "the instance did not fail in a foreach, so it has no failed items; retry it without that"
		}
		if in.Items && in.HasData {
			return "the failed items are those of the data that is there; give either new data or the failed items"
		}
		if in.Verb == VerbSkip && !in.HasData {
			return "skip needs the output that the failed state should have given"
		}
		if in.Verb == VerbSkip && m.afterState(m.s.root()) == 0 {
			return "the state has several ways out, and skip cannot choose; retry it with amended data"
		}
		return ""
	}
	kept := in.Verb == VerbAmend && status == Completed && m.p.Model.Keeps()
	switch {
	case status.Final() && !kept:
		return fmt.Sprintf("the instance is %s already", status)
	case in.Verb == VerbSuspend && m.s.paused:
		return "the instance is paused already"
	case in.Verb == VerbResume && !m.s.paused:
		return "the instance is not paused"
	case in.Verb == VerbCancel && m.s.undoing:
		return "the instance is being cancelled already"
	case in.Verb == VerbAmend && !in.HasData:
		return "amend needs data"
	case in.Verb == VerbAmend && m.innermost().fan != nil:
		return "branches or iterations work with the data now; amend it when they are done"
	}
	return ""
}

// adapt lets the program's model say what new data and labels are, and what is recorded.
func (m *machine) adapt(in *Control, record *Record) (err error) {
	switch in.Verb {
	case VerbAmend:
		f := m.innermost()
		in.Data, record.Data, err = m.p.Model.Amend(f.data, in.Data)
		if err != nil {
			return err
		}
		if fault := m.tooLarge(in.Data); fault != nil {
			return errors.New(fault.Detail)
		}
		if m.p.Model.Keeps() {
			record.Node = m.p.Nodes[f.node].Name // records of states do not tell this data
		}
	case VerbLabel:
		in.Data, record.Data, err = m.p.Model.Label(m.s.labels, in.Data)
	}
	return err
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
		m.tasksBecame(TaskSuspended)
	case VerbResume:
		s.paused, s.costly = false, false
		m.tasksBecame(TaskResumed)
	case VerbLabel:
		s.labels = in.Data
	case VerbRetry, VerbSkip:
		if in.Items {
			m.retryItems()
			return nil
		}
		f := s.root()
		if in.HasData {
			if fault := m.setData(f, in.Data); fault != nil {
				return &Rejected{Msg: fault.Detail}
			}
		}
		m.dropKept()
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
