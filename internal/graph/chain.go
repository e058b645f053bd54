package graph

const (
	labelMax   = 150.0 // a longer label is wrapped
	labelLines = 4
	pillPad    = 5.0
)

// labelText are the lines of a label as they are shown.
func labelText(e Edge) []string {
	var out []string
	for _, l := range e.Labels {
		out = append(out, labelFont.wrap(l, labelMax, 2)...)
	}
	if len(out) > labelLines {
		out = append(out[:labelLines-1:labelLines-1], "and "+count(len(e.Labels)-labelLines+1, "more", "more"))
		if len(e.Labels) <= labelLines {
			out[labelLines-1] = "…"
		}
	}
	return out
}

// pillSize is the room that a label takes.
func pillSize(lines []string) (w, h float64) {
	for _, l := range lines {
		w = max(w, labelFont.width(l))
	}
	return w + 2*pillPad, float64(len(lines))*labelFont.line() + 2*pillPad - 4
}

// chains gives every link a vertex in each row that it passes. Labels have rows
// of their own, next to the source; after that, lines of one look to the same
// target share their bends, so that they join.
func (s *sketch) chains() {
	s.labels = make([][]string, len(s.g.Edges))
	for i, e := range s.g.Edges {
		s.labels[i] = labelText(e)
	}
	rows := 0
	for _, v := range s.verts {
		rows = max(rows, v.rank+1)
	}
	s.openRows(rows)
	s.up, s.down = make([][]arc, len(s.verts)), make([][]arc, len(s.verts))
	trunks := map[bundle]int{}
	bends := map[[2]int]int{} // by trunk and row
	seen := map[[2]int]bool{}
	for i := range s.links {
		l := &s.links[i]
		b := s.bundleOf(*l)
		if _, ok := trunks[b]; !ok {
			trunks[b] = len(trunks) + 1
		}
		top, bottom := s.verts[l.from].rank, s.verts[l.to].rank
		labelRow := top + 1
		if l.back {
			labelRow = bottom - 1
		}
		for r := top + 1; r < bottom; r++ {
			s.work(1)
			if r == labelRow && len(s.labels[l.edge]) > 0 {
				w, h := pillSize(s.labels[l.edge])
				l.chain = append(l.chain, s.vertex(vertex{kind: labelVertex, of: l.edge, left: w / 2, right: w / 2, h: h, rank: r}))
				continue
			}
			key := [2]int{trunks[b], r}
			if _, ok := bends[key]; !ok {
				bends[key] = s.vertex(vertex{kind: bendVertex, of: l.edge, trunk: trunks[b], left: 1, right: 1, rank: r})
			}
			l.chain = append(l.chain, bends[key])
		}
		above := l.from
		for _, v := range l.chain {
			s.connect(above, v, l, seen)
			above = v
		}
		s.connect(above, l.to, l, seen)
	}
}

// openRows makes a row between two others wherever a label needs one.
func (s *sketch) openRows(rows int) {
	labelled := make([]bool, rows+1)
	for _, l := range s.links {
		if len(s.labels[l.edge]) == 0 {
			continue
		}
		if l.back {
			labelled[s.verts[l.to].rank-1] = true
		} else {
			labelled[s.verts[l.from].rank] = true
		}
	}
	row := make([]int, rows+1)
	for r := 1; r <= rows; r++ {
		row[r] = row[r-1] + 1
		if labelled[r-1] {
			row[r]++
		}
	}
	for i := range s.verts {
		s.verts[i].rank = row[s.verts[i].rank]
	}
}

func (s *sketch) vertex(v vertex) int {
	s.verts = append(s.verts, v)
	s.up, s.down = append(s.up, nil), append(s.down, nil)
	return len(s.verts) - 1
}

func (s *sketch) connect(above, below int, l *link, seen map[[2]int]bool) {
	if key := [2]int{above, below}; seen[key] {
		return
	} else {
		seen[key] = true
	}
	p := s.priority(above, below, l)
	upper, lower := l.back && above == l.from, l.back && below == l.to
	s.down[above] = append(s.down[above], arc{to: below, priority: p, ownSide: upper, farSide: lower})
	s.up[below] = append(s.up[below], arc{to: above, priority: p, ownSide: lower, farSide: upper})
}

// priority says which pieces are to be straight: first the long lines, then the
// usual way through the workflow, then labels above what they lead to.
func (s *sketch) priority(above, below int, l *link) int8 {
	a, b := s.verts[above].kind, s.verts[below].kind
	e := s.g.Edges[l.edge]
	atSide := e.From >= 0 && s.host[e.From] >= 0 && a == stateVertex || e.To >= 0 && s.host[e.To] >= 0 && b == stateVertex
	p := int8(3)
	switch {
	case a == bendVertex && b == bendVertex:
		return 5
	case l.back && (a == stateVertex || b == stateVertex), atSide:
		return 0 // it is not attached at the vertex's centre
	case e.Kind == Next || e.Kind == Start:
		return 4
	case e.To < 0:
		p = 1
	case e.Kind == Error || e.Kind == Compensate:
		p = 2
	}
	if a == labelVertex {
		p++
	}
	return p
}
