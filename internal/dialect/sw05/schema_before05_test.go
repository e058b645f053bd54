package sw05

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/schematest"
	"github.com/lockstep-workflows/lockstep/internal/format"
)

// olderSample is a definition of a form before 0.5 that compiles.
type olderSample struct {
	sample
	form form
}

// olderSamples are the valid ones among the examples and the conformance cases.
func olderSamples(t testing.TB) []olderSample {
	t.Helper()
	var all []sample
	for _, path := range glob(t, "../../conformance/sw02/*.txtar") {
		for _, f := range readArchive(t, path).files {
			all = append(all, sample{path + "/" + f.name, f.text, nil})
		}
	}
	for _, path := range glob(t, "../../../examples/v02/*.yaml") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sample{path, string(text), nil})
	}
	var out []olderSample
	registry := dialect.NewRegistry(FrontEnd{april}, FrontEnd{summer})
	for _, s := range all {
		if c, _ := registry.Compile(s.name, []byte(s.text), nil, dialect.Options{}); c.Program != nil {
			out = append(out, olderSample{s, c.FrontEnd.(FrontEnd).form})
		}
	}
	if len(out) < 35 {
		t.Fatalf("only %d samples: they are not found", len(out))
	}
	return out
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	paths, _ := filepath.Glob(pattern)
	if len(paths) == 0 {
		t.Fatalf("no cases in %s", pattern)
	}
	return paths
}

func TestOlderSchemaAcceptsValidDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{april}.Schema())
	for _, s := range olderSamples(t) {
		for _, v := range e.Violations(t, s.read(t).Root) {
			t.Errorf("%s: %s", s.name, v)
		}
	}
}

// Whatever compiles is valid, also of definitions that nobody would write.
func TestOlderSchemaAcceptsMutatedDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{summer}.Schema())
	list := olderSamples(t)
	rounds := 10_000
	if testing.Short() {
		rounds = 1_000
	}
	random := rand.New(rand.NewPCG(77, 13))
	compiled, invalid := 0, 0
	for range rounds {
		s := list[random.IntN(len(list))]
		m := schematest.Mutator{Random: random, Pool: list[random.IntN(len(list))].read(t).Root.Value(), Oddities: oddities}
		v := s.read(t).Root.Value()
		for range 1 + random.IntN(3) {
			v = m.Mutate(v)
		}
		doc, _ := dialect.Read("mutated.json", []byte(v.String()))
		program, _ := FrontEnd{s.form}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
		found := e.Violations(t, doc.Root)
		if program != nil {
			compiled++
		}
		if len(found) > 0 {
			invalid++
		}
		if program != nil && len(found) > 0 {
			t.Fatalf("compiles, and yet %v:\n%s", found, v)
		}
	}
	if compiled < rounds/20 || invalid < rounds/5 {
		t.Errorf("of %d mutants %d compile and %d are invalid: the test looks at one side only", rounds, compiled, invalid)
	}
}

// With any one value of a definition left for later, or of another kind: what compiles is valid.
func TestOlderSchemaAcceptsChangedDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{april}.Schema())
	for _, s := range olderSamples(t) {
		v := s.read(t).Root.Value()
		for i := range schematest.Count(v) {
			for _, other := range []expr.Value{expr.Null, expr.Int(1), expr.String("1")} {
				text := schematest.Replaced(v, i, other).String()
				doc, _ := dialect.Read("changed.json", []byte(text))
				if program, _ := (FrontEnd{s.form}).Compile(dialect.Source{Document: doc, Bundle: exampleFiles}); program == nil {
					continue
				}
				if found := e.Violations(t, doc.Root); len(found) > 0 {
					t.Fatalf("compiles, and yet %v:\n%s", found, text)
				}
			}
		}
	}
}

// Every object has the same keys for the schema and for the parser.
func TestOlderSchemaKnowsTheKeysOfTheParser(t *testing.T) {
	order, err := format.OrderOf(FrontEnd{april}.Schema())
	if err != nil {
		t.Fatal(err)
	}
	visited := map[string]bool{}
	for _, s := range olderSamples(t) {
		doc := s.read(t)
		schema := map[*dialect.Node][]string{}
		order.Walk(doc.Root, func(n *dialect.Node, keys []string) { schema[n] = keys })
		p := newParser(&dialect.Reporter{}, dialect.Source{Document: doc})
		p.form = s.form
		p.Visit = func(f *dialect.Fields) {
			want := slices.Compact(slices.Sorted(slices.Values(f.Keys())))
			if strings.EqualFold(f.Node.Get("type").Literal(), typeSwitch) {
				// Known, so that they are refused with the right words.
				want = slices.DeleteFunc(want, func(key string) bool { return key == "transition" || key == "end" })
			}
			got := slices.Sorted(slices.Values(schema[f.Node]))
			if !slices.Equal(got, want) {
				t.Errorf("%v: %s\nschema %v\nparser %v", f.Node.Pos(), f.What, got, want)
			}
			delete(schema, f.Node)
			visited[strings.Join(got, " ")] = true
		}
		p.workflow(doc.Root)
		for n, keys := range schema {
			t.Errorf("%v: the schema knows %v, and the parser never looked", n.Pos(), keys)
		}
	}
	// Nine types of states, and 20 other kinds of objects.
	if len(visited) < 9+20 {
		t.Errorf("only %d kinds of objects were compared", len(visited))
	}
}
