package open

import (
	"context"
	"flag"
	"slices"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/convert"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/sim"
)

var (
	randomDefinitions = flag.Int("open.definitions", 10, "how many definitions TestRandom makes")
	randomSeed        = flag.Uint64("open.seed", 1, "with which seed the first is made")
)

// Definitions made at random: where nothing is lost, the exact conversion always does the same, and the plain one
// where its assumptions hold.
func TestRandom(t *testing.T) {
	count := map[string]int{}
	for n := range uint64(*randomDefinitions) {
		c := generator(sw05.Name).Generate(*randomSeed + n)
		for _, src := range append(c.Subs, c.Def) {
			count[randomCase(t, *randomSeed+n, src.String())]++
		}
		if t.Failed() {
			return
		}
	}
	for n := range uint64(*randomDefinitions) {
		c := generator("sw01").Generate(*randomSeed + n)
		count["0.1 "+earlyCase(t, "random.json", c.Def.String(), 10)]++
		if t.Failed() {
			return
		}
	}
	t.Log(count)
	if count["kept"] < *randomDefinitions/5 {
		t.Errorf("too few are kept: %v", count)
	}
}

// generator is the simulator's for a language.
func generator(name string) *sim.Dialect {
	return &sim.Dialects[slices.IndexFunc(sim.Dialects, func(d sim.Dialect) bool { return d.Name == name })]
}

func randomCase(t *testing.T, seed uint64, src string) string {
	c, found := dialect.NewRegistry(sw05.FrontEnd{}).Compile("random.json", []byte(src), nil, dialect.Options{Dialect: sw05.Name})
	if found.HasErrors() {
		return "not valid"
	}
	o, _ := sw05.FrontEnd{}.Outline(dialect.Source{Document: c.Document, Bundle: dialect.MapBundle{}})
	exact, r := States(o, convert.Options{Exact: true}), States(o, convert.Options{})
	documents(t, r)
	k, err := convert.Compare(context.Background(), convert.Stateful(o, c.Program), r, convert.CompareOptions{Cases: 10, Seed: seed, Exact: &exact})
	if err != nil {
		t.Fatalf("seed %d: %v\n%s\n%s", seed, err, src, documents(t, exact))
	}
	if len(r.Lost) > 0 {
		return "lossy"
	}
	if k.First != nil {
		t.Errorf("seed %d: %s\n%s\n%s", seed, k.First, src, documents(t, exact))
	}
	if k.Broke > 0 && len(r.Assumed) == 0 {
		t.Errorf("seed %d: nothing is assumed, and %s\n%s\n%s", seed, k.Breaks, src, documents(t, r))
	}
	return "kept"
}
