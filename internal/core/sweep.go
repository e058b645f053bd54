package core

import "slices"

// remove takes a frame out of the tree that completed: nothing works for it any more.
// It does not look at the others, of which a wide fan has many.
func (m *machine) remove(f *frame) {
	i, ok := position(m.s.frames, f.id)
	if !ok {
		m.breakf("frame %d is not in the tree", f.id)
		return
	}
	f.doomed = true
	m.close(f)
	m.s.frames = slices.Delete(m.s.frames, i, i+1)
}

// cut takes a frame out of the tree, with everything that works for it.
func (m *machine) cut(f *frame) {
	f.doomed = true
	m.sweep()
}

// closeChildren cancels everything that works for frame f.
func (m *machine) closeChildren(f *frame) {
	found := false
	for _, c := range m.s.frames {
		if c.parent == f.id && c.kind != kindDetached && c.kind != kindRoot {
			c.doomed, found = true, true
		}
	}
	if found {
		m.sweep()
	}
}

// closeAll cancels everything but the root and the frames that are kept.
func (m *machine) closeAll(kept ...*frame) {
	for _, f := range m.s.frames[1:] {
		if f.doomed = !slices.Contains(kept, f); !f.doomed {
			m.keep(f)
		}
	}
	m.sweep()
}

// sweep takes doomed frames, and what works for them, out of the tree. Parents
// come before their children, so one pass is enough. A detached frame works for
// the instance.
func (m *machine) sweep() {
	kept := m.s.frames[:0]
	var parent FrameID // of the frame before: siblings stand together
	orphans := false
	for _, f := range m.s.frames {
		if !f.doomed && f.kind != kindRoot && f.kind != kindDetached {
			if f.parent != parent {
				parent, orphans = f.parent, find(kept, f.parent) == nil
			}
			f.doomed = orphans
		}
		if !f.doomed {
			kept = append(kept, f)
			continue
		}
		m.taskBecame(TaskCancelled, f, nil)
		m.close(f)
	}
	clear(m.s.frames[len(kept):])
	m.s.frames = kept
}

// close lets go of what a frame waits for and of its pages.
func (m *machine) close(f *frame) {
	m.interrupted(f)
	m.closeWaits(f, func(wait) bool { return true })
	m.forgetFan(f)
	f.phase = phaseWait
	if f.stored {
		m.s.gone = append(m.s.gone, f.pages()...)
	}
}
