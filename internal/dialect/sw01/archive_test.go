package sw01

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// sample is a definition that compiles.
type sample struct{ name, text string }

// samples are the valid definitions of this dialect among the examples, the conformance
// cases and the explanations.
func samples(t testing.TB) []sample {
	t.Helper()
	var all []sample
	for _, pattern := range []string{"../../../examples/*.yaml", "../../../examples/*.json", "../../../examples/*/*.yaml", "../../../examples/*/*.json"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, sample{path, string(text)})
		}
	}
	paths, _ := filepath.Glob("../../conformance/sw01/*.txtar")
	for _, path := range paths {
		ar, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			all = append(all, sample{path + "/" + f.Name, string(f.Data)})
		}
	}
	registry := dialect.NewRegistry(FrontEnds()...)
	var valid []sample
	for _, s := range all {
		if strings.HasSuffix(s.name, "_test.yaml") || strings.HasSuffix(s.name, "scenario.yaml") {
			continue
		}
		if c, _ := registry.Compile(s.name, []byte(s.text), nil, dialect.Options{}); c.Program != nil {
			valid = append(valid, s)
		}
	}
	for _, e := range Codes() {
		valid = append(valid, sample{e.Code + ".yaml", complete(e.Good)})
	}
	if len(valid) < 100 {
		t.Fatalf("only %d samples: they are not found", len(valid))
	}
	return valid
}

func (s sample) read(t testing.TB) *dialect.Document {
	t.Helper()
	doc, found := dialect.Read(s.name, []byte(s.text))
	if found.HasErrors() {
		t.Fatal(found)
	}
	return doc
}

// formOf is the form that a document shows.
func formOf(t testing.TB, root *dialect.Node) FrontEnd {
	t.Helper()
	for _, f := range FrontEnds() {
		if _, ok := f.(FrontEnd).DetectWithin(root); ok {
			return f.(FrontEnd)
		}
	}
	t.Fatal("no form takes it")
	return FrontEnd{}
}
