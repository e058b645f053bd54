package sw05

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// FuzzCompile: no document makes the front-end panic, and what it accepts is a
// program that checks, encodes and decodes to the same, with expressions that
// compile.
func FuzzCompile(f *testing.F) {
	for _, e := range Codes() {
		f.Add(complete(e.Bad))
		f.Add(complete(e.Good))
	}
	for _, pattern := range []string{"testdata/compile/*.txtar", "testdata/diagnose/*.txtar"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			for _, one := range readArchive(f, file).files {
				if strings.HasPrefix(one.name, "definition.") {
					f.Add(one.text)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, source string) { compiles(t, FrontEnd{}, source) })
}

// FuzzCompileBefore05 is FuzzCompile for the forms before 0.5.
func FuzzCompileBefore05(f *testing.F) {
	for _, s := range olderSamples(f) {
		f.Add(s.text)
	}
	f.Fuzz(func(t *testing.T, source string) {
		compiles(t, FrontEnd{april}, source)
		compiles(t, FrontEnd{summer}, source)
	})
}

func compiles(t *testing.T, e FrontEnd, source string) {
	t.Helper()
	doc, found := dialect.Read("fuzz.yaml", []byte(source))
	if doc.Root == nil {
		return
	}
	e.Detect(doc.Root)
	p, more := e.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
	if (p == nil) != more.HasErrors() {
		t.Fatalf("program %t, errors %t: %v", p != nil, more.HasErrors(), more)
	}
	for _, d := range more {
		if d.Line < 1 || d.Column < 1 || d.Code == "" || d.Message == "" {
			t.Errorf("no place or text: %+v", d)
		}
	}
	if p == nil || found.HasErrors() {
		return
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	roundTrip(t, p)
	evaluable(t, p)
	targets(t, p)
}

// targets checks that every node can be left: nothing runs into the end of the
// workflow by accident.
func targets(t *testing.T, p *ir.Program) {
	t.Helper()
	if p.Regions[0].Entry == 0 {
		t.Error("the workflow has no entry")
	}
	for i, s := range p.States {
		entry := p.Nodes[i+1]
		if entry.Mark != ir.MarkEntered || entry.Name != s.Name {
			t.Errorf("node %d is not the entry of state %q", i+1, s.Name)
		}
	}
}
