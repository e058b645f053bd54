package graph_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/graph"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

func tasks(t testing.TB, source string) *ir.Program {
	t.Helper()
	c, found := dialect.NewRegistry(sw10.FrontEnd{}).Compile("tasks.yaml", []byte(source), nil, dialect.Options{})
	if c.Program == nil {
		t.Fatal(found)
	}
	return c.Program
}

// Every task of a definition is drawn once, at any depth, and inside of the task around it.
func TestEveryTaskIsDrawn(t *testing.T) {
	source, err := os.ReadFile("testdata/tasks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := tasks(t, string(source))
	states := p.States
	for _, a := range p.Asides {
		if strings.HasPrefix(a.Title, "function ") {
			states = append(states, a.States...)
		}
	}
	g := graph.FromProgram(p)
	var svg strings.Builder
	if err := graph.SVG(&svg, graph.Layout(g), graph.SVGOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if n := strings.Count(svg.String(), fmt.Sprintf(`data-state="%s"`, s.Name)); n != 1 {
			t.Errorf("%s is drawn %d times", s.Name, n)
		}
	}
	if n := strings.Count(svg.String(), "data-state="); n != len(states) {
		t.Errorf("%d tasks are drawn, want %d", n, len(states))
	}
	inside(t, graph.Layout(g), graph.Rect{W: 1e9, H: 1e9})
}

// inside checks that boxes lie in their frame and beside each other, at any depth.
func inside(t *testing.T, d *graph.Drawing, room graph.Rect) {
	t.Helper()
	name := func(b *graph.Box) string { return d.Graph.Nodes[b.Node].Name }
	for i, b := range d.Boxes {
		if b.X < room.X || b.Y < room.Y || b.X+b.W > room.X+room.W || b.Y+b.H > room.Y+room.H {
			t.Errorf("%s reaches beyond the task around it", name(b))
		}
		for _, o := range d.Boxes[:i] {
			if b.X < o.X+o.W && o.X < b.X+b.W && b.Y < o.Y+o.H && o.Y < b.Y+b.H {
				t.Errorf("%s covers %s", name(b), name(o))
			}
		}
		for k, in := range b.Inner {
			// In the coordinates of the inner drawing.
			inside(t, in.Drawing, graph.Rect{X: b.X - in.X, Y: b.Y - in.Y, W: b.W, H: b.H})
			for _, o := range b.Inner[:k] {
				if in.Y+in.H/2 < o.Y+o.H/2 {
					t.Errorf("%s: a list of tasks stands above the one before it", name(b))
				}
			}
		}
	}
}

// The words say what the drawing shows.
func TestTasksInWords(t *testing.T) {
	text := render(t, "txt", load(t, "testdata/tasks.yaml"))
	for _, want := range []string{
		"● every 1 h\n",
		"│   if .lines != null\n",
		"│   for each line of .lines (while .good)\n",
		"│     enough (switch) (plenty: .stock > 10 → exit; some: .stock > 0 → reserve; none (default) → missing)\n",
		"│     reserve (call) (→ exit)\n",
		"│       fail with Out of stock\n",
		"│   side by side (until 1 finished)\n",
		"│     south (try) (goes on after any error)\n",
		"│     late (wait) (→ end)\n",
		"│   for each shop.approved or shop.refused (until length == 2, 2 days at most)\n",
		"│   catch communication when $problem.status >= 500 (after 4 retries, 10 s apart and doubling)\n",
		"│     apologise (call) (→ end)\n",
		"└╌╌ error communication when $problem.status >= 500 ╌╌▶ later\n",
		"■ notify  (function)\n",
		"after every call, if $task.name != \"stock\"\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// A definition may nest deeper than anyone can read: the drawing says that there is more.
func TestDeepTasks(t *testing.T) {
	source := "document: {dsl: 1.0.3, namespace: default, name: deep, version: 1.0.0}\ndo:\n- t: "
	for range 30 {
		source += "{do: [t: "
	}
	source += "{set: {x: 1}}" + strings.Repeat("]}", 30) + "\n"
	g := graph.FromProgram(tasks(t, source))
	deep := 0
	for g != nil {
		n := g.Nodes[0]
		if deep++; len(n.Areas) == 0 {
			if len(n.Parts) != 1 || n.Parts[0].Text != "… 1 task" {
				t.Errorf("at depth %d: %+v", deep, n.Parts)
			}
			break
		}
		g = n.Areas[0].Graph
	}
	if deep != 10 {
		t.Errorf("%d levels are drawn", deep)
	}
}
