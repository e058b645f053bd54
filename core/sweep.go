package core

// remove takes a frame out of the tree, with everything below it.
func (m *machine) remove(f *frame) {
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

// closeAll cancels everything but the root.
func (m *machine) closeAll() {
	for _, f := range m.s.frames[1:] {
		f.doomed = true
	}
	m.sweep()
}

// sweep takes doomed frames, and what works for them, out of the tree. Parents
// come before their children, so one pass is enough. A detached frame works for
// the instance.
func (m *machine) sweep() {
	kept := m.s.frames[:0]
	for _, f := range m.s.frames {
		if !f.doomed && f.kind != kindRoot && f.kind != kindDetached {
			f.doomed = find(kept, f.parent) == nil
		}
		if !f.doomed {
			kept = append(kept, f)
			continue
		}
		m.interrupted(f)
		m.closeWaits(f, func(wait) bool { return true })
		m.forgetFan(f)
		f.phase = phaseWait
		if f.stored {
			m.s.gone = append(f.bulk.gone(m.s.gone, f.id), Page{Frame: f.id})
		}
	}
	clear(m.s.frames[len(kept):])
	m.s.frames = kept
}
