package sim

import (
	"math/rand/v2"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
)

// Dialect is a language that cases are written in: a generator of definitions with
// everything around them, and an interpreter that says what comes of them. Each is
// written from the specification, and knows nothing of the front-end or the core.
type Dialect struct {
	Name     string // the first part of Case.Dialect
	share    int    // of a hundred seeds
	generate func(*gen)
	// interpret runs a case; open says why nothing can be said about it, if so.
	interpret func(*Case) (out Outcome, open string)
}

// Dialects lists every language that the oracle speaks.
var Dialects = []Dialect{
	{Name: "sw05", share: 35, generate: generate05, interpret: interpret05},
	{Name: "sw01", share: 25, generate: generate01, interpret: interpret01},
	{Name: "wfx", share: 10, generate: generateWFX, interpret: interpretWFX},
	{Name: "sw10", share: 30, generate: generate10, interpret: interpret10},
}

// registry has the front-ends of all of them.
func registry() *dialect.Registry {
	return dialect.NewRegistry(append(sw01.FrontEnds(), sw05.FrontEnd{}, sw10.FrontEnd{}, wfx.FrontEnd{})...)
}

// Generate makes the case of a seed: a valid definition with everything around it, in
// the language that the seed says. The same seed always gives the same case.
func Generate(seed uint64) *Case {
	at := rand.New(rand.NewPCG(seed, 0xd1a1)).IntN(100)
	for i := range Dialects {
		if at -= Dialects[i].share; at < 0 {
			return Dialects[i].Generate(seed)
		}
	}
	panic("sim: the shares of the dialects are less than a hundred")
}

// Generate makes the case that a seed has in this language.
func (d *Dialect) Generate(seed uint64) *Case {
	g := &gen{r: rand.New(rand.NewPCG(seed, 0x10c5)), c: &Case{Seed: seed, Dialect: d.Name}, mocks: map[string][]Answer{}}
	d.generate(g)
	g.finish()
	return g.c
}

// Interpret says what comes of a case. open says why nothing can be said, if so.
func Interpret(c *Case) (out Outcome, open string) {
	return c.language().interpret(c)
}

// language finds the language of a case.
func (c *Case) language() *Dialect {
	name, _, _ := strings.Cut(c.Dialect, "-")
	for i := range Dialects {
		if Dialects[i].Name == name {
			return &Dialects[i]
		}
	}
	panic("sim: no dialect " + c.Dialect)
}

// Language names the language of a case: that of Dialects.
func (c *Case) Language() string { return c.language().Name }
