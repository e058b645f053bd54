package sw01

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// FuzzCompile: no document makes the front-end panic, and what it accepts is a
// program that checks, encodes and decodes to the same, with expressions that
// compile.
func FuzzCompile(f *testing.F) {
	for _, e := range Codes() {
		f.Add(complete(e.Bad))
	}
	for _, s := range samples(f) {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, source string) {
		doc, found := dialect.Read("fuzz.yaml", []byte(source))
		if doc.Root == nil {
			return
		}
		for _, front := range FrontEnds() {
			front.Detect(doc.Root)
			p, more := front.Compile(dialect.Source{Document: doc, Bundle: dialect.NoBundle})
			if (p == nil) != more.HasErrors() {
				t.Fatalf("program %t, errors %t: %v", p != nil, more.HasErrors(), more)
			}
			for _, d := range more {
				if d.Line < 1 || d.Column < 1 || d.Code == "" || d.Message == "" {
					t.Errorf("no place or text: %+v", d)
				}
			}
			if p == nil || found.HasErrors() {
				continue
			}
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			roundTrip(t, p)
			sound(t, p)
		}
	})
}

// sound checks that every state has its entry, that expressions compile, and that the
// ways between states lead to states.
func sound(t testing.TB, p *ir.Program) {
	t.Helper()
	names := map[string]bool{}
	for i, s := range p.States {
		entry := p.Nodes[i+1]
		if entry.Mark != ir.MarkEntered || entry.Name != s.Name {
			t.Errorf("node %d is not the entry of state %q", i+1, s.Name)
		}
		if names[s.Name] {
			t.Errorf("two states are called %q", s.Name)
		}
		names[s.Name] = true
	}
	for _, e := range p.Edges {
		if !names[e.From] || e.To != "" && !names[e.To] {
			t.Errorf("an edge from %q to %q", e.From, e.To)
		}
	}
	langs := languages.All()
	for _, e := range p.Exprs[1:] {
		if _, err := langs[e.Lang].Compile(e.Src); err != nil {
			t.Errorf("%s %q: %v", e.Lang, e.Src, err)
		}
	}
}
