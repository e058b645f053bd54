package graph_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/internal/graph"
)

type rect struct{ x0, y0, x1, y1 float64 }

func (a rect) overlaps(b rect) bool { return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 }

// check finds what must never be seen in a drawing.
func check(t interface{ Fatalf(string, ...any) }, d *graph.Drawing) {
	g := d.Graph
	if len(d.Boxes) != len(g.Nodes) || len(d.Lines) != len(g.Edges) {
		t.Fatalf("%d boxes of %d states, %d lines of %d edges", len(d.Boxes), len(g.Nodes), len(d.Lines), len(g.Edges))
	}
	var all []rect
	var what []string
	add := func(x, y, w, h float64, format string, args ...any) {
		r := rect{x, y, x + w, y + h}
		for _, v := range []float64{x, y, w, h} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%s is nowhere: %v", fmt.Sprintf(format, args...), r)
			}
		}
		if r.x0 < 0 || r.y0 < 0 || r.x1 > d.W || r.y1 > d.H {
			t.Fatalf("%s is outside: %v in %v×%v", fmt.Sprintf(format, args...), r, d.W, d.H)
		}
		all, what = append(all, r), append(what, fmt.Sprintf(format, args...))
	}
	for i, b := range d.Boxes {
		add(b.X, b.Y, b.W, b.H, "box %d", i)
		for _, in := range b.Rects {
			if in.X < b.X || in.Y < b.Y || in.X+in.W > b.X+b.W || in.Y+in.H > b.Y+b.H {
				t.Fatalf("a group leaves box %d", i)
			}
		}
	}
	for i, m := range d.Marks {
		add(m.X-m.W/2, m.Y-m.H/2, m.W, m.H, "mark %d", i)
	}
	for i, l := range d.Lines {
		if l.Edge != i || len(l.Path) == 0 {
			t.Fatalf("line %d draws edge %d with %d pieces", i, l.Edge, len(l.Path))
		}
		if len(g.Edges[i].Labels) > 0 {
			add(l.Pill.X, l.Pill.Y, l.Pill.W, l.Pill.H, "label of edge %d", i)
		}
		for _, c := range l.Path {
			for _, v := range []float64{c.To.X, c.To.Y, c.C1.X, c.C1.Y, c.C2.X, c.C2.Y} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("line %d goes nowhere", i)
				}
			}
		}
		attached(t, d, i)
	}
	for i := range all {
		for j := range i {
			if all[i].overlaps(all[j]) {
				t.Fatalf("%s %v overlaps %s %v", what[i], all[i], what[j], all[j])
			}
		}
	}
	clear(t, d)
}

// attached: a line begins at its source and its tip is at its target.
func attached(t interface{ Fatalf(string, ...any) }, d *graph.Drawing, i int) {
	on := func(p graph.Point, b *graph.Box) bool {
		const near = 1
		return p.X >= b.X-near && p.X <= b.X+b.W+near && p.Y >= b.Y-near && p.Y <= b.Y+b.H+near
	}
	e, l := d.Graph.Edges[i], d.Lines[i]
	referred := false
	for _, m := range d.Marks {
		referred = referred || m.Edge == i && m.Kind == graph.MarkReference
	}
	if e.From >= 0 && !on(l.Path[0].To, d.Boxes[e.From]) {
		t.Fatalf("line %d begins at %v, not at its box %+v", i, l.Path[0].To, *d.Boxes[e.From])
	}
	if e.To >= 0 && !referred && !on(l.Tip, d.Boxes[e.To]) {
		t.Fatalf("line %d ends at %v, not at its box", i, l.Tip)
	}
}

// clear: no line runs through a box. Curves are sampled.
func clear(t interface{ Fatalf(string, ...any) }, d *graph.Drawing) {
	if len(d.Boxes)*len(d.Lines) > 4000 {
		return
	}
	for i, l := range d.Lines {
		at := l.Path[0].To
		for _, c := range l.Path[1:] {
			for k := 1; k < 16; k++ {
				u := float64(k) / 16
				p := graph.Point{X: at.X + (c.To.X-at.X)*u, Y: at.Y + (c.To.Y-at.Y)*u}
				if !c.Straight {
					p = graph.Point{X: cubic(at.X, c.C1.X, c.C2.X, c.To.X, u), Y: cubic(at.Y, c.C1.Y, c.C2.Y, c.To.Y, u)}
				}
				for j, b := range d.Boxes {
					if p.X > b.X+1 && p.X < b.X+b.W-1 && p.Y > b.Y+1 && p.Y < b.Y+b.H-1 {
						t.Fatalf("line %d (%+v) runs through box %d at %v", i, d.Graph.Edges[i], j, p)
					}
				}
			}
			at = c.To
		}
	}
}

func cubic(a, b, c, d, u float64) float64 {
	v := 1 - u
	return a*v*v*v + 3*b*v*v*u + 3*c*v*u*u + d*u*u*u
}

var kinds = []graph.Kind{graph.Next, graph.Condition, graph.Event, graph.Default, graph.Timeout, graph.Error, graph.Compensate}

func drawGraph(t *rapid.T) *graph.Graph {
	n := rapid.IntRange(0, 14).Draw(t, "states")
	g := &graph.Graph{ID: "random"}
	for i := range n {
		node := graph.Node{Name: fmt.Sprintf("State %d", i), Type: rapid.SampledFrom([]string{"operation", "switch", "parallel", "x"}).Draw(t, "type")}
		for k := range rapid.IntRange(0, 3).Draw(t, "parts") {
			p := graph.Part{Kind: graph.PartCall, Text: fmt.Sprintf("call %d", k)}
			if rapid.Bool().Draw(t, "group") {
				p = graph.Part{Kind: rapid.SampledFrom([]graph.PartKind{graph.PartFan, graph.PartEach}).Draw(t, "kind"), Text: "group", Parts: []graph.Part{p, p, p}}
			}
			node.Parts = append(node.Parts, p)
		}
		g.Nodes = append(g.Nodes, node)
	}
	if n == 0 {
		return g
	}
	g.Nodes[0].Start = true
	g.Edges = append(g.Edges, graph.Edge{From: graph.Outside, To: 0, Kind: graph.Start})
	type key struct {
		from, to int
		kind     graph.Kind
	}
	seen := map[key]bool{}
	for range rapid.IntRange(0, 30).Draw(t, "edges") {
		e := graph.Edge{
			From: rapid.IntRange(0, n-1).Draw(t, "from"), To: rapid.IntRange(graph.Outside, n-1).Draw(t, "to"),
			Kind: rapid.SampledFrom(kinds).Draw(t, "edge kind"),
		}
		if k := (key{e.From, e.To, e.Kind}); seen[k] {
			continue // these are one edge, by definition
		} else {
			seen[k] = true
		}
		for k := range rapid.IntRange(0, 5).Draw(t, "labels") {
			e.Labels = append(e.Labels, fmt.Sprintf("label %d", k))
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t)
		d := graph.Layout(g)
		check(t, d)
		if again := graph.Layout(g); !reflect.DeepEqual(d, again) {
			t.Fatalf("two drawings of one graph differ")
		}
	})
}

func chain(n int) *graph.Graph {
	g := &graph.Graph{ID: "chain"}
	for i := range n {
		g.Nodes = append(g.Nodes, graph.Node{Name: fmt.Sprintf("State %d", i), Type: "operation", Start: i == 0})
		g.Edges = append(g.Edges, graph.Edge{From: i - 1, To: i, Kind: graph.Next})
	}
	return g
}

// large are graphs that a layout must not choke on.
func large() map[string]*graph.Graph {
	out := map[string]*graph.Graph{"chain of 5000": chain(5000)}

	star := &graph.Graph{ID: "star", Nodes: []graph.Node{{Name: "All", Start: true}}}
	for i := range 1000 {
		star.Nodes = append(star.Nodes, graph.Node{Name: fmt.Sprintf("State %d", i)})
		star.Edges = append(star.Edges, graph.Edge{From: i + 1, To: 0, Kind: graph.Next, Labels: []string{"to all"}})
	}
	out["star of 1000"] = star

	handled := chain(1000)
	handled.Nodes = append(handled.Nodes, graph.Node{Name: "Handler"})
	for i := range 1000 {
		handled.Edges = append(handled.Edges, graph.Edge{From: i, To: 1000, Kind: graph.Error, Labels: []string{"any error"}})
	}
	out["chain of 1000 with one handler"] = handled

	bipartite := &graph.Graph{ID: "bipartite"}
	for i := range 100 {
		bipartite.Nodes = append(bipartite.Nodes, graph.Node{Name: fmt.Sprintf("State %d", i)})
	}
	for i := range 50 {
		for k := range 50 {
			bipartite.Edges = append(bipartite.Edges, graph.Edge{From: i, To: 50 + k, Kind: graph.Condition, Labels: []string{fmt.Sprintf("%d to %d", i, k)}})
		}
	}
	out["bipartite 50 by 50"] = bipartite

	out["1000 states"] = scattered(1000, 1500, 40)
	out["1000 states, anywhere"] = scattered(1000, 3000, 1000)
	out["1000 alone"] = &graph.Graph{Nodes: chain(1000).Nodes}
	return out
}

// scattered is a chain of n states with further edges that reach as far as a
// distance, forwards and back.
func scattered(n, edges, reach int) *graph.Graph {
	g := chain(n)
	seed := uint32(7)
	next := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	for i := range edges {
		from := next(n)
		to := min(max(from+next(2*reach)-reach, 0), n-1)
		e := graph.Edge{From: from, To: to, Kind: kinds[i%len(kinds)]}
		if i%2 == 0 {
			e.Labels = []string{fmt.Sprintf("case %d", i)}
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

// The work is counted, so that the test is the same on every machine; the
// benchmark shows what a count means in time.
const budget = 8_000_000

func TestLargeGraphsStayWithinTheBudget(t *testing.T) {
	for name, g := range large() {
		t.Run(name, func(t *testing.T) {
			d := graph.Layout(g)
			check(t, d)
			if d.Steps > budget {
				t.Errorf("%d steps, more than %d", d.Steps, budget)
			}
		})
	}
}

func TestLinesTooLongToFollowEndInAReference(t *testing.T) {
	d := graph.Layout(scattered(1000, 3000, 1000))
	n := 0
	for _, m := range d.Marks {
		if m.Kind == graph.MarkReference {
			n++
			if to := d.Graph.Nodes[d.Graph.Edges[m.Edge].To].Name; m.Text != to {
				t.Errorf("a reference to %q says %q", to, m.Text)
			}
		}
	}
	if n == 0 {
		t.Error("no references: the test graph is too small")
	}
}

func TestLinesToOneTargetJoin(t *testing.T) {
	g := chain(12)
	for i := range 8 {
		g.Edges = append(g.Edges, graph.Edge{From: i, To: 11, Kind: graph.Error, Labels: []string{"error X"}})
	}
	d := graph.Layout(g)
	tips := map[graph.Point]bool{}
	for i, l := range d.Lines {
		if g.Edges[i].Kind == graph.Error {
			tips[l.Tip] = true
		}
	}
	if len(tips) != 1 {
		t.Errorf("8 error lines arrive at %d places", len(tips))
	}
}

func TestLongNamesAreCutAndKeptInTheTitle(t *testing.T) {
	name := strings.Repeat("a very long name ", 40)
	g := &graph.Graph{Nodes: []graph.Node{{Name: name}}}
	d := graph.Layout(g)
	if d.Boxes[0].W > 260 {
		t.Errorf("the box is %v wide", d.Boxes[0].W)
	}
	if svg := render(t, "svg", g); !strings.Contains(svg, "<title>"+name) {
		t.Error("the whole name is not in the title")
	}
}

func BenchmarkLayout(b *testing.B) {
	for name, g := range large() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			steps := 0
			for b.Loop() {
				steps = graph.Layout(g).Steps
			}
			b.ReportMetric(float64(steps), "steps")
		})
	}
}

// What undoes a state may be much taller. The way from the state to the next one is as short as
// without it.
func TestATallBoxBesideAStateLeavesNoGapBelowIt(t *testing.T) {
	var parts []graph.Part
	for range 8 {
		parts = append(parts, graph.Part{Kind: graph.PartCall, Text: "cancel"})
	}
	g := &graph.Graph{Nodes: []graph.Node{{Name: "A", Start: true}, {Name: "B"}, {Name: "C"}, {Name: "D"}, {Name: "Undo", Compensation: true}}, Edges: []graph.Edge{
		{From: graph.Outside, To: 0, Kind: graph.Start},
		{From: 0, To: 1, Kind: graph.Next},
		{From: 1, To: 2, Kind: graph.Next},
		{From: 2, To: 3, Kind: graph.Next},
		{From: 3, To: graph.Outside, Kind: graph.Next},
		{From: 1, To: 4, Kind: graph.Compensate, Labels: []string{"undone by"}},
	}}
	gap := func(d *graph.Drawing) float64 { return d.Boxes[2].Y - d.Boxes[1].Y - d.Boxes[1].H }
	low := graph.Layout(g)
	g.Nodes[4].Parts = parts
	tall := graph.Layout(g)
	check(t, tall)
	if tall.Boxes[4].H < 150 || gap(tall) != gap(low) {
		t.Errorf("%v below a state beside a box of %v, want %v", gap(tall), tall.Boxes[4].H, gap(low))
	}
	// Where something is in the way it keeps its row: here the box beside the next state.
	g.Nodes = append(g.Nodes, graph.Node{Name: "Undo too", Compensation: true, Parts: parts})
	g.Edges = append(g.Edges, graph.Edge{From: 2, To: 5, Kind: graph.Compensate, Labels: []string{"undone by"}})
	check(t, graph.Layout(g))
}
