package graph

import (
	"fmt"
	"iter"
	"math"
	"strings"
)

func (s *svg) line(l *Line) {
	e := s.d.Graph.Edges[l.Edge]
	tint := light["line"]
	switch e.Kind {
	case Error:
		tint = light["error"]
	case Compensate:
		tint = light["undo"]
	}
	label := ""
	if len(e.Labels) > 0 {
		label = fmt.Sprintf(` data-label="%s"`, attr(strings.Join(e.Labels, "\n")))
	}
	s.putf(`<g class="ls-edge ls-%s"%s%s%s><title>%s</title>`, class(string(e.Kind)),
		s.end("data-from", e.From), s.end("data-to", e.To), label, attr(Sentence(s.d.Graph, e)))
	switch e.stroke() {
	case "dashed":
		s.dashed(l, tint, 6, 4, "")
	case "dotted":
		s.dashed(l, tint, 1.5, 4.5, ` stroke-linecap="round"`)
	default:
		s.path(l.Path, tint, "")
	}
	if e.Kind == Default && len(l.Path) > 0 {
		at, dir := along(l.Path, 9) // the mark of a default way, as in BPMN
		// It leans by 60 degrees against the line, wherever that turns.
		x, y := 4.5*(dir.X*0.5+dir.Y*0.87), 4.5*(dir.Y*0.5-dir.X*0.87)
		s.putf(`<path class="ls-path" d="M%s %sL%s %s" stroke="%s" stroke-width="1.6"/>`, num(at.X-x), num(at.Y-y), num(at.X+x), num(at.Y+y), tint)
	}
	x, y := l.Dir.X, l.Dir.Y
	at := func(along, across float64) string {
		return num(l.Tip.X-x*along-y*across) + " " + num(l.Tip.Y-y*along+x*across)
	}
	s.putf(`<path class="ls-tip" d="M%sL%sL%sL%sz" fill="%s"/>`, at(0, 0), at(9.5, 4.3), at(7.2, 0), at(9.5, -4.3), tint)
	if len(l.Labels) > 0 {
		ground := ""
		if s.ground != "paper" {
			ground = " ls-on-" + s.ground
		}
		s.putf(`<rect class="ls-pill%s" x="%s" y="%s" width="%s" height="%s" rx="5" fill="%s"/>`,
			ground, num(l.Pill.X), num(l.Pill.Y), num(l.Pill.W), num(l.Pill.H), light[s.ground])
		if tint == light["line"] {
			tint = light["muted"]
		}
		for _, t := range l.Labels {
			s.text(t, labelFont, tint)
		}
	}
	s.putf("</g>\n")
}

func (s *svg) end(name string, node int) string {
	if node < 0 {
		return ""
	}
	return fmt.Sprintf(` %s="%s"`, name, attr(s.d.Graph.Nodes[node].Name))
}

func (s *svg) path(path []Curve, tint, more string) {
	s.putf(`<path class="ls-path" d="%s" fill="none" stroke="%s" stroke-width="1.6"%s/>`, pathData(path), tint, more)
}

// dashed draws the two parts of a line, before and behind its label, each from a
// whole dash to a whole dash.
func (s *svg) dashed(l *Line, tint string, on, off float64, more string) {
	for _, part := range aroundLabel(l) {
		long := length(part)
		if long < 1 {
			continue
		}
		times := max(math.Round((long-on)/(on+off)), 0)
		scale := long / (times*(on+off) + on)
		dash := fmt.Sprintf(` stroke-dasharray="%s %s"`, precise(on*scale), precise(off*scale))
		if times == 0 {
			dash = ""
		}
		s.path(part, tint, dash+more)
	}
}

// aroundLabel cuts a line where its label covers it.
func aroundLabel(l *Line) [][]Curve {
	p := l.Pill
	for i := 1; i < len(l.Path); i++ {
		from, to := l.Path[i-1].To, l.Path[i].To
		if !l.Path[i].Straight || p.W == 0 {
			continue
		}
		enter, leave := from, to
		inside := func(at, low, size float64) bool { return at > low && at < low+size }
		between := func(a, b, low, size float64) (float64, float64, bool) {
			if a < b {
				return low, low + size, a <= low && b >= low+size
			}
			return low + size, low, b <= low && a >= low+size
		}
		through := false
		switch {
		case from.X == to.X && inside(from.X, p.X, p.W):
			enter.Y, leave.Y, through = between(from.Y, to.Y, p.Y, p.H)
		case from.Y == to.Y && inside(from.Y, p.Y, p.H):
			enter.X, leave.X, through = between(from.X, to.X, p.X, p.W)
		}
		if through {
			before := append(l.Path[:i:i], Curve{To: enter, Straight: true})
			behind := append([]Curve{{To: leave, Straight: true}}, l.Path[i:]...)
			return [][]Curve{before, behind}
		}
	}
	return [][]Curve{l.Path}
}

// length is how long a path is; curves are measured in a few straight pieces.
func length(path []Curve) float64 {
	sum, last := 0.0, path[0].To
	for p := range points(path) {
		sum += math.Hypot(p.X-last.X, p.Y-last.Y)
		last = p
	}
	return sum
}

// points are the ends of the straight pieces that a path is measured by, after its first point.
func points(path []Curve) iter.Seq[Point] {
	const pieces = 24
	return func(yield func(Point) bool) {
		at := path[0].To
		for _, c := range path[1:] {
			for k := 1; k <= pieces; k++ {
				u := float64(k) / pieces
				p := Point{at.X + (c.To.X-at.X)*u, at.Y + (c.To.Y-at.Y)*u}
				if !c.Straight {
					p = Point{bezier(at.X, c.C1.X, c.C2.X, c.To.X, u), bezier(at.Y, c.C1.Y, c.C2.Y, c.To.Y, u)}
				}
				if !yield(p) {
					return
				}
			}
			at = c.To
		}
	}
}

// along is the point at a distance from the beginning of a path, and the way the path leads there.
func along(path []Curve, distance float64) (at, dir Point) {
	at, dir = path[0].To, Point{0, 1}
	for p := range points(path) {
		step := math.Hypot(p.X-at.X, p.Y-at.Y)
		if step == 0 {
			continue
		}
		dir = Point{(p.X - at.X) / step, (p.Y - at.Y) / step}
		if step >= distance {
			return Point{at.X + dir.X*distance, at.Y + dir.Y*distance}, dir
		}
		at, distance = p, distance-step
	}
	return at, dir
}

func bezier(a, b, c, d, u float64) float64 {
	v := 1 - u
	return v*v*v*a + 3*v*v*u*b + 3*v*u*u*c + u*u*u*d
}

func pathData(path []Curve) string {
	var b strings.Builder
	for i, c := range path {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "M%s %s", num(c.To.X), num(c.To.Y))
		case c.Straight:
			fmt.Fprintf(&b, "L%s %s", num(c.To.X), num(c.To.Y))
		default:
			fmt.Fprintf(&b, "C%s %s %s %s %s %s", num(c.C1.X), num(c.C1.Y), num(c.C2.X), num(c.C2.Y), num(c.To.X), num(c.To.Y))
		}
	}
	return b.String()
}

// precise writes a length that is repeated many times along a line.
func precise(v float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", v), "0"), ".")
}
