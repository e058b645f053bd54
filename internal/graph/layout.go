package graph

// Point is a place in a drawing, in pixels from the top left corner.
type Point struct{ X, Y float64 }

// Drawing is a graph with a place for everything.
type Drawing struct {
	Graph *Graph
	W, H  float64
	Boxes []*Box // one per node
	Marks []Mark
	Lines []Line // one per edge
	Steps int    // how much work it was: a count that is the same on every machine
}

// Mark is a small sign beside the boxes: where the workflow starts or ends, or,
// where a line would be too long to follow, the name of the state it leads to.
type Mark struct {
	Kind MarkKind
	X, Y float64 // the centre
	W, H float64
	Edge int
	Text string
}

// MarkKind tells marks apart.
type MarkKind string

// The kinds of marks.
const (
	MarkStart     MarkKind = "start"
	MarkEnd       MarkKind = "end"
	MarkReference MarkKind = "reference"
	MarkExit      MarkKind = "exit" // the end of a list of states
)

// Line is a drawn edge.
type Line struct {
	Edge   int
	Path   []Curve
	Tip    Point // of the arrow
	Dir    Point // the way it points, a unit vector
	Labels []Text
	Pill   Rect // behind the labels
}

// Curve is one piece of a line: a cubic curve, or a straight line if Straight.
// The first piece of a path only says where it begins.
type Curve struct {
	C1, C2, To Point
	Straight   bool
}

// Bounds of the work. Beyond maxBends, the longest lines are not drawn: a mark
// with the name of the target stands at their beginning.
const (
	maxBends   = 24_000
	orderSteps = 2_500_000
	margin     = 28.0
)

// Layout finds a place for everything: rows from the top to the bottom, a line's
// target below its source where the workflow does not go back.
func Layout(g *Graph) *Drawing {
	flow := *g
	for n := len(flow.Nodes); n > 0 && flow.Nodes[n-1].Aside; n-- {
		flow.Nodes = flow.Nodes[:n-1]
	}
	d := layout(&flow)
	d.beside(g)
	return d
}

func layout(g *Graph) *Drawing {
	s := &sketch{g: g, refs: map[int]bool{}}
	s.boxes = make([]*Box, len(g.Nodes))
	for i := range g.Nodes {
		s.boxes[i] = newBox(g, i)
		for _, inner := range s.boxes[i].Inner {
			s.steps += inner.Steps
		}
	}
	s.attach()
	for again := true; again; {
		s.collect()
		s.breakCycles()
		s.rank()
		again = s.shorten()
	}
	for _, phase := range []func(){s.chains, s.order, s.sides, s.place, s.settle, s.stretch} {
		phase()
		g.ask()
	}
	return s.draw()
}

// sketch is a layout in the making.
type sketch struct {
	g       *Graph
	boxes   []*Box
	labels  [][]string   // by edge: the lines as they are shown
	refs    map[int]bool // edges that end in a mark with the target's name
	steps   int
	asked   int // steps when stop was last asked
	settled int

	host []int // by node: the node it stands beside, or -1
	side []int // by node: the node that stands beside it, or -1

	verts  []vertex
	marks  []Mark
	ofNode []int // the vertex of each node
	links  []link
	ranks  [][]int // vertices by row, in order
	up     [][]arc // neighbours in the row above
	down   [][]arc
	lanes  []lanes // by node

	sideDown, sideUp []bool // by vertex: lines are attached at its sides
}

type vertexKind uint8

const (
	stateVertex vertexKind = iota
	markVertex
	labelVertex
	bendVertex // where a line passes a row
)

// vertex is whatever takes up room in a row. x is the centre of its state, label
// or bend; it reaches left and right of that.
type vertex struct {
	kind        vertexKind
	of          int // the node, mark or edge
	trunk       int // bends of one line, or of lines that join, share a number
	left, right float64
	h           float64
	rank, pos   int
	x           float64
}

// link is an edge between vertices, from above to below. A back link is an edge
// that goes up.
type link struct {
	edge     int
	from, to int
	back     bool
	chain    []int // the vertices between, from above to below
}

// first is the vertex below the upper end.
func (l *link) first() int {
	if len(l.chain) > 0 {
		return l.chain[0]
	}
	return l.to
}

// last is the vertex above the lower end.
func (l *link) last() int {
	if len(l.chain) > 0 {
		return l.chain[len(l.chain)-1]
	}
	return l.from
}

// arc is one piece of a link, between neighbouring rows.
type arc struct {
	to       int
	priority int8    // which pieces are kept straight
	own, far float64 // where it is attached, from the centres of both ends
	ownSide  bool    // it is attached at a side of the box, not at its top or bottom
	farSide  bool
}

// attach finds the compensating states that stand beside the state they undo:
// those that nothing else leads to.
func (s *sketch) attach() {
	n := len(s.g.Nodes)
	s.host, s.side = make([]int, n), make([]int, n)
	reached := make([]bool, n)
	for i := range n {
		s.host[i], s.side[i] = -1, -1
	}
	for _, e := range s.g.Edges {
		if e.To >= 0 && e.Kind != Compensate && e.From != e.To {
			reached[e.To] = true
		}
	}
	goesTo := map[[2]int]bool{}
	for _, e := range s.g.Edges {
		goesTo[[2]int{e.From, e.To}] = true
	}
	for _, e := range s.g.Edges {
		if e.Kind != Compensate || e.From < 0 || e.To < 0 || e.From == e.To || reached[e.To] {
			continue
		}
		free := s.host[e.From] < 0 && s.side[e.From] < 0 && s.host[e.To] < 0 && s.side[e.To] < 0
		if free && !goesTo[[2]int{e.To, e.From}] {
			s.host[e.To], s.side[e.From] = e.From, e.To
		}
	}
}

// beside reports whether an edge only leads to the box beside its state.
func (s *sketch) beside(e Edge) bool {
	return e.Kind == Compensate && e.From >= 0 && e.To >= 0 && s.side[e.From] == e.To
}

// collect makes the vertices of the states and marks, and the links between.
func (s *sketch) collect() {
	s.verts, s.marks, s.links = nil, nil, nil
	s.ofNode = make([]int, len(s.g.Nodes))
	starts := make([]int, len(s.g.Edges))
	for i, e := range s.g.Edges {
		if e.From < 0 {
			starts[i] = s.mark(Mark{Kind: MarkStart, W: 16, H: 16, Edge: i})
		}
	}
	for i, b := range s.boxes {
		if s.host[i] >= 0 {
			continue
		}
		s.ofNode[i] = len(s.verts)
		s.verts = append(s.verts, vertex{kind: stateVertex, of: i, h: b.H})
	}
	for i, host := range s.host {
		if host >= 0 {
			s.ofNode[i] = s.ofNode[host]
			v := &s.verts[s.ofNode[i]]
			v.h = max(v.h, s.boxes[i].H)
		}
	}
	for i, e := range s.g.Edges {
		if e.From >= 0 && e.From == e.To || s.beside(e) {
			continue
		}
		l := link{edge: i}
		if l.from = starts[i]; e.From >= 0 {
			l.from = s.ofNode[e.From]
		}
		switch {
		case e.To == Exit:
			text := s.g.target(e)
			l.to = s.mark(Mark{Kind: MarkExit, W: labelFont.width(text) + 20, H: 22, Edge: i, Text: text})
		case e.To < 0:
			l.to = s.mark(Mark{Kind: MarkEnd, W: 20, H: 20, Edge: i})
		case s.refs[i]:
			text := labelFont.cut(clean(s.g.Nodes[e.To].label()), 150)
			l.to = s.mark(Mark{Kind: MarkReference, W: labelFont.width(text) + 24, H: 24, Edge: i, Text: text})
		default:
			l.to = s.ofNode[e.To]
		}
		s.links = append(s.links, l)
	}
}

func (s *sketch) mark(m Mark) int {
	s.verts = append(s.verts, vertex{kind: markVertex, of: len(s.marks), left: m.W / 2, right: m.W / 2, h: m.H})
	s.marks = append(s.marks, m)
	return len(s.verts) - 1
}
