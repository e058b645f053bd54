package sw01

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/schematest"
	"github.com/lockstep-workflows/lockstep/internal/format"
)

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
var structural = strings.Fields("SV100 SV102 SV104 SV105 SV110 SV131")

func TestSchemaRejectsStructuralErrors(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	e.RejectsOnly(t, Codes(), complete, structural)
}

// Whatever compiles is valid: with any one value of a definition left for later, or of
// another kind.
func TestSchemaAcceptsChangedDefinitions(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	seen := map[string]bool{}
	random := rand.New(rand.NewPCG(1, 7))
	compiled, invalid := 0, 0
	for _, s := range samples(t) {
		v := s.read(t).Root.Value()
		for i := range schematest.Count(v) {
			others := []expr.Value{expr.Null, expr.Int(1), expr.String("1"), expr.Bool(true), expr.Array(), expr.EmptyObject, expr.String("$.x")}
			text := schematest.Replaced(v, i, others[random.IntN(len(others))]).String()
			if seen[text] {
				continue
			}
			seen[text] = true
			doc, _ := dialect.Read("changed.json", []byte(text))
			program, _ := formOf(t, doc.Root).Compile(dialect.Source{Document: doc, Bundle: dialect.NoBundle})
			found := e.Violations(t, doc.Root)
			if len(found) > 0 {
				invalid++
			}
			if program == nil {
				continue
			}
			if compiled++; len(found) > 0 {
				t.Fatalf("compiles, and yet %v:\n%s", found, text)
			}
		}
	}
	if compiled < 500 || invalid < 500 {
		t.Errorf("%d compile and %d are invalid: the test looks at one side only", compiled, invalid)
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
		p := newParser(&dialect.Reporter{}, formOf(t, doc.Root).form)
		p.Visit = func(f *dialect.Fields) {
			if typ := f.Node.Get("type"); typ.Is(expr.KindString) && (strings.HasPrefix(f.What, "state") || f.What == "a state") && typ.Text != strings.ToUpper(typ.Text) {
				delete(schema, f.Node) // an editor tells states apart by upper case
				return
			}
			want := map[string]bool{}
			for _, key := range f.Keys() {
				want[key] = true
			}
			got := map[string]bool{}
			for _, key := range schema[f.Node] {
				for known := range want {
					if slices.Contains(p.form.ways(known), key) || f.Fold && strings.EqualFold(known, key) {
						got[known] = true
						key = ""
						break
					}
				}
				if key != "" {
					t.Errorf("%v: the schema has %q for %s, and the parser does not", f.Node.Pos(), key, f.What)
				}
			}
			for key := range want {
				if !got[key] {
					t.Errorf("%v: the parser takes %q for %s, and the schema does not", f.Node.Pos(), key, f.What)
				}
			}
			visited[strings.Join(schema[f.Node], " ")] = true
			delete(schema, f.Node)
		}
		p.workflow(doc)
		for n, keys := range schema {
			t.Errorf("%v: the schema knows %v, and the parser never looked", n.Pos(), keys)
		}
	}
	// Seven types of states, and 10 other kinds of objects.
	if len(visited) < 7+10 {
		t.Errorf("only %d kinds of objects were compared", len(visited))
	}
}

// Every property says what it is for.
func TestSchemaDescribesEveryProperty(t *testing.T) {
	doc, _ := dialect.Read("schema.json", FrontEnd{}.Schema())
	for _, m := range doc.Root.Get("definitions").Members {
		if m.Get("title") == nil && m.Name() != "stateRest" && !strings.HasSuffix(m.Name(), "State") || m.Get("title") != nil && m.Get("description").Literal() == "" {
			t.Errorf("%s has no title or description", m.Name())
		}
		properties := m.Get("properties")
		if properties == nil {
			continue
		}
		for _, p := range properties.Members {
			ref := p.Get("$ref").Literal()
			if doc.Root.Lookup("definitions", strings.TrimPrefix(ref, "#/definitions/")).Get("title") == nil {
				t.Errorf("%s/%s is not described", m.Name(), p.Name())
			}
		}
	}
}
