package sim

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
)

// All data share one vocabulary, so that they meet: n… numbers, s… text, b… booleans,
// a… arrays (a2 of objects), o… objects, x… anything.

var vocabulary = []string{"n1", "n2", "s1", "s2", "b1", "a1", "a2", "a3", "o1", "o2", "x1"}

func (g *gen) object(depth int) expr.Value {
	v := expr.EmptyObject
	for range g.r.IntN(5) {
		key := pick(g, vocabulary...)
		v = v.With(key, g.value(key, depth))
	}
	return v
}

func (g *gen) fullObject() expr.Value {
	v := expr.EmptyObject
	for _, key := range vocabulary {
		v = v.With(key, g.value(key, 2))
	}
	return v
}

func (g *gen) value(key string, depth int) expr.Value {
	switch key {
	case "n1", "n2", "v":
		if g.chance(4) {
			n, _ := expr.Number(pick(g, "12345678901234567890", "1.50", "-3"))
			return n
		}
		return expr.Int(int64(g.r.IntN(9)))
	case "s1", "s2":
		return expr.String(pick(g, "a", "a", "b", "c", ""))
	case "b1", "ok":
		return expr.Bool(g.chance(50))
	case "a1", "a3":
		items := make([]expr.Value, g.r.IntN(4))
		for i := range items {
			items[i] = expr.Int(int64(g.r.IntN(5)))
			if key == "a3" {
				items[i] = expr.String(fmt.Sprintf("t%d", g.r.IntN(4)))
			}
		}
		return expr.Array(items...)
	case "a2":
		items := make([]expr.Value, g.r.IntN(4))
		for i := range items {
			items[i] = obj("id", expr.Int(int64(g.r.IntN(3))), "v", g.value("v", 0), "ok", g.value("ok", 0), "s1", g.value("s1", 0))
		}
		return expr.Array(items...)
	case "o1", "o2":
		if depth == 0 {
			return expr.EmptyObject
		}
		return g.object(depth - 1)
	default:
		return pick(g, expr.Null, expr.Int(1), expr.String("x"), expr.Array(), expr.EmptyObject, expr.Bool(false))
	}
}

func braced(path string) expr.Value { return expr.String("{{ " + path + " }}") }

// filterPath selects part of the data; sometimes nothing, sometimes bare.
func (g *gen) filterPath() expr.Value {
	path := pick(g, "$", "$.n1", "$.s1", "$.o1", "$.o1", "$.o2", "$.a1", "$.a2", "$.o1.n1", "$.o1.s1", "$.o1.a1", "$.o1.o2",
		"$.a1[0]", "$.a2[0]", "$.a2[-1]", "$.a2[*]", "$.a2[?(@.ok == true)]", "$.a2[?(@.v > 4)]", "$.a2[*].v", "$..v",
		"$.x1", "$.missing", "$.missing.deep", "$.a1[0:2]", "$['o1']['s1']", "$['o1']", "$.a3[5]", "$.missing[*]", "$.o1.*")
	if g.chance(10) {
		return expr.String(path)
	}
	return braced(path)
}

func (g *gen) condition() expr.Value {
	return braced(pick(g, "$.b1", "$.b1", "$.n1", "$.s1", "$.a1", "$.o1", "$.x1", "$.missing", "$.a2[?(@.ok == true)]", "$.a2[?(@.v > 4)]",
		"$.a2[?(@.v > 4 && @.ok == true)]", "$.o1.b1", "$.a1[0]", "$.a1[2]", "$.[?(@.n1 > 3)]", "$[?(@.b1)]", "$.a2[*].s1", "$.o1.n1"))
}

// parameters make an object with expressions at any depth.
func (g *gen) parameters() expr.Value {
	v := expr.EmptyObject
	for i := range 1 + g.r.IntN(3) {
		v = v.With(fmt.Sprintf("p%d", i+1), g.parameter(2))
	}
	return v
}

func (g *gen) parameter(depth int) expr.Value {
	if depth > 0 && g.chance(20) {
		return pick(g, obj("in", g.parameter(depth-1)), expr.Array(g.parameter(depth-1), g.parameter(depth-1)))
	}
	path := pick(g, "$.n1", "$.s1", "$.b1", "$.o1", "$.a1", "$.a2", "$.x1", "$.o1.n1", "$.o1.s1", "$.a2[0].v", "$.missing", "$.item", "$.item.v",
		"$.key", "$.n2", "$.o2.a1", "$")
	switch g.r.IntN(10) {
	case 0, 1, 2, 3, 4:
		return braced(path)
	case 5:
		return braced(pick(g, "$.a2[*].v", "$.a2[?(@.ok == true)]", "$..v", "$.missing[*]"))
	case 6, 7:
		return expr.String("<{{" + path + "}}> and {{ $.s2 }}")
	case 8:
		return expr.String(`\{{ literal }} {{ $.n1 }}`)
	default:
		return pick(g, expr.Int(5), expr.Bool(true), expr.Null, expr.String("plain"))
	}
}

// template puts expressions into a value that is otherwise given.
func (g *gen) template(v expr.Value) expr.Value {
	for _, m := range v.Members() {
		if g.chance(20) {
			v = v.With(m.Key, braced("$."+m.Key)) // keeps the kind of the key
		}
	}
	if g.chance(20) {
		v = v.With("s1", expr.String("t{{ $.s2 }}"))
	}
	return v
}
