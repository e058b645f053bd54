package sw05

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each file of testdata/compile and testdata/diagnose holds a definition, the files
// it refers to, the program it becomes and what is reported.
func TestCompile(t *testing.T) {
	compiled, _ := filepath.Glob("testdata/compile/*.txtar")
	diagnosed, _ := filepath.Glob("testdata/diagnose/*.txtar")
	files := append(compiled, diagnosed...)
	if len(compiled) == 0 || len(diagnosed) == 0 {
		t.Fatal("no test files")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar := readArchive(t, file)
			bundle := dialect.MapBundle{}
			var source, name string
			want := map[string]string{}
			for _, f := range ar.files {
				switch {
				case strings.HasPrefix(f.name, "definition."):
					name, source = f.name, f.text
				case f.name == "program" || f.name == "diagnostics":
					want[f.name] = f.text
				default:
					bundle[f.name] = []byte(f.text)
				}
			}
			c, found := compileText(t, name, source, bundle)
			got := map[string]string{"diagnostics": lines(found)}
			if c.Program != nil {
				roundTrip(t, c.Program)
				evaluable(t, c.Program)
				got["program"] = Dump(c.Program)
			}
			for _, part := range []string{"diagnostics", "program"} {
				if *update {
					ar.set(part, got[part])
				} else if got[part] != want[part] {
					t.Errorf("%s:\n%s\nwant:\n%s", part, got[part], want[part])
				}
			}
			if *update {
				ar.write(t, file)
			}
		})
	}
}

func lines(ds dialect.Diagnostics) string {
	if len(ds) == 0 {
		return ""
	}
	return ds.Error() + "\n"
}

// evaluable checks that every expression of a program is of a known language and
// compiles in it.
func evaluable(t testing.TB, p *ir.Program) {
	t.Helper()
	langs := jsonpath.Languages()
	langs[jsonschema.Lang] = jsonschema.Compiler{}
	langs[choice.Lang] = choice.Compiler{}
	for _, e := range p.Exprs[1:] {
		c, ok := langs[e.Lang]
		if !ok {
			t.Errorf("no language %q", e.Lang)
			continue
		}
		if _, err := c.Compile(e.Src); err != nil {
			t.Errorf("%s %s: %v", e.Lang, e.Src, err)
		}
	}
}

// TestExpressionsHaveTheirOwnPlaces: also those of the same text, and those inside of
// a template, in the order of its keys.
func TestExpressionsHaveTheirOwnPlaces(t *testing.T) {
	doc, _ := dialect.Read("places.yaml", []byte(`id: places
name: Places
states:
- name: A
  type: inject
  start: {kind: default}
  data:
    z: "{{ $.x }}"
    b:
    - "no expression"
    - {d: 1, c: "see {{ $.x }}"}
  stateDataFilter: {dataOutputPath: "{{ $.x }}"}
  transition: {nextState: B}
- name: B
  type: inject
  data: {}
  stateDataFilter:
    dataOutputPath: "{{ $.x }}"
  end: {kind: default}
`))
	p, found := FrontEnd{}.Compile(dialect.Source{Document: doc})
	if p == nil {
		t.Fatal(found)
	}
	got := map[string]bool{}
	for _, e := range p.Exprs[1:] {
		got[fmt.Sprintf("%s%v%v", e.Src, e.Pos, e.Parts)] = true
	}
	want := map[string]bool{
		`{"b":["no expression",{"c":"see {{ $.x }}","d":1}],"z":"{{ $.x }}"}{8 5}[{11 17} {8 8}]`: true,
		"$.x{12 37}[]": true,
		"$.x{18 21}[]": true,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestEqualFiltersOfAnEventAreOneArm: an event that stands twice with the same filter is
// waited for once, wherever the filters stand.
func TestEqualFiltersOfAnEventAreOneArm(t *testing.T) {
	doc, _ := dialect.Read("arms.yaml", []byte(`id: arms
name: Arms
functions: [{name: f}]
events: [{name: e, type: e, source: s}]
states:
- name: A
  type: event
  start: {kind: default}
  exclusive: false
  onEvents:
  - eventRefs: [e]
    eventDataFilter: {dataOutputPath: "{{ $.x }}"}
    actions: [{functionRef: {refName: f}}]
  - eventRefs: [e]
    eventDataFilter: {dataOutputPath: "{{ $.x }}"}
    actions: [{functionRef: {refName: f}}]
  end: {kind: default}
`))
	p, found := FrontEnd{}.Compile(dialect.Source{Document: doc})
	if p == nil {
		t.Fatal(found)
	}
	for _, n := range p.Nodes {
		if a, ok := n.Op.(*ir.Await); ok && len(a.Arms) != 1 {
			t.Errorf("%d arms", len(a.Arms))
		}
	}
}
