package core

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestFailedCallKeepsWhatItSaw: the arguments come with the answer, the data from the
// frame; what is too large is cut, once.
func TestFailedCallKeepsWhatItSaw(t *testing.T) {
	p := mustAssemble(t, `
func f
region main 1
node S call {"function":0}
`)
	h := newHost(t, p)
	long := expr.String(strings.Repeat("é", MaxFaultData))
	data := expr.Object(expr.Member{Key: "a", Value: expr.Int(1)})
	if _, err := h.step(Start{Data: data}); err != nil {
		t.Fatal(err)
	}
	tk, _ := ParseTicket("1.1")
	if _, err := h.step(Reply{Ticket: tk, Fault: &Fault{Name: "E", Args: expr.Array(long), Data: expr.Int(3)}}); err != nil {
		t.Fatal(err)
	}
	f := h.state().Fault() // as it is stored
	if f.Data.String() != "3" || f.State.String() != `{"a":1}` || !slices.Equal(f.Cut, []string{"args"}) {
		t.Errorf("data %s, state %s, cut %v", f.Data, f.State, f.Cut)
	}
	if text := f.Args.Str(); len(text) > MaxFaultData || len(text) < MaxFaultData-8 || !strings.HasPrefix(text, `["éé`) {
		t.Errorf("%d bytes of arguments", len(text))
	}
	f.Trail = []Hop{{Workflow: "child"}}
	again := f.truncated(expr.Scope{Data: long}, nil)
	if !slices.Equal(again.Cut, f.Cut) || !expr.Equal(again.Args, f.Args) || !expr.Equal(again.State, f.State) {
		t.Error("a parent changes what its child's fault saw")
	}
}

// TestFaultOfATemplateIsToldAtItsPart: the place and the source are the expression's.
func TestFaultOfATemplateIsToldAtItsPart(t *testing.T) {
	place := func(n int) ir.Pos { return ir.Pos{Line: n, Column: n} }
	p, err := Link(&ir.Program{
		ID: "test", Edition: ir.Edition,
		Nodes: []ir.Node{{}, {Name: "S", Op: &ir.Eval{From: 1}}},
		Exprs: []ir.Expr{{}, {
			Lang: jsonpath.TemplateLang, Src: `{"z":["{{ $.a }}",{"x":"no","y":"very {{ $..[?($..b)] }}"}],"a":"{{ $.a }}"}`,
			Pos: place(1), Parts: []ir.Pos{place(2), place(3), place(4)},
		}},
		Regions: []ir.Region{{Name: "main", Entry: 1}},
	}, jsonpath.Languages(), nil)
	if err != nil {
		t.Fatal(err)
	}
	data := expr.Object(expr.Member{Key: "a", Value: expr.Array(make([]expr.Value, 2000)...)})
	r, err := Step(p, nil, 0, Start{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	f := r.State.Fault()
	if f == nil || f.Pos != place(4) || !f.Final || !strings.HasPrefix(f.Detail, "$..[?($..b)]: ") || !expr.Equal(f.Data, data) || !f.State.IsNull() {
		t.Errorf("%+v", f)
	}
}

// TestFaultNamesTheStateOfAnAction: an action's own name is no state's.
func TestFaultNamesTheStateOfAnAction(t *testing.T) {
	p, err := Link(&ir.Program{
		ID: "test", Edition: ir.Edition,
		Nodes: []ir.Node{
			{},
			{Name: "S", Mark: ir.MarkEntered, Op: &ir.Branch{Cases: []ir.Case{{When: 1, Next: 2}}}},
			{Name: "branches", Op: &ir.Fan{Branches: []ir.FanBranch{{Region: 1}}, Join: ir.JoinMerge}},
			{Name: "action", Op: &ir.Raise{Error: "E"}},
			{Name: "T", Mark: ir.MarkEntered, Op: &ir.End{}},
		},
		Exprs:   []ir.Expr{{}, {Lang: jsonpath.TemplateLang, Src: "true"}},
		Regions: []ir.Region{{Name: "main", Entry: 1}, {Name: "branch", Entry: 3}},
		States:  []ir.State{{Name: "S"}, {Name: "T"}},
	}, jsonpath.Languages(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"", "S", "S", "S", "T"}; !slices.Equal(p.owner, want) {
		t.Errorf("owners %q, want %q", p.owner, want)
	}
	r, err := Step(p, nil, 0, Start{})
	if err != nil || r.State.Fault().Node != "S" {
		t.Errorf("%+v, %v", r.State.Fault(), err)
	}
}
