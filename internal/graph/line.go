package graph

import "math"

// pen draws the path of a line.
type pen struct{ path []Curve }

func (p *pen) at() Point { return p.path[len(p.path)-1].To }

func (p *pen) start(x, y float64) { p.path = []Curve{{To: Point{x, y}, Straight: true}} }

// straight goes on straight; pieces in one direction become one.
func (p *pen) straight(x, y float64) {
	at := p.at()
	if at.X == x && at.Y == y {
		return
	}
	if n := len(p.path); n > 1 && p.path[n-1].Straight {
		before := p.path[n-2].To
		if before.X == at.X && at.X == x && (at.Y-before.Y)*(y-at.Y) > 0 {
			p.path[n-1].To.Y = y
			return
		}
	}
	p.path = append(p.path, Curve{To: Point{x, y}, Straight: true})
}

// swing goes to another column, leaving and arriving upright.
func (p *pen) swing(x, y float64) {
	at := p.at()
	if math.Abs(at.X-x) < 0.5 {
		p.straight(at.X, y)
		return
	}
	bow := (y - at.Y) * 0.6
	p.path = append(p.path, Curve{C1: Point{at.X, at.Y + bow}, C2: Point{x, y - bow}, To: Point{x, y}})
}

// turn rounds a corner between an upright and a level piece.
func (p *pen) turn(corner, to Point) {
	const k = 0.55 // a quarter of a circle, nearly
	at := p.at()
	p.path = append(p.path, Curve{
		C1: Point{at.X + (corner.X-at.X)*k, at.Y + (corner.Y-at.Y)*k},
		C2: Point{to.X + (corner.X-to.X)*k, to.Y + (corner.Y-to.Y)*k},
		To: to,
	})
}

// line draws a link from above to below.
func (r *router) line(l link) Line {
	e := r.g.Edges[l.edge]
	var p pen
	from := r.verts[l.from]
	if e.From >= 0 {
		b := r.boxes[e.From]
		p.start(r.out[port{e.From, l.first()}], b.Y+b.H)
	} else {
		p.start(from.x, r.bands[from.rank].bottom)
	}
	p.straight(p.at().X, r.bands[from.rank].bottom)
	last := l.from
	for _, v := range l.chain {
		b := r.bands[r.verts[v].rank]
		p.swing(r.verts[v].x, b.top)
		p.straight(p.at().X, b.bottom)
		last = v
	}
	to := r.verts[l.to]
	tip := Point{to.x, r.bands[to.rank].top}
	if to.kind == stateVertex {
		tip = Point{r.in[port{e.To, last}], r.boxes[e.To].Y}
	}
	top := r.bands[to.rank].top
	if end := tip.Y - arrowLong; end < top {
		top = end
	}
	p.swing(tip.X, top)
	p.straight(p.at().X, tip.Y-arrowLong)
	tip.X = p.at().X
	out := Line{Edge: l.edge, Path: p.path, Tip: tip, Dir: Point{0, 1}}
	r.label(&out, l)
	return out
}

// backLine draws a link that goes up: out at the side of the lower box, along its
// lane, and in at the side of the upper one.
func (r *router) backLine(l link) Line {
	e := r.g.Edges[l.edge]
	out, outer, left := r.leaves(&l)
	var p pen
	lower, upper := r.verts[l.to], r.verts[l.from]
	x, y := r.sideOf(e.From, left), r.attachAt(e.From, -outer)
	column, bow := lower.x+out.x, corner
	if left {
		bow = -corner
	}
	p.start(x, y)
	p.straight(column-bow, y)
	p.turn(Point{column, y}, Point{column, y - corner})
	p.straight(column, min(y-corner, r.bands[lower.rank].top))
	for i := len(l.chain) - 1; i >= 0; i-- {
		b := r.bands[r.verts[l.chain[i]].rank]
		p.swing(r.verts[l.chain[i]].x, b.bottom)
		p.straight(p.at().X, b.top)
	}
	in, outer, left := r.arrives(&l)
	x, y = r.sideOf(e.To, left), r.attachAt(e.To, 1+outer)
	column, bow = upper.x+in.x, corner
	dir := Point{-1, 0}
	if left {
		bow, dir = -corner, Point{1, 0}
	}
	p.swing(column, max(r.bands[upper.rank].bottom, y+corner))
	p.straight(p.at().X, y+corner)
	p.turn(Point{column, y}, Point{column - bow, y})
	p.straight(x-dir.X*arrowLong, y)
	line := Line{Edge: l.edge, Path: p.path, Tip: Point{x, y}, Dir: dir}
	r.label(&line, l)
	return line
}

// sideOf is the x of one side of a box.
func (r *router) sideOf(node int, left bool) float64 {
	b := r.boxes[node]
	if left {
		return b.X
	}
	return b.X + b.W
}

// attachAt is where a line beside a box meets it: steps below the middle.
func (r *router) attachAt(node, steps int) float64 {
	b := r.boxes[node]
	return min(max(b.Y+b.H/2+float64(steps)*10, b.Y+10), b.Y+b.H-10)
}

// loop draws a way from a state to itself, at the upper part of its side.
func (r *router) loop(edge int) Line {
	node := r.g.Edges[edge].From
	at, outer, left := r.lanes[node].find(func(k lane) bool { return k.edge == edge && k.loop })
	b := r.boxes[node]
	// Loops that are nested enclose each other.
	inner := len(r.lanes[node].right) - 1 - outer
	dir := 1.0
	if left {
		inner, dir = len(r.lanes[node].left)-1-outer, -1
	}
	x := r.sideOf(node, left)
	w, h := pillSize(r.labels[edge])
	end := r.verts[r.ofNode[node]].x + at.x // the outer end of the lane
	reach := end - dir*(w+2)
	if len(r.labels[edge]) == 0 {
		reach = end - dir*4
	}
	top := min(b.Y+12+float64(inner)*3, b.Y+b.H-28)
	bottom := top + 20
	var p pen
	p.start(x, top)
	far := x + (reach-x)*1.25
	p.path = append(p.path, Curve{C1: Point{far, top - 8}, C2: Point{far, bottom + 8}, To: Point{x + dir*arrowLong, bottom}})
	line := Line{Edge: edge, Path: p.path, Tip: Point{x, bottom}, Dir: Point{-dir, 0}}
	centre := Point{reach + dir*(w/2+1), b.Y + b.H/2}
	if h < b.H {
		centre.Y = min(max((top+bottom)/2, b.Y+h/2), b.Y+b.H-h/2)
	}
	r.labelAt(&line, centre, w, h)
	return line
}

// besideLine leads from a state to what undoes it.
func (r *router) besideLine(edge int) Line {
	e := r.g.Edges[edge]
	from, to := r.boxes[e.From], r.boxes[e.To]
	y := from.Y + from.H/2
	var p pen
	p.start(from.X+from.W, y)
	p.straight(to.X-arrowLong, y)
	line := Line{Edge: edge, Path: p.path, Tip: Point{to.X, y}, Dir: Point{1, 0}}
	w, h := pillSize(r.labels[edge])
	r.labelAt(&line, Point{(from.X + from.W + to.X - arrowLong) / 2, y}, w, h)
	return line
}

// label puts a link's label where its vertex is.
func (r *router) label(line *Line, l link) {
	for _, v := range l.chain {
		if at := r.verts[v]; at.kind == labelVertex {
			b := r.bands[at.rank]
			r.labelAt(line, Point{at.x, (b.top + b.bottom) / 2}, at.left+at.right, at.h)
		}
	}
}

func (r *router) labelAt(line *Line, centre Point, w, h float64) {
	lines := r.labels[line.Edge]
	if len(lines) == 0 {
		return
	}
	line.Pill = Rect{X: centre.X - w/2, Y: centre.Y - h/2, W: w, H: h}
	for i, text := range lines {
		line.Labels = append(line.Labels, Text{
			X: centre.X, Y: line.Pill.Y + pillPad - 3 + float64(i)*labelFont.line() + labelFont.size,
			Text: text, Middle: true, Class: "label",
		})
	}
}

func (l *Line) move(dx, dy float64) {
	shift := func(p *Point) { p.X, p.Y = p.X+dx, p.Y+dy }
	for i := range l.Path {
		shift(&l.Path[i].C1)
		shift(&l.Path[i].C2)
		shift(&l.Path[i].To)
	}
	shift(&l.Tip)
	for i := range l.Labels {
		l.Labels[i].X, l.Labels[i].Y = l.Labels[i].X+dx, l.Labels[i].Y+dy
	}
	l.Pill.X, l.Pill.Y = l.Pill.X+dx, l.Pill.Y+dy
}
