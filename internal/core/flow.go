package core

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// complete ends the region of frame f: its data goes back to whoever waits.
func (m *machine) complete(f *frame) { m.leave(f, 0) }

// leave ends the region of frame f; the frame that entered it goes on at out, or
// at the Next of its Enter.
func (m *machine) leave(f *frame, out ir.NodeID) {
	switch f.kind {
	case kindRoot: // the last node of the workflow without an End
		m.end(f, &ir.End{})
		return
	case kindDetached:
		m.remove(f)
		if r := m.s.root(); r.phase == phaseParked && !m.lingers() {
			m.finish(Completed, r.data, nil, false)
		}
		return
	}
	parent := m.s.frame(f.parent)
	if parent == nil {
		m.breakf("frame %d has no parent", f.id)
		return
	}
	slot := f.slot
	f.slot = -1 // it completed: nothing is interrupted
	m.remove(f)
	region := &m.p.Regions[f.region]
	if region.Undo != 0 && f.kind != kindUndo {
		m.s.done.push(f.region)
	}
	n := &m.p.Nodes[parent.node]
	switch f.kind {
	case kindEnter:
		for _, v := range f.delta.Items() {
			m.collect(parent, v)
		}
		if op, ok := n.Op.(*ir.Enter); out != 0 || !ok || !op.Drop {
			parent.data = f.data
		}
		parent.dirty = true
		if out != 0 {
			m.goTo(parent, out)
			return
		}
		m.advance(parent, n)
	case kindBranch:
		if op, ok := n.Op.(*ir.Fan); ok && (op.Join == ir.JoinArray || op.Join == ir.JoinFirst || op.Join == ir.JoinLast) {
			m.branchEnded(parent, slot, f.data, true)
			return
		}
		m.branchEnded(parent, slot, f.delta, f.delta.Len() > 0)
	case kindUndo:
		parent.data, parent.phase, parent.dirty = f.data, phaseRun, true
		if m.s.undoing {
			m.undo(parent)
		}
	}
}

// end finishes the instance with the data of frame f as output.
func (m *machine) end(f *frame, op *ir.End) {
	out := f.data
	if op.Terminate && !op.Own {
		out = m.stateData(f)
	}
	out = m.p.Model.Output(out)
	if m.p.OutputSchema != 0 {
		violations, fault := m.violations(m.p.OutputSchema, out)
		if fault == nil && len(violations) > 0 {
			text := "the workflow output does not adhere to its schema: " + describe(violations)
			if m.p.WarnSchemas || m.p.WarnOutput {
				m.warn(f, &m.p.Nodes[f.node], "%s", text)
			} else {
				fault = &Fault{Name: FaultSchema, Detail: text, Data: out, Final: true, Pos: m.p.Exprs[m.p.OutputSchema].Pos}
			}
		}
		if fault != nil {
			m.raise(f, fault)
			return
		}
	}
	if op.Fail != "" {
		m.finish(Failed, out, &Fault{Name: op.Fail, Detail: fmt.Sprintf("the workflow ended with status %s", op.Fail), Node: m.p.Nodes[f.node].Name}, false)
		return
	}
	if !op.Terminate && f.kind == kindRoot && m.lingers() {
		f.phase, f.dirty = phaseParked, true
		return
	}
	m.finish(Completed, out, nil, op.Terminate && !op.Own)
}

// lingers reports whether there are detached frames that the end of the instance waits for.
func (m *machine) lingers() bool {
	return slices.ContainsFunc(m.s.frames, func(f *frame) bool { return f.kind == kindDetached && !m.p.Regions[f.region].Daemon })
}

// finish ends the instance: every frame but the root is closed. The root of a
// failed instance stays where it was, so that it can be retried from there, with the
// foreach that it failed in; and so does one whose data is kept.
func (m *machine) finish(status Status, out expr.Value, fault *Fault, terminate bool) {
	root := m.s.root()
	var kept []*frame
	if status == Failed {
		kept = m.keepItems()
	}
	m.closeAll(kept...)
	m.taskBecame(TaskCancelled, root, nil)
	root.faulted = false
	m.closeWaits(root, func(wait) bool { return true })
	if status != Failed || !m.topEach(root) {
		m.forgetFan(root)
	}
	root.taken, root.heard, root.phase = nil, nil, phaseWait
	if status != Failed && !m.p.Model.Keeps() {
		m.s.frames = nil
		if root.stored {
			m.s.gone = append(m.s.gone, root.pages()...)
		}
	}
	if status != Failed {
		m.s.done.clear()
		m.s.gone = m.s.contextBulk.gone(m.s.gone, Page{Part: partVars})
		m.s.context, m.s.contextBulk = expr.Null, bulk{}
	}
	m.s.status, m.s.output, m.s.fault, m.s.stash, m.s.undoing = status, out, fault, nil, false
	m.command(Finish{Status: status, Output: out, Fault: fault, Terminate: terminate})
	m.record(Record{Type: RecFinished, Status: status, Data: out, HasData: fault == nil || !out.IsNull(), Fault: fault})
}
