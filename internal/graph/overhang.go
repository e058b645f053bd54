package graph

// overhangGap is the room between a box that reaches over its row and what stands above or below.
const overhangGap = 10.0

// rowHeight is the room that a vertex needs in its row. What undoes a state stands beside it and may
// be much taller: where nothing is above and below, it reaches over its row, so that the way
// from the state to the next one does not get longer.
func (r *router) rowHeight(v int) float64 {
	at := r.verts[v]
	if at.kind != stateVertex || r.side[at.of] < 0 {
		return at.h
	}
	host, side := r.boxes[at.of], r.boxes[r.side[at.of]]
	if over := (side.H - host.H) / 2; over <= 0 || at.h > side.H || !r.freeAround(v, over) {
		return at.h
	}
	return host.H
}

// freeAround reports whether nothing stands or runs above and below the box at the side of a vertex, as
// far as a distance.
func (r *router) freeAround(v int, distance float64) bool {
	at := r.verts[v]
	node := r.side[at.of]
	x, half := at.x+r.lanes[node].x, r.boxes[node].W/2+overhangGap
	meets := func(a, b float64) bool { return min(a, b) < x+half && max(a, b) > x-half }
	free := func(row int) bool { // the row and the ways to the one below it
		r.work(len(r.ranks[row]))
		for _, w := range r.ranks[row] {
			o := r.verts[w]
			if row != at.rank && meets(o.x-o.left, o.x+o.right) {
				return false
			}
			for _, a := range r.down[w] {
				from, to := o.x+a.own, r.verts[a.to].x+a.far
				near, far := r.spreads(w, a.ownSide), r.spreads(a.to, a.farSide)
				if meets(from, to) || meets(from-near, from+near) || meets(to-far, to+far) {
					return false
				}
			}
		}
		return true
	}
	for row, left := at.rank, distance+overhangGap; left > 0 && row < len(r.ranks); row++ {
		if !free(row) {
			return false
		}
		if left -= labelGap; row > at.rank { // no two rows are nearer than that
			left -= r.least(row)
		}
	}
	for row, left := at.rank-1, distance+overhangGap-labelGap; left > -labelGap && row >= 0; row-- {
		if !free(row) {
			return false
		}
		left -= labelGap + r.least(row)
	}
	return true
}

// least is how high a row is at least.
func (r *router) least(row int) float64 {
	high := 0.0
	for _, v := range r.ranks[row] {
		at := r.verts[v]
		if at.kind == stateVertex && r.side[at.of] >= 0 {
			at.h = r.boxes[at.of].H
		}
		high = max(high, at.h)
	}
	return high
}

// spreads is how far from its place a line may be attached to a vertex.
func (r *router) spreads(v int, side bool) float64 {
	if at := r.verts[v]; at.kind == stateVertex && !side {
		return r.boxes[at.of].W / 2
	}
	return kinkDrift
}
