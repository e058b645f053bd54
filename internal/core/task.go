package core

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// What can become of a task besides being entered and left: the names of records of type RecTask.
const (
	TaskFaulted    = "faulted" // with the fault
	TaskCancelled  = "cancelled"
	TaskSuspended  = "suspended"
	TaskResumed    = "resumed"
	TaskCorrelated = "correlated" // it has the events that it listened for; with its correlation keys
)

// openTasks says of each node for which task a frame that stands there works: the node where the task was
// entered. It is 0 before the task is entered and after it is left, and in programs whose nodes have no Ref.
// Regions inside of the task have frames of their own.
func openTasks(p *ir.Program) []ir.NodeID {
	out := make([]ir.NodeID, len(p.Nodes))
	type task struct{ name, ref string } // the tasks of an extension are there for each that it extends
	of := func(id ir.NodeID) task { return task{p.Nodes[id].Name, p.Nodes[id].Ref} }
	entries := map[task]ir.NodeID{}
	var outs []ir.NodeID
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Mark == ir.MarkEntered && n.Ref != "" {
			entries[of(ir.NodeID(i))] = ir.NodeID(i)
		}
		if n.Out != 0 { // whatever leads there is in another frame
			outs = append(outs, n.Out)
		}
	}
	var walk func(id, entry ir.NodeID)
	walk = func(id, entry ir.NodeID) {
		n := &p.Nodes[id]
		if id == 0 || out[id] != 0 || of(id) != of(entry) {
			return
		}
		out[id] = entry
		if n.Mark == ir.MarkLeft {
			return
		}
		walk(n.Next, entry)
		switch op := n.Op.(type) {
		case *ir.Branch:
			for _, c := range op.Cases {
				walk(c.Next, entry)
			}
		case *ir.Await:
			walk(op.OnTimeout, entry)
			for _, a := range op.Arms {
				walk(a.Next, entry)
			}
		case *ir.Enter:
			for _, c := range p.Regions[op.Region].Catch {
				walk(c.Next, entry)
			}
		}
	}
	for i := range p.Nodes {
		if id := ir.NodeID(i); entries[of(id)] == id {
			walk(id, id)
		}
	}
	for _, id := range outs {
		if entry := entries[of(id)]; entry != 0 {
			walk(id, entry)
		}
	}
	return out
}

// openTask is the task that frame f works for itself; nil: none, or it faulted and is retried.
func (m *machine) openTask(f *frame) *ir.Node {
	if f.faulted || m.p.open[f.node] == 0 || slices.ContainsFunc(f.waits, func(w wait) bool { return w.kind == WaitRetry }) {
		return nil
	}
	return &m.p.Nodes[m.p.open[f.node]]
}

// taskBecame records what became of the task that frame f works for, if there is one.
func (m *machine) taskBecame(what string, f *frame, fault *Fault) {
	if n := m.openTask(f); n != nil {
		m.record(Record{Type: RecTask, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: what, Fault: fault})
	}
}

// taskFaulted records that a fault passes the task of frame f. What the fault saw is in other records.
func (m *machine) taskFaulted(f *frame, fault *Fault) {
	m.taskBecame(TaskFaulted, f, &Fault{
		Name: fault.Name, Status: fault.Status, Title: fault.Title, Type: fault.Type, Detail: fault.Detail,
		Node: fault.Node, Instance: fault.Instance,
	})
	f.faulted = true
}

// tasksBecame records the same for all tasks, those around others first.
func (m *machine) tasksBecame(what string) {
	for _, f := range m.s.frames {
		m.taskBecame(what, f, nil)
	}
}

// correlatedAll records that a Feed has its events, and the keys that they were correlated by.
func (m *machine) correlatedAll(f *frame, n *ir.Node, op *ir.Feed) {
	if n.Ref == "" {
		return
	}
	r := Record{Type: RecTask, Frame: f.id, Node: n.Name, Pos: n.Pos, Name: TaskCorrelated}
	for _, id := range op.Events {
		for _, c := range m.p.Events[id].Correlate {
			if c.From == "" && c.Select == 0 { // a plain filter
				continue
			}
			if v, ok := m.wanted(f, c); ok && !v.IsNull() {
				if !r.HasData {
					r.Data, r.HasData = expr.EmptyObject, true
				}
				r.Data = r.Data.With(c.Attribute, v)
			}
		}
	}
	m.record(r)
}
