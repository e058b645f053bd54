package sw01

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/format"
)

// editor is what an editor makes of definitions: it has nothing but the schema.
type editor struct{ program expr.Program }

func newEditor(t testing.TB) editor {
	t.Helper()
	program, err := jsonschema.Compiler{}.Compile(string(FrontEnd{}.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	return editor{program}
}

// violations returns what the schema finds wrong.
func (e editor) violations(t testing.TB, root *dialect.Node) []expr.Value {
	t.Helper()
	budget := expr.NewBudget()
	result, err := e.program.Eval(root.Value(), &budget)
	if err != nil {
		t.Fatal(err)
	}
	return result.Value.Items()
}

func TestSchemaAcceptsValidDefinitions(t *testing.T) {
	e := newEditor(t)
	for _, s := range samples(t) {
		for _, v := range e.violations(t, s.read(t).Root) {
			t.Errorf("%s: %s", s.name, v)
		}
	}
}

// structural are the codes whose Bad example an editor can mark with the schema
// alone; the other errors need the whole definition, or a grammar.
var structural = strings.Fields("SV100 SV102 SV104 SV105 SV110 SV131")

func TestSchemaRejectsStructuralErrors(t *testing.T) {
	e := newEditor(t)
	var rejected []string
	for _, x := range Codes() {
		doc, _ := dialect.Read("bad.yaml", []byte(complete(x.Bad)))
		if len(e.violations(t, doc.Root)) > 0 {
			rejected = append(rejected, x.Code)
		}
	}
	if !slices.Equal(rejected, structural) {
		t.Errorf("rejected %v\nwant     %v", rejected, structural)
	}
}

// Whatever compiles is valid: with any one value of a definition left for later, or of
// another kind.
func TestSchemaAcceptsChangedDefinitions(t *testing.T) {
	e := newEditor(t)
	seen := map[string]bool{}
	random := rand.New(rand.NewPCG(1, 7))
	compiled, invalid := 0, 0
	for _, s := range samples(t) {
		v := s.read(t).Root.Value()
		for i := range count(v) {
			others := []expr.Value{expr.Null, expr.Int(1), expr.String("1"), expr.Bool(true), expr.Array(), expr.EmptyObject, expr.String("$.x")}
			at := i
			text := replaced(v, &at, others[random.IntN(len(others))]).String()
			if seen[text] {
				continue
			}
			seen[text] = true
			doc, _ := dialect.Read("changed.json", []byte(text))
			program, _ := formOf(t, doc.Root).Compile(dialect.Source{Document: doc, Bundle: dialect.NoBundle})
			found := e.violations(t, doc.Root)
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

// count is how many values a tree has.
func count(v expr.Value) int {
	n := 1
	for _, item := range v.Items() {
		n += count(item)
	}
	for _, m := range v.Members() {
		n += count(m.Value)
	}
	return n
}

// replaced returns a tree with its at-th value replaced.
func replaced(v expr.Value, at *int, other expr.Value) expr.Value {
	if *at--; *at == -1 {
		return other
	}
	switch {
	case v.IsArray():
		var items []expr.Value
		for _, item := range v.Items() {
			items = append(items, replaced(item, at, other))
		}
		return expr.Array(items...)
	case v.IsObject():
		var members []expr.Member
		for _, m := range v.Members() {
			members = append(members, expr.Member{Key: m.Key, Value: replaced(m.Value, at, other)})
		}
		return expr.Object(members...)
	}
	return v
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
		p := &parser{r: &dialect.Reporter{}, form: formOf(t, doc.Root).form, asked: func(f *fields) {
			if typ := f.node.Get("type"); typ.Is(expr.KindString) && strings.HasPrefix(f.what, "state") && typ.Text != strings.ToUpper(typ.Text) {
				delete(schema, f.node) // an editor tells states apart by upper case
				return
			}
			want := map[string]bool{}
			for _, key := range f.known {
				want[key] = true
			}
			got := map[string]bool{}
			for _, key := range schema[f.node] {
				for known := range want {
					if f.spelledAs(known, key) {
						got[known] = true
						key = ""
						break
					}
				}
				if key != "" {
					t.Errorf("%v: the schema has %q for %s, and the parser does not", f.node.Pos(), key, f.what)
				}
			}
			for key := range want {
				if !got[key] {
					t.Errorf("%v: the parser takes %q for %s, and the schema does not", f.node.Pos(), key, f.what)
				}
			}
			visited[strings.Join(schema[f.node], " ")] = true
			delete(schema, f.node)
		}}
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
		if m.Get("title") == nil && m.Name() != "stateRest" && !strings.HasSuffix(m.Name(), "State") || m.Get("title") != nil && text(m.Get("description")) == "" {
			t.Errorf("%s has no title or description", m.Name())
		}
		properties := m.Get("properties")
		if properties == nil {
			continue
		}
		for _, p := range properties.Members {
			ref := text(p.Get("$ref"))
			if doc.Root.Lookup("definitions", strings.TrimPrefix(ref, "#/definitions/")).Get("title") == nil {
				t.Errorf("%s/%s is not described", m.Name(), p.Name())
			}
		}
	}
}
