package wfx

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Each file of testdata/compile and testdata/diagnose holds a workflow, the program it
// becomes, what the API shows of it, and what is reported.
func TestCompile(t *testing.T) {
	for _, file := range golden(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			want := map[string]string{}
			var name, source string
			for _, s := range readSections(t, file) {
				if strings.HasPrefix(s.name, "definition.") {
					name, source = s.name, s.text
				} else {
					want[s.name] = s.text
				}
			}
			c, found := dialect.NewRegistry(FrontEnd{}).Compile(name, []byte(source), nil, dialect.Options{})
			got := map[string]string{"diagnostics": lines(found)}
			if c.Program != nil {
				roundTrip(t, c.Program)
				got["program"] = dump(c.Program)
				w, _ := Parse(name, []byte(source))
				got["json"] = string(w.AppendJSON(nil)) + "\n"
			}
			parts := []string{"diagnostics", "program", "json"}
			for _, part := range parts {
				if !*update && got[part] != want[part] {
					t.Errorf("%s:\n%s\nwant:\n%s", part, got[part], want[part])
				}
			}
			if *update {
				out := "-- " + name + " --\n" + source
				for _, part := range parts {
					if got[part] != "" {
						out += "-- " + part + " --\n" + got[part]
					}
				}
				if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// What the API shows is itself the workflow: JSON in, the same JSON out, and the same
// program but for places.
func TestJSONIsTheSameWorkflow(t *testing.T) {
	compared := 0
	for _, s := range workflows(t) {
		w, found := Parse("w.yaml", []byte(s.text))
		if (w == nil) != found.HasErrors() {
			t.Fatalf("%s: workflow %t, errors %t", s.name, w != nil, found.HasErrors())
		}
		if w == nil {
			continue
		}
		compared++
		shown := w.AppendJSON(nil)
		again, found := Parse("w.json", shown)
		if found.HasErrors() {
			t.Fatalf("%s: %v\n%s", s.name, found, shown)
		}
		if second := again.AppendJSON(nil); string(second) != string(shown) {
			t.Errorf("%s:\n%s\n%s", s.name, shown, second)
		}
		yaml, _ := compileText(s.text)
		json, _ := compileText(string(shown))
		if a, b := withoutPlaces(yaml), withoutPlaces(json); a != b {
			t.Errorf("%s: YAML\n%s\nJSON\n%s", s.name, a, b)
		}
	}
	if compared < 10 {
		t.Errorf("only %d workflows were compared", compared)
	}
}

func withoutPlaces(p *ir.Program) string {
	nodes, states := slices.Clone(p.Nodes), slices.Clone(p.States)
	for i := range nodes {
		nodes[i].Pos = ir.Pos{}
	}
	for i := range states {
		states[i].Pos = ir.Pos{}
	}
	bare := *p
	bare.Nodes, bare.States = nodes, states
	return dump(&bare)
}

// Braces in names are text, however many and with whatever before them.
func TestNamesAreNeverExpressions(t *testing.T) {
	for _, name := range []string{`{{ $.x }}`, `\{{`, `\\{{ $ }}`, `{{{`, `{{{{`, `a\{{\{{b`, `}}`, `\`, `"'`, "é\n"} {
		source := expr.Object(
			expr.Member{Key: "name", Value: expr.String("n")},
			expr.Member{Key: "states", Value: expr.Array(named("A"), named(name))},
			expr.Member{Key: "transitions", Value: expr.Array(expr.Object(
				expr.Member{Key: "from", Value: expr.String("A")}, expr.Member{Key: "to", Value: expr.String(name)},
				expr.Member{Key: "eligible", Value: expr.String(Client)},
			))},
		).String()
		p, found := compileText(source)
		if p == nil {
			t.Fatal(found)
		}
		program, err := jsonpath.TemplateCompiler{}.Compile(p.Exprs[p.Nodes[2].Op.(*ir.Eval).From].Src)
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		budget := expr.NewBudget()
		got, err := program.Eval(expr.EmptyObject, &budget)
		if err != nil || got.Value.Str() != name {
			t.Errorf("%q becomes %v, %v", name, got.Value, err)
		}
	}
}

func named(name string) expr.Value {
	return expr.Object(expr.Member{Key: "name", Value: expr.String(name)})
}

func TestModel(t *testing.T) {
	w, found := Parse("w.yaml", []byte(complete("description: d\ngroups: [{name: OPEN, states: [DIRTY]}]\n")))
	if w == nil {
		t.Fatal(found)
	}
	want := `{"description":"d","groups":[{"name":"OPEN","states":["DIRTY"]}],"name":"dishes","states":[{"name":"DIRTY"},{"name":"CLEAN"}],` +
		`"transitions":[{"eligible":"CLIENT","from":"DIRTY","to":"CLEAN"}]}`
	if got := string(w.AppendJSON(nil)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, text := range []string{"", "\xff", "[1, 2]", "states: {", "name: [a\n"} {
		if w, found := Parse("w.yaml", []byte(text)); w != nil || !found.HasErrors() {
			t.Errorf("%q: %v, %v", text, w, found)
		}
	}
}

// The first workflow of the manual is one.
func TestManual(t *testing.T) {
	page, err := os.ReadFile("../../../docs/definitions-wfx.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	source, _, _ := strings.Cut(rest, "```")
	c, found := dialect.NewRegistry(FrontEnd{}).Compile("manual.yaml", []byte(source), nil, dialect.Options{})
	if c.Program == nil || len(found) > 0 {
		t.Errorf("%v in\n%s", found, source)
	}
}
