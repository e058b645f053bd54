package graph

import "slices"

const (
	laneWide = 20.0 // between a box and a line beside it, and between such lines
	loopWide = 24.0
	sideGap  = 22.0 // on each side of the label between a state and what undoes it
)

// lane is room beside a box for a line that goes up: its end, its beginning, or
// all of it if it is a loop.
type lane struct {
	edge   int    // -1: shared by what goes back to this state
	stroke string // of a shared lane
	out    bool
	loop   bool
	wide   float64
	x      float64 // from the centre of the vertex
}

// lanes is the room beside one box.
type lanes struct {
	left, right []lane // outwards from the box
	x           float64
}

// sides decides on which side of their boxes lines go up, and how much room each
// vertex takes with them and with the box that stands beside it.
func (s *sketch) sides() {
	s.lanes = make([]lanes, len(s.g.Nodes))
	for i := range s.links {
		l := &s.links[i]
		e := s.g.Edges[l.edge]
		if !l.back {
			continue
		}
		inLeft, outLeft := s.goesLeft(l)
		s.addLane(e.To, inLeft, lane{edge: -1, stroke: e.stroke(), wide: laneWide})
		s.addLane(e.From, outLeft, lane{edge: l.edge, out: true, wide: laneWide})
	}
	for i, e := range s.g.Edges {
		if e.From >= 0 && (e.From == e.To || s.beside(e)) {
			_, h := pillSize(s.labels[i])
			v := &s.verts[s.ofNode[e.From]]
			v.h = max(v.h, h)
		}
		if e.From >= 0 && e.From == e.To {
			w, _ := pillSize(s.labels[i])
			busy := len(s.lanes[e.From].right) > 0
			s.addLane(e.From, s.side[e.From] >= 0 || busy && s.host[e.From] < 0, lane{edge: i, loop: true, wide: loopWide + w})
		}
	}
	for v := range s.verts {
		if vert := &s.verts[v]; vert.kind == stateVertex {
			s.extend(vert)
		}
	}
	for i := range s.links {
		s.attachArcs(&s.links[i])
	}
}

// attachArcs notes where the ends of a link are attached.
func (s *sketch) attachArcs(l *link) {
	e := s.g.Edges[l.edge]
	upper, lower := 0.0, 0.0
	switch {
	case l.back:
		in, _, _ := s.arrives(l)
		out, _, _ := s.leaves(l)
		upper, lower = in.x, out.x
	default:
		if e.From >= 0 {
			upper = s.lanes[e.From].x
		}
		if e.To >= 0 && !s.refs[l.edge] {
			lower = s.lanes[e.To].x
		}
	}
	s.offset(l.from, l.first(), func(a *arc) *float64 { return &a.own }, func(a *arc) *float64 { return &a.far }, upper)
	s.offset(l.last(), l.to, func(a *arc) *float64 { return &a.far }, func(a *arc) *float64 { return &a.own }, lower)
}

// offset sets one end of an arc in both of its directions.
func (s *sketch) offset(above, below int, down, up func(*arc) *float64, x float64) {
	for i := range s.down[above] {
		if a := &s.down[above][i]; a.to == below {
			*down(a) = x
		}
	}
	for i := range s.up[below] {
		if a := &s.up[below][i]; a.to == above {
			*up(a) = x
		}
	}
}

// goesLeft compares what a line that goes up would cross on either side of its
// boxes, and reports for its end and its beginning whether left is better.
func (s *sketch) goesLeft(l *link) (in, out bool) {
	e := s.g.Edges[l.edge]
	upper, lower := s.sidePull(e.To, l.first(), s.down), s.sidePull(e.From, l.last(), s.up)
	if len(l.chain) == 0 { // from one row to the next: on one side
		upper += lower
		lower = upper
	}
	return s.freeSide(e.To, upper < 0), s.freeSide(e.From, lower < 0)
}

// freeSide is the wish for the left side of a box, unless a box stands beside it.
func (s *sketch) freeSide(node int, left bool) bool {
	if s.side[node] >= 0 || s.host[node] >= 0 {
		return s.side[node] >= 0
	}
	return left
}

// sidePull is below 0 where a line to a neighbour crosses less on the left of a box.
func (s *sketch) sidePull(node, neighbour int, near [][]arc) int {
	pull := 0
	for _, a := range near[s.ofNode[node]] {
		switch {
		case a.ownSide:
		case s.verts[a.to].pos < s.verts[neighbour].pos:
			pull += 1 + int(a.priority)
		case s.verts[a.to].pos > s.verts[neighbour].pos:
			pull -= 1 + int(a.priority)
		}
	}
	return pull
}

func (s *sketch) addLane(node int, left bool, l lane) {
	at := &s.lanes[node].right
	if left {
		at = &s.lanes[node].left
	}
	if !l.out && !l.loop && slices.ContainsFunc(*at, func(k lane) bool { return k.edge == -1 && k.stroke == l.stroke }) {
		return
	}
	if l.loop { // next to the box
		*at = slices.Insert(*at, 0, l)
		return
	}
	*at = append(*at, l)
}

// extend computes how far a vertex reaches, and where everything in it is.
func (s *sketch) extend(v *vertex) {
	half := s.boxes[v.of].W / 2
	own := &s.lanes[v.of]
	v.left, v.right = half, half
	for i := range own.left {
		v.left += own.left[i].wide
		own.left[i].x = -v.left
	}
	for i := range own.right {
		v.right += own.right[i].wide
		own.right[i].x = v.right
	}
	other := s.side[v.of]
	if other < 0 {
		return
	}
	beside := &s.lanes[other]
	v.right += s.sideRoom(v.of) + s.boxes[other].W/2
	beside.x = v.right
	v.right += s.boxes[other].W / 2
	for i := range beside.right {
		v.right += beside.right[i].wide
		beside.right[i].x = v.right
	}
}

// sideRoom is the distance between a state and what undoes it.
func (s *sketch) sideRoom(node int) float64 {
	for i, e := range s.g.Edges {
		if e.From == node && s.beside(e) {
			w, _ := pillSize(s.labels[i])
			return w + 2*sideGap
		}
	}
	return 2 * sideGap
}

// find returns a lane and the number of lanes outside of it, and whether it is on
// the left.
func (n *lanes) find(match func(lane) bool) (l *lane, outer int, left bool) {
	for i := range n.left {
		if match(n.left[i]) {
			return &n.left[i], len(n.left) - 1 - i, true
		}
	}
	for i := range n.right {
		if match(n.right[i]) {
			return &n.right[i], len(n.right) - 1 - i, false
		}
	}
	return &lane{}, 0, false
}

// arrives and leaves are the lanes of a link that goes up.
func (s *sketch) arrives(l *link) (at *lane, outer int, left bool) {
	e := s.g.Edges[l.edge]
	return s.lanes[e.To].find(func(k lane) bool { return k.edge == -1 && k.stroke == e.stroke() })
}

func (s *sketch) leaves(l *link) (at *lane, outer int, left bool) {
	return s.lanes[s.g.Edges[l.edge].From].find(func(k lane) bool { return k.edge == l.edge && k.out })
}
