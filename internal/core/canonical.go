package core

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Canonical encodes the whole state, such that equal states give equal pages. Those that are
// stored of equal states may differ: they tell a value once that is in memory once, and count
// the work since the instance last waited, of which merging a value with itself is none.
func (s *State) Canonical() []Page {
	c := *s
	c.headDirty, c.work, c.bulk, c.contextBulk, c.gone, c.chunks, c.done = true, 0, bulk{}, bulk{}, nil, nil, undoLog{regions: s.done.regions}
	copyApart(append(c.values(), &c.context))
	c.frames = make([]*frame, len(s.frames))
	for i, f := range s.frames {
		g := *f
		g.dirty, g.bulk, g.varBulk, g.vars = true, bulk{}, bulk{}, slices.Clone(f.vars)
		copyApart(g.values())
		if f.fan != nil {
			x := *f.fan
			x.results, x.dirty = slices.Clone(x.results), nil
			for slot, r := range x.results {
				if r.has {
					x.dirty = append(x.dirty, int32(slot))
				}
			}
			if x.carried != nil {
				list := *x.carried
				x.carried = &list
			}
			g.fan = &x
		}
		copyApart(g.varValues())
		c.frames[i] = &g
	}
	return c.TakeDirty(nil)
}

// copyApart makes values share nothing.
func copyApart(values []*expr.Value) {
	for _, v := range values {
		r := reader{data: v.AppendBinary(nil)}
		*v = r.value()
	}
}
