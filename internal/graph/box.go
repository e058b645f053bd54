package graph

import "strings"

// Sizes inside a box, in pixels.
const (
	boxPad     = 14.0
	boxMin     = 132.0
	nameMax    = 190.0 // a longer name is wrapped
	rowMax     = 200.0 // a longer row is cut
	groupPad   = 9.0
	groupGap   = 10.0
	columnsMax = 4 // branches beside each other; further ones go below
	rowsMax    = 10
	iconSize   = 14.0
	behind     = 4.0 // how far the second frame of a loop looks out
)

// Text is one line of text in a drawing. X is its left end or, if Middle, its
// centre; Y is the base line.
type Text struct {
	X, Y   float64
	Text   string
	Full   string // where Text was cut
	Class  string
	Middle bool
}

// Rect is a frame around a group of parts.
type Rect struct {
	X, Y, W, H float64
	Class      string
}

// Box is a state with everything inside of it; all positions are absolute.
type Box struct {
	Node       int
	X, Y, W, H float64 // X, Y: the top left corner
	Icon       Point
	Rule       float64 // where the line below the name is drawn; 0: none
	Texts      []Text
	Rects      []Rect
	Inner      []Inner
}

// Inner is a drawing inside of a box, and where its top left corner is.
type Inner struct {
	Point
	*Drawing
	Framed bool // it has a ground of its own
}

// block is a laid out part, with positions from its own top left corner.
type block struct {
	w, h  float64
	texts []Text
	rects []Rect
	inner []Inner
}

// add puts b into a at a place.
func (a *block) add(b block, x, y float64) {
	for _, t := range b.texts {
		t.X, t.Y = t.X+x, t.Y+y
		a.texts = append(a.texts, t)
	}
	for _, r := range b.rects {
		r.X, r.Y = r.X+x, r.Y+y
		a.rects = append(a.rects, r)
	}
	for _, d := range b.inner {
		d.X, d.Y = d.X+x, d.Y+y
		a.inner = append(a.inner, d)
	}
}

// newBox lays out a state from its top left corner.
func newBox(g *Graph, i int) *Box {
	n := g.Nodes[i]
	b := &Box{Node: i}
	caption := n.about()
	if n.Compensation {
		caption = strings.TrimLeft(caption+", compensates", ", ")
	}
	names := nameFont.wrap(n.label(), nameMax, 3)
	does, inside := stack(rows(n), 3), areas(g, n)
	b.W = max(boxMin, 2*boxPad+iconSize+6+typeFont.width(caption), 2*boxPad+does.w, 2*boxPad+stack(inside, 0).w)
	for _, line := range names {
		b.W = max(b.W, 2*boxPad+nameFont.width(line))
	}
	widen(inside, b.W-2*boxPad)
	body := stack([]block{does, stack(inside, groupGap)}, 8)
	y := 10.0
	b.Icon = Point{boxPad, y}
	b.Texts = append(b.Texts, Text{X: boxPad + iconSize + 6, Y: y + 11, Text: typeFont.cut(caption, b.W-2*boxPad-iconSize-6), Class: "type"})
	y += iconSize + 4
	for _, line := range names {
		b.Texts = append(b.Texts, Text{X: boxPad, Y: y + nameFont.size, Text: line, Class: "name"})
		y += nameFont.line()
	}
	if body.h > 0 {
		y += 6
		b.Rule = y
		y += 7
		all := block{}
		all.add(body, boxPad, y)
		b.Texts, b.Rects, b.Inner = append(b.Texts, all.texts...), all.rects, all.inner
		y += body.h
	}
	b.H = y + 10
	return b
}

// rows are the blocks of everything a state does.
func rows(n Node) []block {
	var out []block
	for _, p := range shorten(n.Parts, rowsMax) {
		if n.Type == "parallel" && p.Kind == PartFan {
			p.Text = "" // the type says it
		}
		out = append(out, partBlock(p, 0))
	}
	for _, note := range n.Notes {
		out = append(out, textBlock(note, "note"))
	}
	return out
}

func shorten(parts []Part, n int) []Part {
	if len(parts) <= n {
		return parts
	}
	more := Part{Kind: PartMore, Text: "and " + count(len(parts)-n+1, "more", "more")}
	return append(parts[:n-1:n-1], more)
}

// textBlock is a text in at most two lines.
func textBlock(text, class string) block {
	f := partFont
	f.bold = class == "group-name"
	lines := f.wrap(text, rowMax, 2)
	var out block
	for _, line := range lines {
		out.texts = append(out.texts, Text{Y: out.h + f.size, Text: line, Class: class})
		out.w, out.h = max(out.w, f.width(line)), out.h+f.line()
	}
	if whole := clean(text); strings.HasSuffix(lines[len(lines)-1], "…") {
		for i := range out.texts {
			out.texts[i].Full = whole
		}
	}
	return out
}

// groupsDeep is how many groups inside each other are drawn.
const groupsDeep = 6

func partBlock(p Part, depth int) block {
	if !p.group() {
		b := textBlock(p.Text, "part "+string(p.Kind))
		if p.Note != "" {
			b = stack([]block{b, textBlock(p.Note, "note")}, 0)
		}
		return b
	}
	head := textBlock(p.Text, "group-name")
	if clean(p.Text) == "" {
		head = block{}
	}
	blocks := []block{head}
	if p.Note != "" {
		blocks = append(blocks, textBlock(p.Note, "note"))
	}
	if depth >= groupsDeep {
		return stack(append(blocks, textBlock("…", "part more")), 3)
	}
	var inner []block
	for _, q := range shorten(p.Parts, rowsMax) {
		b := partBlock(q, depth+1)
		if p.Kind == PartFan && !q.group() {
			b = framed(b, "branch")
		}
		inner = append(inner, b)
	}
	if p.Kind == PartFan {
		return stack(append(blocks, columns(inner)), 5)
	}
	b := framed(stack(append(blocks, inner...), 3), string(p.Kind))
	if p.Kind == PartEach { // it is drawn twice, the second behind the first
		b.w, b.h = b.w+behind, b.h+behind
	}
	return b
}

func framed(b block, class string) block {
	out := block{w: b.w + 2*groupPad, h: b.h + 2*groupPad - 2}
	out.rects = []Rect{{W: out.w, H: out.h, Class: class}}
	out.add(b, groupPad, groupPad-1)
	return out
}

// stack puts blocks below each other.
func stack(blocks []block, gap float64) block {
	var out block
	for _, b := range blocks {
		if b.h == 0 {
			continue
		}
		if out.h > 0 {
			out.h += gap
		}
		out.add(b, 0, out.h)
		out.w, out.h = max(out.w, b.w), out.h+b.h
	}
	return out
}

// columns puts blocks beside each other, a few to a row, all of a row equally high.
func columns(blocks []block) block {
	var out block
	per := len(blocks)
	if per > columnsMax {
		per = min(columnsMax, (per+1)/2)
	}
	for len(blocks) > 0 {
		row := blocks[:min(per, len(blocks))]
		blocks = blocks[len(row):]
		var line block
		for i, b := range row {
			if i > 0 {
				line.w += groupGap
			}
			line.add(b, line.w, 0)
			line.w, line.h = line.w+b.w, max(line.h, b.h)
		}
		if out.h > 0 {
			out.h += groupGap
		}
		for i := range line.rects {
			if line.rects[i].Y == 0 { // the frame of a column, not one inside of it
				line.rects[i].H = line.h
			}
		}
		out.add(line, 0, out.h)
		out.w, out.h = max(out.w, line.w), out.h+line.h
	}
	return out
}

// move shifts a box with everything in it.
func (b *Box) move(x, y float64) {
	b.X, b.Y, b.Icon.X, b.Icon.Y = b.X+x, b.Y+y, b.Icon.X+x, b.Icon.Y+y
	if b.Rule > 0 {
		b.Rule += y
	}
	for i := range b.Texts {
		b.Texts[i].X, b.Texts[i].Y = b.Texts[i].X+x, b.Texts[i].Y+y
	}
	for i := range b.Rects {
		b.Rects[i].X, b.Rects[i].Y = b.Rects[i].X+x, b.Rects[i].Y+y
	}
	for i := range b.Inner {
		b.Inner[i].X, b.Inner[i].Y = b.Inner[i].X+x, b.Inner[i].Y+y
	}
}
