package graph

import "math"

const (
	laneApart = 14.0 // minimum distance of a moved lane from its neighbour
	stretched = 20.0 // and from a box
)

// stretch straightens the lines that go up. First it moves all bends of a line outwards, to the
// column of its outermost bend. Then it moves the line's lanes to the column where the line enters
// or leaves the next row. The line then goes straight up and has a single corner at each box.
// Nothing moves if there is no room.
func (s *sketch) stretch() {
	for i := range s.links {
		if s.links[i].back {
			s.outwards(&s.links[i])
		}
	}
	wants := map[*lane][]float64{}
	for i := range s.links {
		l := &s.links[i]
		if !l.back {
			continue
		}
		in, _, _ := s.arrives(l)
		out, _, _ := s.leaves(l)
		first, last := s.verts[l.first()].x, s.verts[l.last()].x
		if len(l.chain) == 0 {
			first += out.x
			last += in.x
		}
		wants[in] = append(wants[in], first)
		wants[out] = append(wants[out], last)
	}
	for node := range s.lanes {
		v := s.ofNode[node]
		s.stretchSide(v, s.lanes[node].left, -1, wants)
		s.stretchSide(v, s.lanes[node].right, 1, wants)
	}
}

// outwards moves the bends of a line that leaves and arrives on the same side.
func (s *sketch) outwards(l *link) {
	in, _, left := s.arrives(l)
	out, _, alsoLeft := s.leaves(l)
	if left != alsoLeft || len(l.chain) == 0 {
		return
	}
	dir := 1.0
	if left {
		dir = -1
	}
	bends := math.Inf(-1)
	for _, v := range l.chain {
		bends = max(bends, s.verts[v].x*dir)
	}
	s.work(len(l.chain))
	lower, upper := (s.verts[l.to].x+out.x)*dir, (s.verts[l.from].x+in.x)*dir
	for _, to := range []float64{max(bends, lower, upper), max(bends, lower), bends} {
		if s.moveAll(l.chain, to*dir, dir) {
			return
		}
	}
}

// moveAll moves vertices of different rows to one column if there is room in all
// rows, and reports whether there was.
func (s *sketch) moveAll(chain []int, x, dir float64) bool {
	for _, v := range chain {
		at := s.verts[v]
		reach := at.right
		if dir < 0 {
			reach = at.left
		}
		if way := (x - at.x) * dir; way > 0 && way+reach > s.roomBeside(v, dir) {
			return false
		}
	}
	for _, v := range chain {
		s.verts[v].x = x
	}
	return true
}

// stretchSide moves the lanes of one side, the outermost first.
func (s *sketch) stretchSide(v int, side []lane, dir float64, wants map[*lane][]float64) {
	at := &s.verts[v]
	limit := s.roomBeside(v, dir)
	for i := len(side) - 1; i >= 0 && !side[i].loop; i-- {
		own := side[i].x * dir
		best := math.Inf(1)
		for _, x := range wants[&side[i]] {
			if far := (x - at.x) * dir; far >= own {
				best = min(best, far) // the nearest
			}
		}
		if best <= limit && !math.IsInf(best, 1) {
			side[i].x, own = best*dir, best
		}
		if dir > 0 {
			at.right = max(at.right, own)
		} else {
			at.left = max(at.left, own)
		}
		limit = own - laneApart
	}
}

// roomBeside is how far a vertex may extend from its centre before it meets its neighbour.
func (s *sketch) roomBeside(v int, dir float64) float64 {
	at := s.verts[v]
	row := s.ranks[at.rank]
	next := at.pos + int(dir)
	if next < 0 || next >= len(row) {
		return math.Inf(1)
	}
	other := s.verts[row[next]]
	reach := other.left
	if dir < 0 {
		reach = other.right
	}
	gap := laneApart
	if other.kind == stateVertex {
		gap = stretched
	}
	return (other.x-at.x)*dir - reach - gap
}
