package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/graph"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// A job's states tell their group and their description, its lines who takes them.
func TestJobsTellActorsAndGroups(t *testing.T) {
	g := load(t, "../../examples/jobs/kanban.yaml")
	for format, wanted := range map[string][]string{
		"txt":     {"■ REVIEW  (OPEN, wait)", "├── CLIENT or WFX ──▶ SHIPPED", "└── IMMEDIATE ──▶ READY", "■ DROPPED  (CLOSED, final)"},
		"mermaid": {`subgraph group_0["OPEN"]`, `s_READY -->|"WFX"| s_DROPPED`, `s_IDEA -->|"IMMEDIATE"| s_READY`},
		"dot":     {"subgraph cluster_group_1 {\n    label=\"CLOSED\"", `s_READY -> s_DOING [label="CLIENT"]`},
		"puml":    {"s_READY : group OPEN", "s_REVIEW --> s_DROPPED : CLIENT or WFX", "s_SHIPPED --> [*]"},
		"smcat":   {`s_DOING [label="DOING" type=regular class="wait"]: "group OPEN`, `s_DOING => s_REVIEW: "CLIENT";`},
		"svg":     {`data-state="READY" data-group="OPEN"`, ">OPEN, wait<", ">IMMEDIATE<", ">CLIENT or WFX<"},
		"list":    {"READY (OPEN, wait)", "Somebody works on it"},
	} {
		text := render(t, format, g)
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", format, want, text)
			}
		}
	}
	text := render(t, "txt", load(t, "../../examples/jobs/firmware.yaml"))
	for _, want := range []string{"after 6 h ──▶ BROKEN", "CLIENT or WFX ──▶ BROKEN", "after 15 min ──▶ ROLLED-BACK"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Names of groups are as harmless as others, and more groups than colours are drawn.
func TestJobsWithStrangeAndManyGroups(t *testing.T) {
	p := &ir.Program{ID: "many", Job: true, Nodes: make([]ir.Node, 1)}
	for i := range 30 {
		state := fmt.Sprintf("S%d", i)
		p.States = append(p.States, ir.State{Name: state, Type: "wait", Start: i == 0, End: i == 29})
		p.Groups = append(p.Groups, ir.Group{Name: fmt.Sprintf("<\"]%d{}\n;>", i), States: []string{state, "nowhere"}})
		if i > 0 {
			p.Edges = append(p.Edges, ir.Edge{From: fmt.Sprintf("S%d", i-1), To: state, Kind: ir.EdgeOffer, Label: "CLIENT"})
		}
	}
	p.Edges = append(p.Edges, ir.Edge{From: "S0", To: "nowhere", Kind: ir.EdgeOffer, Label: "WFX"})
	g := graph.FromProgram(p)
	if len(g.Edges) != 1+29+1 {
		t.Errorf("%d edges", len(g.Edges))
	}
	for format := range formats {
		text := render(t, format, g)
		if format == "svg" && strings.Contains(text, `<"]`) || format == "mermaid" && strings.Contains(text, `<"]`) {
			t.Errorf("%s: a name is not written safely:\n%s", format, text)
		}
	}
}

// Who may make a move is told in the same words everywhere, whoever stands first in the file.
func TestActorsHaveAFixedOrder(t *testing.T) {
	p := &ir.Program{ID: "both", Job: true, Nodes: make([]ir.Node, 1)}
	for _, name := range []string{"A", "B", "C"} {
		p.States = append(p.States, ir.State{Name: name, Type: "wait", Start: name == "A"})
	}
	for _, e := range [][3]string{{"A", "B", "CLIENT"}, {"A", "B", "WFX"}, {"B", "C", "WFX"}, {"B", "C", "CLIENT"}} {
		p.Edges = append(p.Edges, ir.Edge{From: e[0], To: e[1], Kind: ir.EdgeOffer, Label: e[2]})
	}
	text := render(t, "mermaid", graph.FromProgram(p))
	if strings.Count(text, "CLIENT or WFX") != 2 {
		t.Errorf("not everywhere the same:\n%s", text)
	}
	if strings.Contains(text, "compensates") {
		t.Errorf("a look that nothing has:\n%s", text)
	}
}

// state-machine-cat takes names with initial, final and the like for those of pseudo-states,
// unless it is told otherwise.
func TestSmcatTakesNoStateForAnother(t *testing.T) {
	p := &ir.Program{ID: "names", Job: true, Nodes: make([]ir.Node, 1)}
	for _, name := range []string{"initialized", "finalize", "parallel-work", "history"} {
		p.States = append(p.States, ir.State{Name: name, Type: "wait", Start: name == "initialized"})
	}
	text := render(t, "smcat", graph.FromProgram(p))
	for line := range strings.Lines(text) {
		if strings.Contains(line, "[label=") && !strings.Contains(line, " type=regular") {
			t.Errorf("it is not told what kind of state this is: %s", line)
		}
	}
	if !strings.Contains(text, "finalize") {
		t.Errorf("no state:\n%s", text)
	}
	for line := range strings.Lines(render(t, "smcat", load(t, "testdata/kinds.yaml"))) {
		if strings.Contains(line, "[label=") && !strings.Contains(line, " type=") {
			t.Errorf("it is not told what kind of state this is: %s", line)
		}
	}
}
