package sw10

import (
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

type sample struct{ name, text string }

// samples are the valid definitions of the test data and the explanations.
func samples(t testing.TB) []sample {
	t.Helper()
	var all []sample
	paths, _ := filepath.Glob("testdata/valid/*")
	if len(paths) < 5 {
		t.Fatalf("only %d files", len(paths))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sample{path, string(text)})
	}
	for _, e := range Codes() {
		all = append(all, sample{e.Code + ".yaml", complete(e.Good)})
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

// The samples have no errors, and those of the test data not even warnings.
func TestSamplesAreValid(t *testing.T) {
	for _, s := range samples(t) {
		known := dialect.Options{Functions: []string{"log:1.0.0@shared"}}
		_, r := analyse(dialect.Source{Document: s.read(t), Bundle: exampleFiles, Options: known})
		if found := r.Diagnostics(); len(found) > 0 {
			t.Errorf("%s:\n%v", s.name, found)
		}
	}
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
var structural = strings.Fields("OW100 OW101 OW102 OW103 OW104 OW105 OW106 OW107 OW109 OW110 OW111 OW121 OW126 OW128 OW130 OW132")

func TestSchemaRejectsStructuralErrors(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	e.RejectsOnly(t, Codes(), complete, structural)
}

// With any one value of a definition of another kind: what has no errors is valid.
func TestSchemaAcceptsChangedDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	seen := map[string]bool{}
	accepted, rejected := 0, 0
	others := []expr.Value{expr.Null, expr.String("${ . }"), expr.Int(1), expr.String("1"), expr.EmptyObject, expr.Array()}
	if testing.Short() {
		others = others[:2]
	}
	for _, s := range samples(t) {
		v := s.read(t).Root.Value()
		for i := range schematest.Count(v) {
			for _, other := range others {
				text := schematest.Replaced(v, i, other).String()
				if seen[text] {
					continue
				}
				seen[text] = true
				doc, _ := dialect.Read("changed.json", []byte(text))
				if _, r := analyse(dialect.Source{Document: doc, Bundle: exampleFiles}); r.HasErrors() {
					rejected++
					continue
				}
				accepted++
				if found := e.Violations(t, doc.Root); len(found) > 0 {
					t.Fatalf("has no errors, and yet %v:\n%s", found, text)
				}
			}
		}
	}
	if accepted < 500 || rejected < 500 {
		t.Errorf("%d accepted, %d rejected: the test looks at one side only", accepted, rejected)
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
		p := newParser(&dialect.Reporter{}, dialect.Source{Document: doc, Bundle: exampleFiles})
		p.Visit = func(f *dialect.Fields) {
			want := slices.Compact(slices.Sorted(slices.Values(f.Keys())))
			got := slices.Sorted(slices.Values(schema[f.Node]))
			if !slices.Equal(got, want) {
				t.Errorf("%v: %s\nschema %v\nparser %v", f.Node.Pos(), f.What, got, want)
			}
			delete(schema, f.Node)
			visited[strings.Join(got, " ")] = true
		}
		p.definition(doc.Root)
		for n, keys := range schema {
			t.Errorf("%v: the schema knows %v, and the parser never looked", n.Pos(), keys)
		}
	}
	// Twelve kinds of tasks, six of calls, four of processes and 40 other kinds of objects.
	if len(visited) < 12+6+4+40 {
		t.Errorf("only %d kinds of objects were compared", len(visited))
	}
}

// Every property says what it is for.
func TestSchemaDescribesEveryProperty(t *testing.T) { schematest.Described(t, FrontEnd{}.Schema()) }
