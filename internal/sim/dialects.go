package sim

import (
	"math/rand/v2"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw08"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
)

// Dialect is a language that cases are written in: a generator of definitions with
// everything around them, and an interpreter that says what comes of them. Each is
// written from the specification, and knows nothing of the front-end or the core.
type Dialect struct {
	Name     string // the first part of Case.Dialect
	Family   string // of the languages that are covered together; "": it is one by itself
	share    int    // of the seeds, beside those of the others
	generate func(*gen)
	// interpret runs a case; open says why nothing can be said about it, if so.
	interpret func(*Case) (out Outcome, open string)
}

// Dialects lists every language that the oracle speaks.
var Dialects = []Dialect{
	{Name: "sw05", share: 25, generate: generate05, interpret: interpret05},
	{Name: "sw02", share: 10, generate: generate02, interpret: interpret02},
	{Name: "sw01", share: 25, generate: generate01, interpret: interpret01},
	{Name: "wfx", share: 10, generate: generateWFX, interpret: interpretWFX},
	{Name: "sw06", Family: "later", share: 7, generate: generate06, interpret: interpretLater(6)},
	{Name: "sw07", Family: "later", share: 7, generate: generate07, interpret: interpretLater(7)},
	{Name: "sw08", Family: "later", share: 10, generate: generate08, interpret: interpretLater(8)},
	{Name: "sw09", Family: "later", share: 10, generate: generate09, interpret: interpretLater(9)},
	{Name: "sw10", share: 30, generate: generate10, interpret: interpret10},
}

// registry has the front-ends of all of them.
func registry() *dialect.Registry {
	fronts := append(sw08.FrontEnds(), sw01.FrontEnds()...) // 0.5 takes what is left of Serverless Workflow
	return dialect.NewRegistry(append(append(fronts, sw05.FrontEnds()...), sw10.FrontEnd{}, wfx.FrontEnd{})...)
}

// Generate makes the case of a seed: a valid definition with everything around it, in
// the language that the seed says. The same seed always gives the same case.
func Generate(seed uint64) *Case {
	all := 0
	for i := range Dialects {
		all += Dialects[i].share
	}
	at := rand.New(rand.NewPCG(seed, 0xd1a1)).IntN(all)
	i := 0
	for ; at >= Dialects[i].share; i++ {
		at -= Dialects[i].share
	}
	return Dialects[i].Generate(seed)
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

// Covered names what the features of a case count for: its language, or the family of that.
func (c *Case) Covered() string {
	if d := c.language(); d.Family != "" {
		return d.Family
	}
	return c.Language()
}

// Language names the language of a case: that of Dialects.
func (c *Case) Language() string { return c.language().Name }
