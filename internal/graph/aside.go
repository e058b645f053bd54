package graph

// sideWork bounds how many pairs of lines at one box are compared.
const sideWork = 4000

// findSides notes which boxes have lines at their sides. Such a line passes all
// those on its way that leave the box at its bottom, or arrive at its top, on the
// same side: crossings that the order of the row above does not show.
func (s *sketch) findSides() {
	s.sideDown, s.sideUp = make([]bool, len(s.verts)), make([]bool, len(s.verts))
	mark := func(at []bool, near [][]arc) {
		for v, arcs := range near {
			sides := 0
			for _, a := range arcs {
				if a.ownSide {
					sides++
				}
			}
			at[v] = sides > 0 && sides*len(arcs) <= sideWork
		}
	}
	mark(s.sideDown, s.down)
	mark(s.sideUp, s.up)
}

// sideCrossings counts what the lines at the sides of all boxes cross.
func (s *sketch) sideCrossings() int {
	n := 0
	for v := range s.verts {
		if s.sideDown[v] {
			n += s.crossedAt(v, s.down[v])
		}
		if s.sideUp[v] {
			n += s.crossedAt(v, s.up[v])
		}
	}
	return n
}

// crossedAt counts, for each line at a side of a box, the lines it crosses on the
// better side.
func (s *sketch) crossedAt(v int, arcs []arc) int {
	node, n := s.verts[v].of, 0
	for _, a := range arcs {
		if !a.ownSide {
			continue
		}
		left, right := 0, 0
		for _, b := range arcs {
			switch {
			case b.ownSide:
			case s.verts[b.to].pos < s.verts[a.to].pos:
				left++
			case s.verts[b.to].pos > s.verts[a.to].pos:
				right++
			}
		}
		s.work(len(arcs))
		switch {
		case s.side[node] >= 0: // the right side is taken
			n += left
		default:
			n += min(left, right)
		}
	}
	return n
}

// sidesOver counts the crossings at boxes that have lines to both of two vertices.
func (s *sketch) sidesOver(a, b int) int {
	n := 0
	over := func(near [][]arc, at []bool, far [][]arc) {
		for _, p := range near[a] {
			if !at[p.to] {
				continue
			}
			for _, q := range near[b] {
				if q.to == p.to {
					n += s.crossedAt(p.to, far[p.to])
				}
			}
		}
	}
	over(s.up, s.sideDown, s.down)
	over(s.down, s.sideUp, s.up)
	return n
}
