package graph

import (
	"cmp"
	"math"
	"slices"
)

const (
	rowGap    = 42.0 // between two rows of states
	labelGap  = 22.0 // between a row and the labels below it
	arrowGap  = 30.0 // between labels and the row below them
	gapSpread = 0.07 // how much a gap grows with the longest way across it
	gapMore   = 34.0
	arrowLong = 8.0
	portApart = 16.0
	corner    = 12.0
)

// band is the height of a row: no box or label of it reaches beyond.
type band struct{ top, bottom float64 }

// router draws lines once every vertex has its place.
type router struct {
	*sketch
	bands []band
	out   map[port]float64 // x where lines leave a box at its bottom
	in    map[port]float64 // x where they arrive at its top
}

// port is the end of a line at a box; lines that come by the same vertex share it.
type port struct{ node, via int }

func (s *sketch) draw() *Drawing {
	r := &router{sketch: s, out: map[port]float64{}, in: map[port]float64{}}
	r.rows()
	for i, b := range s.boxes {
		x, y := r.centre(i)
		b.move(x-b.W/2, y-b.H/2)
	}
	r.ports()
	r.straighten()
	d := &Drawing{Graph: s.g, Boxes: s.boxes, Marks: s.marks, Lines: make([]Line, len(s.g.Edges))}
	for i := range s.verts {
		if v := &s.verts[i]; v.kind == markVertex {
			m := &d.Marks[v.of]
			m.X, m.Y = v.x, r.bands[v.rank].top+m.H/2
			if m.Kind == MarkStart {
				m.Y = r.bands[v.rank].bottom - m.H/2
			}
		}
	}
	for _, l := range s.links {
		if l.back {
			d.Lines[l.edge] = r.backLine(l)
		} else {
			d.Lines[l.edge] = r.line(l)
		}
	}
	for i, e := range s.g.Edges {
		switch {
		case e.From >= 0 && e.From == e.To:
			d.Lines[i] = r.loop(i)
		case s.beside(e):
			d.Lines[i] = r.besideLine(i)
		}
	}
	d.Steps = s.steps + s.settled
	d.fit()
	return d
}

// rows gives every row its band.
func (r *router) rows() {
	r.bands = make([]band, len(r.ranks))
	y := 0.0
	for i, row := range r.ranks {
		high, labels, states, across := 0.0, false, false, 0.0
		for _, v := range row {
			high = max(high, r.rowHeight(v))
			labels = labels || r.verts[v].kind == labelVertex
			states = states || r.verts[v].kind != labelVertex && r.verts[v].kind != bendVertex
			for _, a := range r.down[v] {
				across = max(across, math.Abs(r.verts[v].x-r.verts[a.to].x))
			}
		}
		r.bands[i] = band{y, y + high}
		gap := rowGap
		switch {
		case labels && !states:
			gap = arrowGap
		case i+1 < len(r.ranks) && r.labelRow(i+1):
			gap = labelGap
		}
		y += high + gap + min(gapMore, across*gapSpread)
	}
}

func (r *router) labelRow(i int) bool {
	return slices.ContainsFunc(r.ranks[i], func(v int) bool { return r.verts[v].kind == labelVertex })
}

// centre is the middle of a box.
func (r *router) centre(node int) (x, y float64) {
	v := r.verts[r.ofNode[node]]
	b := r.bands[v.rank]
	return v.x + r.lanes[node].x, math.Round((b.top + b.bottom) / 2)
}

// ports spreads the ends of lines over the tops and bottoms of boxes, so that
// lines are straight where they can be.
func (r *router) ports() {
	below, above := make([][]int, len(r.g.Nodes)), make([][]int, len(r.g.Nodes))
	for _, l := range r.links {
		if l.back {
			continue
		}
		e := r.g.Edges[l.edge]
		if first := l.first(); e.From >= 0 && !slices.Contains(below[e.From], first) {
			below[e.From] = append(below[e.From], first)
		}
		if e.To >= 0 && !r.refs[l.edge] {
			last := l.last()
			if !slices.Contains(above[e.To], last) {
				above[e.To] = append(above[e.To], last)
			}
		}
	}
	for node := range r.g.Nodes {
		r.spread(node, below[node], r.out, func(via int) float64 { return r.verts[via].x })
	}
	for node := range r.g.Nodes {
		r.spread(node, above[node], r.in, func(via int) float64 {
			if v := r.verts[via]; v.kind == stateVertex {
				if x, ok := r.out[port{v.of, r.ofNode[node]}]; ok {
					return x
				}
			}
			return r.verts[via].x
		})
	}
}

// spread gives each line of one side of a box its own place, in the order of where
// they go; one that can be straight is.
func (r *router) spread(node int, via []int, at map[port]float64, wants func(int) float64) {
	x, _ := r.centre(node)
	zone := r.boxes[node].W * 0.4
	slices.SortStableFunc(via, func(a, b int) int { return cmp.Compare(wants(a), wants(b)) })
	if len(via) == 1 {
		want := wants(via[0])
		if math.Abs(want-x) > zone {
			want = x
		}
		at[port{node, via[0]}] = want
		return
	}
	apart := portApart
	if n := float64(len(via) - 1); n*apart > 2*zone {
		apart = 2 * zone / n
	}
	places := make([]float64, len(via))
	for i, v := range via {
		places[i] = min(max(wants(v), x-zone), x+zone)
		if i > 0 {
			places[i] = max(places[i], places[i-1]+apart)
		}
	}
	limit := x + zone
	for i := len(via) - 1; i >= 0; i-- {
		places[i] = min(places[i], limit)
		limit = places[i] - apart
		at[port{node, via[i]}] = places[i]
	}
}

// fit moves everything so that it begins at the margin, and measures it.
func (d *Drawing) fit() {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	d.each(func(p *Point) {
		low = Point{min(low.X, p.X), min(low.Y, p.Y)}
		high = Point{max(high.X, p.X), max(high.Y, p.Y)}
	})
	if math.IsInf(low.X, 1) {
		low, high = Point{}, Point{}
	}
	dx, dy := margin-math.Floor(low.X), margin-math.Floor(low.Y)
	d.W, d.H = math.Ceil(high.X)+dx+margin, math.Ceil(high.Y)+dy+margin
	for _, b := range d.Boxes {
		b.move(dx, dy)
	}
	for i := range d.Marks {
		d.Marks[i].X, d.Marks[i].Y = d.Marks[i].X+dx, d.Marks[i].Y+dy
	}
	for i := range d.Lines {
		d.Lines[i].move(dx, dy)
	}
}

// each visits the corners of everything drawn.
func (d *Drawing) each(visit func(*Point)) {
	rect := func(x, y, w, h float64) {
		visit(&Point{x, y})
		visit(&Point{x + w, y + h})
	}
	for _, b := range d.Boxes {
		rect(b.X, b.Y, b.W, b.H)
	}
	for _, m := range d.Marks {
		rect(m.X-m.W/2, m.Y-m.H/2, m.W, m.H)
	}
	for _, l := range d.Lines {
		for _, c := range l.Path {
			visit(&c.To)
		}
		visit(&l.Tip)
		if l.Pill.W > 0 {
			rect(l.Pill.X, l.Pill.Y, l.Pill.W, l.Pill.H)
		}
	}
}
