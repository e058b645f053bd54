package graph_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/graph"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func load(t testing.TB, file string) *graph.Graph {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, ds := dialect.NewRegistry(wfx.FrontEnd{}, sw05.FrontEnd{}, sw10.FrontEnd{}).Compile(file, text, dialect.DirBundle(filepath.Dir(file)), dialect.Options{})
	if n, _ := ds.Counts(); n > 0 {
		t.Fatal(ds)
	}
	return graph.FromProgram(c.Program)
}

var formats = map[string]func(io.Writer, *graph.Graph) error{
	"txt":     graph.WriteText,
	"mermaid": graph.Mermaid,
	"dot":     graph.DOT,
	"puml":    graph.PlantUML,
	"smcat":   graph.Smcat,
	"svg": func(w io.Writer, g *graph.Graph) error {
		return graph.SVG(w, graph.Layout(g), graph.SVGOptions{Heading: true})
	},
	"list": func(w io.Writer, g *graph.Graph) error {
		_, err := io.WriteString(w, graph.Summary(g)+"\n"+strings.Join(graph.List(g), "\n")+"\n")
		return err
	},
}

func render(t testing.TB, format string, g *graph.Graph) string {
	t.Helper()
	var b bytes.Buffer
	if err := formats[format](&b, g); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, file := range map[string]string{"kinds": "testdata/kinds.yaml", "tasks": "testdata/tasks.yaml", "order": "../../examples/order.yaml", "kanban": "../../examples/jobs/kanban.yaml"} {
		for format := range formats {
			t.Run(name+"."+format, func(t *testing.T) {
				got := render(t, format, load(t, file))
				golden := filepath.Join("testdata", name+"."+format)
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s differs; go test ./graph -update, then look at what changed:\n%s", golden, got)
				}
			})
		}
	}
}

// What the program knows and the edges alone do not say.
func TestInsideOfStates(t *testing.T) {
	text := render(t, "list", load(t, "testdata/kinds.yaml"))
	for _, want := range []string{
		"Ask (callback): call look (30 s at most), wait for Paid (2 days at most).",
		"Error Timeout, after 3 retries it goes to Pause.",
		"Any error it ends.",
		"left [call look, call note it (tell)]",
		"for each item of $.items (2 at once) [call book]. Then Decide. Undone by Undo.",
		"If again it goes to Decide. If more or much more it goes to Both. Otherwise it goes to Wait.",
		"After 1 day it goes to Child.",
		"On Paid (money) it goes to Finish. On Dropped it goes to Give up.",
		"on Paid [call book], on Dropped [call cancel]",
		"Finish (operation): call tell, send Done. Then it ends.",
		"Pause (delay): wait 1 h 30 min.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %q in\n%s", want, text)
		}
	}
}
