package sw08

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

// sample is a definition that compiles.
type sample struct {
	name string
	doc  *dialect.Document
	form form
}

// samples are our valid definitions and the right ones of the explanations.
func samples(t testing.TB) []sample {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"testdata/valid/*.yaml", "../../../examples/*.yaml"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	for _, e := range Codes() {
		texts[e.Code+".yaml"] = complete(e.Good)
	}
	var all []sample
	for name, text := range texts {
		doc, _ := dialect.Read(name, []byte(text))
		f, _ := classify(doc.Root, false)
		if f == 0 {
			continue
		}
		if program, _ := (frontEnd{f}).Compile(dialect.Source{Document: doc, Bundle: exampleFiles}); program != nil {
			all = append(all, sample{name, doc, f})
		}
	}
	slices.SortFunc(all, func(a, b sample) int { return strings.Compare(a.name, b.name) })
	if len(all) < 75 {
		t.Fatalf("only %d samples: they are not found", len(all))
	}
	return all
}

func TestSchemaAcceptsValidDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, schemaJSON)
	for _, s := range samples(t) {
		for _, v := range e.Violations(t, s.doc.Root) {
			t.Errorf("%s: %s", s.name, v)
		}
	}
}

// structural are the codes whose Bad example an editor can mark with the schema alone; the other errors need
// the whole definition, or a grammar.
var structural = strings.Fields("SW800 SW801 SW802 SW804 SW805 SW810 SW811 SW813 SW817")

func TestSchemaRejectsStructuralErrors(t *testing.T) {
	e := schematest.NewEditor(t, schemaJSON)
	e.RejectsOnly(t, Codes(), complete, structural)
}

// oddities are what values are replaced with.
var oddities = []expr.Value{
	expr.Null, expr.Bool(true), expr.Bool(false), expr.Int(0), expr.Int(-1), expr.Int(3), expr.String(""), expr.String("*"),
	expr.String("${ .a }"), expr.String("x ${ .a } y"), expr.String("{{ $.a }}"), expr.String("fn:total"), expr.String("PT1S"), expr.String("true"),
	expr.String(".a.b"), expr.Array(), expr.EmptyObject, expr.Array(expr.Null), expr.String("functions.json"), expr.String("${ $SECRETS.a }"),
}

// Whatever compiles is valid, also of definitions that nobody would write, and nothing makes the front-end
// panic.
func TestMutatedDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, schemaJSON)
	all := samples(t)
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	random := rand.New(rand.NewPCG(8, 6))
	compiled, invalid := 0, 0
	for range rounds {
		s := all[random.IntN(len(all))]
		m := schematest.Mutator{Random: random, Pool: all[random.IntN(len(all))].doc.Root.Value(), Oddities: oddities}
		v := s.doc.Root.Value()
		for range 1 + random.IntN(3) {
			v = m.Mutate(v)
		}
		doc, _ := dialect.Read("mutated.json", []byte(v.String()))
		program, reported := compileSafely(t, doc, s.form)
		found := e.Violations(t, doc.Root)
		if program {
			compiled++
			if len(found) > 0 {
				t.Fatalf("compiles, and yet %v:\n%s", found, v)
			}
		}
		if program == reported.HasErrors() {
			t.Fatalf("program %t, and %v:\n%s", program, reported, v)
		}
		if len(found) > 0 {
			invalid++
		}
	}
	if compiled < rounds/20 || invalid < rounds/10 {
		t.Errorf("of %d mutants %d compile and %d are invalid: the test looks at one side only", rounds, compiled, invalid)
	}
}

// compileSafely compiles, and shows the document that makes it panic.
func compileSafely(t *testing.T, doc *dialect.Document, f form) (ok bool, found dialect.Diagnostics) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("panic for\n%s", doc.Source)
			panic(r)
		}
	}()
	program, found := frontEnd{f}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
	if program != nil {
		sound(t, program)
	}
	if t.Failed() {
		t.Fatalf("for\n%s", doc.Source)
	}
	return program != nil, found
}

// With any one value of a definition left for later, or of another kind: what compiles is valid.
func TestSchemaAcceptsChangedDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, schemaJSON)
	for _, s := range samples(t) {
		v := s.doc.Root.Value()
		for i := range schematest.Count(v) {
			for _, other := range []expr.Value{expr.Null, expr.Int(1), expr.String("1")} {
				text := schematest.Replaced(v, i, other).String()
				doc, _ := dialect.Read("changed.json", []byte(text))
				if program, _ := compileSafely(t, doc, s.form); !program {
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
	order, err := format.OrderOf(schemaJSON)
	if err != nil {
		t.Fatal(err)
	}
	visited := map[string]bool{}
	for _, s := range samples(t) {
		schema := map[*dialect.Node][]string{}
		order.Walk(s.doc.Root, func(n *dialect.Node, keys []string) { schema[n] = keys })
		p := newParser(&dialect.Reporter{}, dialect.Source{Document: s.doc, Bundle: exampleFiles}, s.form)
		p.Visit = func(f *dialect.Fields) {
			if f.Node.File() != s.doc.File { // a resource
				return
			}
			want := slices.Compact(slices.Sorted(slices.Values(f.Keys())))
			got := slices.Sorted(slices.Values(schema[f.Node]))
			if !slices.Equal(got, want) {
				t.Errorf("%v: %s\nschema %v\nparser %v", f.Node.Pos(), f.What, got, want)
			}
			delete(schema, f.Node)
			visited[strings.Join(got, " ")] = true
		}
		p.workflow(s.doc.Root)
		for n, keys := range schema {
			t.Errorf("%v: the schema knows %v, and the parser never looked", n.Pos(), keys)
		}
	}
	// Ten types of states, and 40 other kinds of objects.
	if len(visited) < 10+40 {
		t.Errorf("only %d kinds of objects were compared", len(visited))
	}
}

// Every property says what it is for.
func TestSchemaDescribesEveryProperty(t *testing.T) { schematest.Described(t, schemaJSON) }
