package convert

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

var (
	randomDefinitions = flag.Int("convert.definitions", 40, "how many definitions TestRandom makes")
	randomSeed        = flag.Uint64("convert.seed", 1, "with which seed")
)

// Definitions made at random, of what can be kept: both must always do the same.
func TestRandom(t *testing.T) {
	kept := 0
	for n := range *randomDefinitions {
		r := rand.New(rand.NewPCG(*randomSeed, uint64(n)))
		src := (&author{r: r}).definition().String()
		o, c, ok := accepted(src)
		if !ok {
			t.Fatalf("definition %d is not valid: %s", n, src)
		}
		result := Convert(o, options)
		k, err := Compare(context.Background(), Early(o, c.Program), result, CompareOptions{Cases: 25, Seed: uint64(n)})
		if err != nil {
			t.Fatalf("definition %d: %v\n%s", n, err, src)
		}
		documents(t, result)
		if len(result.Lost) > 0 {
			continue
		}
		kept++
		if k.First != nil {
			t.Fatalf("definition %d: %s\n%s\n%s", n, k.First, src, documents(t, result))
		}
	}
	if kept < *randomDefinitions/3 {
		t.Errorf("only %d of %d definitions are kept", kept, *randomDefinitions)
	}
	t.Logf("%d of %d definitions are kept", kept, *randomDefinitions)
}

func accepted(src string) (*sw01.Outline, dialect.Compiled, bool) {
	c, found := dialect.NewRegistry(sw01.FrontEnds()...).Compile("random.json", []byte(src), nil, dialect.Options{Dialect: sw01.KebabName})
	if found.HasErrors() {
		return nil, c, false
	}
	o, _ := c.FrontEnd.(sw01.FrontEnd).Outline(c.Document, dialect.Options{})
	return o, c, true
}

// author writes definitions.
type author struct {
	r     *rand.Rand
	depth int
}

func (a *author) definition() expr.Value {
	triggers := expr.Array(
		obj("name", str("in"), "source", str("shop"), "type", str("in")),
		obj("name", str("out"), "source", str("shop"), "type", str("out")))
	return obj("name", str("random"), "trigger-defs", triggers, "states", a.states())
}

// states are a few, each leading to any other, and an END.
func (a *author) states() expr.Value {
	n := 1 + a.r.IntN(4)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("S%d", i)
	}
	names = append(names, "E")
	out := []expr.Value{}
	for i := range n {
		st := a.state(i, names)
		if i == 0 {
			st = st.With("start", expr.Bool(true))
		}
		out = append(out, st.With("name", str(names[i])))
	}
	return expr.Array(append(out, a.filtered(obj("name", str("E"), "type", str("END"))))...)
}

// state is one that mostly leads on, and seldom back.
func (a *author) state(i int, names []string) expr.Value {
	next := func() expr.Value {
		if a.r.IntN(6) == 0 {
			return str(names[a.r.IntN(len(names))])
		}
		return str(names[i+1+a.r.IntN(len(names)-i-1)])
	}
	var st expr.Value
	switch n := a.r.IntN(12); {
	case n < 5:
		st = obj("type", str("OPERATION"), "actions", a.actions(next), "next-state", next())
		if a.r.IntN(4) == 0 {
			st = obj("type", str("OPERATION"), "actions", a.actions(nil), "next-state", next(), "action-mode", str("PARALLEL"))
		}
	case n == 5:
		st = obj("type", str("DELAY"), "time-delay", expr.Int(int64(a.r.IntN(90))), "next-state", next())
	case n < 9:
		return a.input(a.choices(next))
	case n == 9 && a.depth < 2:
		a.depth++
		branches := []expr.Value{}
		for b := range 1 + a.r.IntN(2) {
			branches = append(branches, obj("name", str(fmt.Sprintf("B%d", b)), "wait-for-completion", expr.Bool(true), "states", a.states()))
		}
		a.depth--
		st = obj("type", str("PARALLEL"), "branches", expr.Array(branches...), "next-state", next())
	default:
		st = a.event(next)
	}
	return a.filtered(st)
}

func (a *author) actions(next func() expr.Value) expr.Value {
	out := []expr.Value{}
	for range a.r.IntN(4) {
		one := obj("function", str([]string{"f", "g", "h"}[a.r.IntN(3)]))
		if a.r.IntN(3) == 0 {
			one = obj("function", obj("name", str("p"), "type", str("t"), "parameters", obj("x", str(a.path()), "y", str("{{ y"), "z", str("$"))))
		}
		if a.r.IntN(4) == 0 {
			one = one.With("timeout", expr.Int(int64(10+a.r.IntN(30))))
		}
		if a.r.IntN(4) == 0 {
			one = one.With("retry", a.retry(next))
		}
		if a.r.IntN(3) == 0 {
			one = a.filtered(one)
		}
		out = append(out, one)
	}
	return expr.Array(out...)
}

func (a *author) retry(next func() expr.Value) expr.Value {
	matches := []string{"SYS.MatchAny", "SYS.Timeout", "Overloaded", "Gone"}
	one := func() expr.Value {
		r := obj("match", str(matches[a.r.IntN(len(matches))]), "max-retry", expr.Int(int64(a.r.IntN(4))), "retry-interval", expr.Int(int64(a.r.IntN(5))))
		if next != nil && a.r.IntN(2) == 0 {
			r = r.With("next-state", next())
		}
		return r
	}
	if next == nil || a.r.IntN(2) == 0 {
		return one()
	}
	return expr.Array(one().With("next-state", next()), one().With("next-state", next()))
}

func (a *author) choices(next func() expr.Value) expr.Value {
	var list []expr.Value
	for range 1 + a.r.IntN(3) {
		list = append(list, a.condition(0).With("next-state", next()))
	}
	st := obj("type", str("SWITCH"), "choices", expr.Array(list...))
	if a.r.IntN(4) > 0 {
		st = st.With("default", next())
	}
	return st
}

func (a *author) condition(depth int) expr.Value {
	if a.r.IntN(3) == 0 && depth < 2 {
		return obj([]string{"and", "or", "not"}[a.r.IntN(3)], expr.Array(a.condition(depth+1), a.condition(depth+1)))
	}
	ops := []string{"Equals", "LessThan", "GreaterThanEquals", "GreaterThan", "LessThanEquals", "Exists", "EQ"}
	values := []string{"2", "3", "red", "true", "null", "false", "it's", ""}
	return obj("path", str("$."+[]string{"a", "b", "c.d"}[a.r.IntN(3)]), "operator", str(ops[a.r.IntN(len(ops))]), "value", str(values[a.r.IntN(len(values))]))
}

func (a *author) event(next func() expr.Value) expr.Value {
	entries := []expr.Value{}
	expressions := []string{"in", "out", "in or out"}
	timeout := a.r.IntN(2) * (20 + a.r.IntN(60))
	n := 1 + a.r.IntN(2)
	if timeout == 0 && n == 1 {
		expressions = append(expressions, "in and out")
	}
	for range n {
		e := obj("event-expression", str(expressions[a.r.IntN(len(expressions))]), "actions", a.actions(nil), "next-state", next())
		if timeout > 0 {
			e = e.With("timeout", expr.Int(int64(timeout)))
		}
		entries = append(entries, e)
	}
	return obj("type", str("EVENT"), "events", expr.Array(entries...))
}

func (a *author) path() string {
	paths := []string{"$", "$.a", "$.b", "$.c.d", "$.c", "$.a.inner", "$['a','b']", "$..inner", "$.c[*]", "$[0]", "$.a[?(@.b == $.b)]"}
	return paths[a.r.IntN(len(paths))]
}

func (a *author) input(st expr.Value) expr.Value {
	if a.r.IntN(3) == 0 {
		st = st.With("input-path", str(a.path()))
	}
	return st
}

func (a *author) filtered(st expr.Value) expr.Value {
	st = a.input(st)
	if a.r.IntN(4) == 0 {
		st = st.With("result-path", str([]string{"$.a", "$.c.d", "$"}[a.r.IntN(3)]))
	}
	if a.r.IntN(4) == 0 {
		st = st.With("output-path", str(a.path()))
	}
	if a.r.IntN(2) == 0 { // both places are fine
		filter := expr.EmptyObject
		for _, m := range st.Members() {
			if strings.HasSuffix(m.Key, "-path") {
				filter = filter.With(m.Key, m.Value)
				st = st.Without(m.Key)
			}
		}
		if filter.Len() > 0 {
			st = st.With("filter", filter)
		}
	}
	return st
}
