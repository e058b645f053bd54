package graph

import "math"

const (
	kink      = 5.0 // what is less than that beside its neighbour moves
	kinkDrift = 7.0 // how far apart the ends of a straight line may have been
)

// handle is a place of a line that can move sideways: a vertex, the end of a line
// at a box, or a lane.
type handle struct {
	vertex int // or -1
	port   port
	in     bool // a port where lines arrive
	lane   *lane
}

// straightener joins the handles that are nearly above each other.
type straightener struct {
	*router
	index map[handle]int
	all   []handle
	x     []float64
	root  []int
	low   []float64 // by root
	high  []float64
}

// straighten takes small kinks out of lines: what is nearly above each other comes
// to stand above each other. Boxes do not move.
func (r *router) straighten() {
	s := straightener{router: r, index: map[handle]int{}}
	for i := range r.links {
		s.link(&r.links[i])
	}
	s.settle()
}

// link joins the places of one line, from above to below.
func (s *straightener) link(l *link) {
	e := s.g.Edges[l.edge]
	var at []int
	switch {
	case l.back:
		in, _, _ := s.arrives(l)
		at = append(at, s.handle(handle{vertex: l.from, lane: in}, s.verts[l.from].x+in.x))
	case e.From >= 0:
		p := port{e.From, l.first()}
		at = append(at, s.handle(handle{vertex: -1, port: p}, s.out[p]))
	default:
		at = append(at, s.handle(handle{vertex: l.from}, s.verts[l.from].x))
	}
	for _, v := range l.chain {
		at = append(at, s.handle(handle{vertex: v}, s.verts[v].x))
	}
	switch {
	case l.back:
		out, _, _ := s.leaves(l)
		at = append(at, s.handle(handle{vertex: l.to, lane: out}, s.verts[l.to].x+out.x))
	case s.verts[l.to].kind == stateVertex:
		p := port{e.To, l.last()}
		at = append(at, s.handle(handle{vertex: -1, port: p, in: true}, s.in[p]))
	default:
		at = append(at, s.handle(handle{vertex: l.to}, s.verts[l.to].x))
	}
	for i := 1; i < len(at); i++ {
		s.join(at[i-1], at[i])
	}
}

func (s *straightener) handle(h handle, x float64) int {
	if at, ok := s.index[h]; ok {
		return at
	}
	at := len(s.all)
	s.index[h] = at
	s.all, s.x, s.root = append(s.all, h), append(s.x, x), append(s.root, at)
	s.low, s.high = append(s.low, x), append(s.high, x)
	return at
}

func (s *straightener) find(at int) int {
	for s.root[at] != at {
		s.root[at] = s.root[s.root[at]]
		at = s.root[at]
	}
	return at
}

func (s *straightener) join(a, b int) {
	ra, rb := s.find(a), s.find(b)
	low, high := min(s.low[ra], s.low[rb]), max(s.high[ra], s.high[rb])
	if ra == rb || math.Abs(s.x[a]-s.x[b]) > kink || high-low > kinkDrift {
		return
	}
	s.root[rb], s.low[ra], s.high[ra] = ra, low, high
}

// settle moves everything that was joined to the place that most of it has.
func (s *straightener) settle() {
	groups := make([][]int, len(s.all))
	for at := range s.all {
		root := s.find(at)
		groups[root] = append(groups[root], at)
	}
	for _, group := range groups {
		best, most, seen := 0.0, 0, map[float64]int{}
		for _, at := range group {
			x := s.x[at]
			if seen[x]++; seen[x] > most {
				best, most = x, seen[x]
			}
		}
		s.work(len(group))
		for _, at := range group {
			s.move(s.all[at], best)
		}
	}
}

func (s *straightener) move(h handle, x float64) {
	switch {
	case h.lane != nil:
		h.lane.x = x - s.verts[h.vertex].x
	case h.vertex >= 0:
		s.verts[h.vertex].x = x
	case h.in:
		s.in[h.port] = x
	default:
		s.out[h.port] = x
	}
}
