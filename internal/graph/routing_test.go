package graph_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/graph"
)

// sampled is a line as many short straight pieces.
func sampled(l graph.Line) []graph.Point {
	at := l.Path[0].To
	out := []graph.Point{at}
	for _, c := range l.Path[1:] {
		for k := 1; k <= 16; k++ {
			u := float64(k) / 16
			p := graph.Point{X: at.X + (c.To.X-at.X)*u, Y: at.Y + (c.To.Y-at.Y)*u}
			if !c.Straight {
				p = graph.Point{X: cubic(at.X, c.C1.X, c.C2.X, c.To.X, u), Y: cubic(at.Y, c.C1.Y, c.C2.Y, c.To.Y, u)}
			}
			out = append(out, p)
		}
		at = c.To
	}
	return out
}

// crossed reports whether two lines cross.
func crossed(a, b []graph.Point) bool {
	side := func(p, q, r graph.Point) float64 { return (q.X-p.X)*(r.Y-p.Y) - (q.Y-p.Y)*(r.X-p.X) }
	for i := 1; i < len(a); i++ {
		for k := 1; k < len(b); k++ {
			p, q, r, s := a[i-1], a[i], b[k-1], b[k]
			if side(p, q, r)*side(p, q, s) < 0 && side(r, s, p)*side(r, s, q) < 0 {
				return true
			}
		}
	}
	return false
}

// A way back goes around what leaves the same state, not across it.
func TestNoLinesCrossInTheExamples(t *testing.T) {
	files, _ := filepath.Glob("../../examples/*[a-z].yaml")
	for _, file := range append(files, "testdata/kinds.yaml") {
		if matched, _ := filepath.Match("*_test.yaml", filepath.Base(file)); matched {
			continue
		}
		d := graph.Layout(load(t, file))
		for i := range d.Lines {
			for k := range i {
				if crossed(sampled(d.Lines[i]), sampled(d.Lines[k])) {
					t.Errorf("%s: %s crosses %s", file, graph.Sentence(d.Graph, d.Graph.Edges[i]), graph.Sentence(d.Graph, d.Graph.Edges[k]))
				}
			}
		}
	}
}

// A line that could be straight has no small steps in it.
func TestLinesHaveNoSmallKinks(t *testing.T) {
	graphs := map[string]*graph.Graph{"60 states": scattered(60, 40, 6), "monitor": load(t, "../../examples/monitor.yaml"), "inbox": load(t, "../../examples/inbox.yaml")}
	for name, g := range graphs {
		kinks := 0
		for _, l := range graph.Layout(g).Lines {
			at := l.Path[0].To
			for _, c := range l.Path[1:] {
				// Corners and loops leave sideways, kinks leave upright.
				if dx := math.Abs(c.To.X - at.X); !c.Straight && c.C1.X == at.X && c.C2.X == c.To.X && dx <= 4 {
					kinks++
				}
				at = c.To
			}
		}
		if kinks > 0 {
			t.Errorf("%s: %d kinks of four pixels or less", name, kinks)
		}
	}
}

// A line back to a state in an earlier row has two corners and nothing else, where
// nothing stands in its way.
func TestALoneWayBackIsStraight(t *testing.T) {
	g := chain(4)
	g.Edges = append(g.Edges, graph.Edge{From: 3, To: 0, Kind: graph.Condition, Labels: []string{"again"}})
	path := graph.Layout(g).Lines[len(g.Edges)-1].Path
	curves := 0
	for _, c := range path[1:] {
		if !c.Straight {
			curves++
		}
	}
	if curves != 2 {
		t.Errorf("%d curves: %+v", curves, path)
	}
}
