package sw05

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/schematest"
)

// Definitions with one to three values replaced by others, removed or moved:
// most are wrong somewhere in the middle, where random bytes never get.
func TestMutatedDefinitions(t *testing.T) {
	var seeds []expr.Value
	add := func(source string) {
		if doc, _ := dialect.Read("seed.yaml", []byte(source)); doc.Root != nil {
			seeds = append(seeds, doc.Root.Value())
		}
	}
	for _, e := range Codes() {
		add(complete(e.Bad))
		add(complete(e.Good))
	}
	files, _ := filepath.Glob("testdata/*/*.txtar")
	for _, file := range files {
		for _, f := range readArchive(t, file).files {
			add(f.text)
		}
	}
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	random := rand.New(rand.NewPCG(5, 3))
	accepted := 0
	for range rounds {
		m := schematest.Mutator{Random: random, Pool: seeds[random.IntN(len(seeds))], Oddities: oddities}
		v := seeds[random.IntN(len(seeds))]
		for range 1 + random.IntN(3) {
			v = m.Mutate(v)
		}
		source := v.String()
		doc, _ := dialect.Read("mutated.json", []byte(source))
		if doc.Root == nil {
			t.Fatalf("cannot be read: %s", source)
		}
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("panic %v for\n%s", r, toJSON(doc.Root))
				}
			}()
			p, found := FrontEnd{}.Compile(dialect.Source{Document: doc, Bundle: exampleFiles})
			if (p == nil) != found.HasErrors() {
				t.Fatalf("program %t, errors %t: %v\n%s", p != nil, found.HasErrors(), found, source)
			}
			if p != nil {
				accepted++
				roundTrip(t, p)
				evaluable(t, p)
				targets(t, p)
			}
		}()
		if t.Failed() {
			t.Fatalf("for %s", source)
		}
	}
	if accepted < rounds/20 {
		t.Errorf("only %d of %d mutants were accepted: the test looks at errors only", accepted, rounds)
	}
}

// oddities are what values are replaced with.
var oddities = []expr.Value{
	expr.Null, expr.Bool(true), expr.Int(0), expr.Int(-1), expr.Int(3), expr.String(""), expr.String("*"), expr.String("{{ $.a }}"),
	expr.String("{{ $ }}"), expr.String("$.a[0].b"), expr.String("{{ $..a }}"), expr.String("{{ $.length() }}"), expr.String("PT1S"),
	expr.String("x {{ $.y }}"), expr.Array(), expr.EmptyObject, expr.Array(expr.Null), expr.String("functions.json"),
	expr.Object(expr.Member{Key: "kind", Value: expr.String("default")}),
}
