package core

import "github.com/lockstep-workflows/lockstep/internal/ir"

// undo compensates the newest completed region that is left; when none is, the
// frame goes on. The frame stays at its node meanwhile, so every compensation ends
// by looking here again (0.5 §Compensation Execution Details).
func (m *machine) undo(f *frame) {
	region, ok := m.s.done.pop()
	if !ok {
		if m.s.undoing {
			m.finish(Cancelled, f.data, nil, false)
			return
		}
		m.advance(f, &m.p.Nodes[f.node])
		return
	}
	r := &m.p.Regions[region]
	m.record(Record{Type: RecCompensating, Frame: f.id, Node: r.Name, Data: f.data, HasData: true})
	f.phase = phaseWait
	m.enter(f, kindUndo, -1, r.Undo, f.data, f.under).slot = int32(region) // not before it has begun
}

// interrupted puts back what a compensation that did not complete was to undo, so that it can be
// started again.
func (m *machine) interrupted(f *frame) {
	if f.kind == kindUndo && f.slot >= 0 {
		m.s.done.push(ir.RegionID(f.slot))
	}
}

// undoChunk is how many entries of the log share a page: appending to a long log
// rewrites its last page only.
const undoChunk = 256

// undoLog lists the completed regions that can be compensated, oldest first.
type undoLog struct {
	regions []ir.RegionID
	from    int // entries below are stored as they are
	chunks  int // pages that are stored
}

func (l *undoLog) push(r ir.RegionID) {
	l.from = min(l.from, len(l.regions))
	l.regions = append(l.regions, r)
}

func (l *undoLog) pop() (ir.RegionID, bool) {
	n := len(l.regions)
	if n == 0 {
		return 0, false
	}
	r := l.regions[n-1]
	l.regions = l.regions[:n-1]
	l.from = min(l.from, max(0, n-2))
	return r, true
}

func (l *undoLog) clear() { l.regions, l.from = nil, 0 }
