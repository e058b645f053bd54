package wfx

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

func read(t testing.TB, source string) *dialect.Document {
	t.Helper()
	doc, found := dialect.Read("w.yaml", []byte(source))
	if found.HasErrors() {
		t.Fatal(found)
	}
	return doc
}

// structural are the codes whose Bad example an editor can mark with the schema alone;
// the other errors need the whole workflow, or a grammar.
var structural = []string{codeNotObject, codeMissing, codeType, codeChoice, codeEmpty, codeName, codeTooLong, codeDuration, codeImmediateClient}

func TestSchemaAgreesWithTheChecker(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	accepted := 0
	for _, s := range workflows(t) {
		doc := read(t, s.text)
		p, _ := FrontEnd{}.Compile(dialect.Source{Document: doc})
		if p == nil {
			continue
		}
		accepted++
		for _, v := range e.Violations(t, doc.Root) {
			t.Errorf("%s compiles, and yet: %s", s.name, v)
		}
	}
	if accepted < 10 {
		t.Errorf("only %d workflows compile", accepted)
	}
	e.RejectsOnly(t, Codes(), complete, structural)
}

// Workflows with one or two values replaced, removed or moved: nothing panics, a
// program comes exactly where there is no error, and what compiles is valid.
func TestMutatedWorkflows(t *testing.T) {
	e := schematest.NewEditor(t, FrontEnd{}.Schema())
	var seeds []expr.Value
	for _, s := range workflows(t) {
		seeds = append(seeds, read(t, s.text).Root.Value())
	}
	rounds := 10_000
	if testing.Short() {
		rounds = 1_000
	}
	random := rand.New(rand.NewPCG(2, 8))
	compiled, invalid := 0, 0
	for range rounds {
		v := seeds[random.IntN(len(seeds))]
		for range 1 + random.IntN(2) {
			v = mutate(random, v, seeds[random.IntN(len(seeds))])
		}
		doc, _ := dialect.Read("mutated.json", []byte(v.String()))
		p, found := FrontEnd{}.Compile(dialect.Source{Document: doc})
		violations := e.Violations(t, doc.Root)
		switch {
		case (p == nil) != found.HasErrors():
			t.Fatalf("program %t, errors %t: %v\n%s", p != nil, found.HasErrors(), found, v)
		case p != nil && len(violations) > 0:
			t.Fatalf("compiles, and yet %v:\n%s", violations, v)
		case p != nil:
			compiled++
			roundTrip(t, p)
		case len(violations) > 0:
			invalid++
		}
	}
	if compiled < rounds/50 || invalid < rounds/10 {
		t.Errorf("of %d mutants %d compile and %d are invalid: the test looks at one side only", rounds, compiled, invalid)
	}
}

// mutate replaces one value of v: by a part of another workflow, by something small, or
// by nothing.
func mutate(random *rand.Rand, v, other expr.Value) expr.Value {
	small := []expr.Value{
		expr.Null, expr.Int(1), expr.String(""), expr.String("WFX"), expr.String("IMMEDIATE"), expr.String("DIRTY"),
		expr.String("PT1H"), expr.EmptyObject, expr.Array(), expr.Bool(true),
	}
	with := small[random.IntN(len(small))]
	if random.IntN(2) == 0 {
		at := random.IntN(schematest.Count(other))
		with = pick(other, &at)
	}
	return schematest.Replaced(v, random.IntN(schematest.Count(v)), with)
}

func pick(v expr.Value, at *int) expr.Value {
	if *at--; *at < 0 {
		return v
	}
	for _, item := range v.Items() {
		if got := pick(item, at); *at < 0 {
			return got
		}
	}
	for _, m := range v.Members() {
		if got := pick(m.Value, at); *at < 0 {
			return got
		}
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
	for _, s := range workflows(t) {
		doc := read(t, s.text)
		if p, _ := (FrontEnd{}).Compile(dialect.Source{Document: doc}); p == nil {
			continue
		}
		schema := map[*dialect.Node][]string{}
		order.Walk(doc.Root, func(n *dialect.Node, keys []string) { schema[n] = keys })
		p := newParser(&dialect.Reporter{})
		p.Visit = func(f *dialect.Fields) {
			want := slices.Compact(slices.Sorted(slices.Values(f.Keys())))
			got := slices.Sorted(slices.Values(schema[f.Node]))
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s\nschema %v\nparser %v", s.name, f.What, got, want)
			}
			visited[strings.Join(got, " ")] = true
		}
		p.document(doc.Root)
	}
	if len(visited) != 5 { // the workflow, groups, states, time limits, transitions
		t.Errorf("%d kinds of objects were compared", len(visited))
	}
}
