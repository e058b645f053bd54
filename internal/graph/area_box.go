package graph

import "strings"

// areaPad is the room between the frame of an area and the drawing in it.
const areaPad = 10.0

// areas are the blocks of the lists of states inside of a state.
func areas(g *Graph, n Node) []block {
	var out []block
	for _, a := range n.Areas {
		inner := *a.Graph
		inner.stop = g.stop
		d := Layout
		if a.Kind == AreaBranches {
			d = grid
		}
		out = append(out, a.block(d(&inner)))
	}
	return out
}

// widen gives areas a common width: their frames grow, and what is in them stands in the middle.
func widen(areas []block, wide float64) {
	for i := range areas {
		b := &areas[i]
		if len(b.rects) > 0 {
			b.rects[0].W += wide - b.w
		}
		for k := range b.inner {
			b.inner[k].X += (wide - b.w) / 2
		}
		b.w = wide
	}
}

// besideGap is the room between the flow and what stands beside it.
const besideGap = 40.0

// beside places the states that nothing leads to in columns on the right of a drawing: functions
// and extensions.
func (d *Drawing) beside(g *Graph) {
	flow := len(d.Boxes)
	d.Graph = g
	if flow == len(g.Nodes) {
		return
	}
	x, y, wide := d.W-margin+besideGap, margin, 0.0
	for i := flow; i < len(g.Nodes); i++ {
		b := newBox(g, i)
		if y > margin && y+b.H > d.H {
			x, y, wide = x+wide+groupGap, margin, 0
		}
		b.move(x, y)
		y, wide = y+b.H+groupGap, max(wide, b.W)
		d.Boxes = append(d.Boxes, b)
		d.W, d.H = max(d.W, b.X+b.W+margin), max(d.H, b.Y+b.H+margin)
	}
}

// block lays out an area: its caption, and the drawing of what is in it.
func (a Area) block(d *Drawing) block {
	pad, plain := areaPad, a.Kind == AreaList && a.Text == "" && a.Note == ""
	if plain {
		pad = 2
	}
	out := margin - pad // a drawing inside of another needs less room around it
	inner := block{w: d.W - 2*out, h: d.H - 2*out, inner: []Inner{{Point{-out, -out}, d, !plain}}}
	if plain {
		return inner
	}
	var blocks []block
	if a.Text != "" {
		blocks = append(blocks, textBlock(a.Text, "group-name"))
	}
	if a.Note != "" {
		blocks = append(blocks, textBlock(a.Note, "note"))
	}
	b := framed(stack(append(blocks, inner), 3), string(a.Kind))
	if a.Kind == AreaEach { // it is drawn twice, the second behind the first
		b.w, b.h = b.w+behind, b.h+behind
	}
	return b
}

// grid places states that run side by side: beside each other, a few to a row.
func grid(g *Graph) *Drawing {
	d := &Drawing{Graph: g}
	per := len(g.Nodes)
	if per > columnsMax {
		per = min(columnsMax, (per+1)/2)
	}
	x, y, high := margin, margin, 0.0
	for i := range g.Nodes {
		if i > 0 && i%per == 0 {
			x, y, high = margin, y+high+groupGap, 0
		}
		b := newBox(g, i)
		b.move(x, y)
		x, high = x+b.W+groupGap, max(high, b.H)
		d.Boxes = append(d.Boxes, b)
		d.W, d.H = max(d.W, b.X+b.W+margin), max(d.H, b.Y+b.H+margin)
	}
	return d
}

// all are the parts of a state with what is in its areas, for output without drawings inside of
// boxes: a way that is not to the next state is told in words.
func (n Node) all() []Part {
	out := n.Parts
	for _, a := range n.Areas {
		part := Part{Kind: PartBranch, Text: a.Text, Note: a.Note, Parts: a.Graph.parts(a.Kind == AreaBranches)}
		switch a.Kind {
		case AreaEach:
			part.Kind = PartEach
		case AreaBranches:
			part.Kind = PartFan
		}
		if a.Text == "" && a.Note == "" {
			out = append(out[:len(out):len(out)], part.Parts...)
		} else {
			out = append(out[:len(out):len(out)], part)
		}
	}
	return out
}

// parts are the states of a list, with their ways in words.
func (g *Graph) parts(apart bool) []Part {
	ways := g.outgoing()
	var out []Part
	for i, n := range g.Nodes {
		p := Part{Kind: PartBranch, Text: n.label(), Parts: n.all(), Last: true}
		if n.Type != "" {
			p.Text += " (" + n.about() + ")"
		}
		var notes []string
		for _, k := range ways[i] {
			e := g.Edges[k]
			if e.To == i+1 {
				p.Last = false
			}
			if e.Kind == Next && e.To == i+1 {
				continue
			}
			notes = append(notes, strings.TrimSpace(strings.Join(e.Labels, " or ")+" → "+g.target(e)))
		}
		p.Note = strings.Join(append(n.Notes[:len(n.Notes):len(n.Notes)], notes...), "; ")
		if apart {
			p.Last = false
		}
		out = append(out, p)
	}
	return out
}
