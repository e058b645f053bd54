package sw08

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// FuzzCompile: no document makes a front-end panic, and what it accepts is a program that checks, encodes and
// decodes to the same, with expressions that compile.
func FuzzCompile(f *testing.F) {
	for _, e := range Codes() {
		f.Add(complete(e.Bad), uint8(8))
		f.Add(complete(e.Good), uint8(8))
	}
	paths, _ := filepath.Glob("testdata/valid/*.yaml")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for version := range uint8(4) {
			f.Add(string(text), 6+version)
		}
	}
	f.Fuzz(func(t *testing.T, source string, version uint8) {
		doc, found := dialect.Read("fuzz.yaml", []byte(source))
		if doc.Root == nil {
			return
		}
		forms := 0
		for _, one := range FrontEnds() {
			if _, ok := one.(dialect.Member).DetectWithin(doc.Root); ok {
				forms++
			}
		}
		if forms != 1 {
			t.Errorf("the document has %d forms", forms)
		}
		p, more := frontEnd{form06 + form(version%4)}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
		if (p == nil) != more.HasErrors() {
			t.Fatalf("program %t, errors %t: %v", p != nil, more.HasErrors(), more)
		}
		for _, d := range more {
			if d.Line < 1 || d.Column < 1 || d.Code == "" || d.Message == "" {
				t.Errorf("no place or text: %+v", d)
			}
		}
		if p != nil && !found.HasErrors() {
			sound(t, p)
		}
	})
}

// sound checks a program: it holds together, survives encoding, and its expressions compile.
func sound(t *testing.T, p *ir.Program) {
	t.Helper()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	text, err := ir.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ir.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ir.Encode(back)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(again) {
		t.Errorf("encoding differs after decoding:\n%s\n%s", text, again)
	}
	for _, e := range p.Exprs[1:] {
		c, ok := languages[e.Lang]
		if !ok {
			t.Errorf("no language %q", e.Lang)
			continue
		}
		if _, err := c.Compile(e.Src); err != nil {
			t.Errorf("%s %s: %v", e.Lang, e.Src, err)
		}
	}
}

var languages = func() expr.Languages {
	all := jq.Languages(expr.Null)
	for name, c := range jsonpath.Languages() {
		all[name] = c
	}
	all[jsonschema.Lang] = jsonschema.Compiler{}
	return all
}()
