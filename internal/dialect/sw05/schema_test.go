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

// sample is a definition that compiles, and what it refers to.
type sample struct {
	name  string
	text  string
	files dialect.MapBundle
}

// samples are the valid definitions among the examples, the conformance cases
// and the explanations.
func samples(t testing.TB) []sample {
	t.Helper()
	var all []sample
	examples, _ := filepath.Glob("../../../examples/*.yaml")
	for _, path := range examples {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sample{path, string(text), nil})
	}
	for _, pattern := range []string{"../../conformance/sw05/*.txtar", "testdata/*/*.txtar"} {
		paths, _ := filepath.Glob(pattern)
		if len(paths) == 0 {
			t.Fatalf("no cases in %s", pattern)
		}
		for _, path := range paths {
			ar := readArchive(t, path)
			files := dialect.MapBundle{}
			for _, f := range ar.files {
				files[f.name] = []byte(f.text)
			}
			for _, f := range ar.files {
				all = append(all, sample{path + "/" + f.name, f.text, files})
			}
		}
	}
	for _, e := range Codes() {
		all = append(all, sample{e.Code + ".yaml", complete(e.Good), exampleFiles})
	}
	registry := dialect.NewRegistry(FrontEnd{})
	all = slices.DeleteFunc(all, func(s sample) bool {
		c, _ := registry.Compile(s.name, []byte(s.text), s.files, dialect.Options{})
		return c.Program == nil
	})
	if len(all) < 200 {
		t.Fatalf("only %d samples: they are not found", len(all))
	}
	return all
}

func (s sample) read(t testing.TB) *dialect.Document {
	t.Helper()
	doc, found := dialect.Read(s.name, []byte(s.text))
	if found.HasErrors() {
		t.Fatal(found)
	}
	return doc
}

func TestSchemaAcceptsValidDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	for _, s := range samples(t) {
		for _, v := range e.Violations(t, s.read(t).Root) {
			t.Errorf("%s: %s", s.name, v)
		}
	}
}

// structural are the codes whose Bad example an editor can mark with the schema
// alone; the other errors need the whole definition, or a grammar.
var structural = strings.Fields("SW100 SW101 SW102 SW104 SW105 SW106 SW107 SW109 SW110 SW111 SW121 SW122 SW126 SW132 SW331 SW332 SW333 SW334 SW336")

func TestSchemaRejectsStructuralErrors(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	e.RejectsOnly(t, Codes(), complete, structural)
}

// Whatever compiles is valid, also of definitions that nobody would write.
func TestSchemaAcceptsMutatedDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	var seeds []expr.Value
	for _, s := range samples(t) {
		seeds = append(seeds, s.read(t).Root.Value())
	}
	rounds := 10_000
	if testing.Short() {
		rounds = 1_000
	}
	random := rand.New(rand.NewPCG(77, 12))
	compiled, invalid := 0, 0
	for range rounds {
		m := schematest.Mutator{Random: random, Pool: seeds[random.IntN(len(seeds))], Oddities: oddities}
		v := seeds[random.IntN(len(seeds))]
		for range 1 + random.IntN(3) {
			v = m.Mutate(v)
		}
		doc, _ := dialect.Read("mutated.json", []byte(v.String()))
		program, _ := FrontEnd{}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
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

// With any one value of a definition left for later, or of another kind: what
// compiles is valid.
func TestSchemaAcceptsChangedDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	seen := map[string]bool{}
	for _, s := range samples(t) {
		if strings.Contains(s.name, ".txtar") && testing.Short() {
			continue
		}
		v := s.read(t).Root.Value()
		for i := range schematest.Count(v) {
			for _, other := range []expr.Value{expr.Null, expr.Int(1), expr.String("1")} {
				text := schematest.Replaced(v, i, other).String()
				if seen[text] {
					continue
				}
				seen[text] = true
				doc, _ := dialect.Read("changed.json", []byte(text))
				if program, _ := (FrontEnd{}).Compile(dialect.Source{Document: doc, Bundle: exampleFiles}); program == nil {
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
func TestSchemaKnowsTheKeysOfTheParser(t *testing.T) {
	order, err := format.OrderOf(FrontEnd{}.Schema())
	if err != nil {
		t.Fatal(err)
	}
	visited := map[string]bool{}
	for _, s := range samples(t) {
		doc := s.read(t)
		schema := map[*dialect.Node][]string{}
		order.Walk(doc.Root, func(n *dialect.Node, keys []string) { schema[n] = keys })
		p := newParser(&dialect.Reporter{}, dialect.Source{Document: doc, Bundle: s.files})
		p.Visit = func(f *dialect.Fields) {
			if f.Node.File() != doc.File { // a resource
				return
			}
			want := slices.Compact(slices.Sorted(slices.Values(f.Keys())))
			if f.Node.Get("type").Is(expr.KindString) && f.Node.Get("type").Text == typeSwitch {
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
	// Nine types of states, and 22 other kinds of objects.
	if len(visited) < 9+22 {
		t.Errorf("only %d kinds of objects were compared", len(visited))
	}
}

// Every property says what it is for.
func TestSchemaDescribesEveryProperty(t *testing.T) { schematest.Described(t, FrontEnd{}.Schema()) }
