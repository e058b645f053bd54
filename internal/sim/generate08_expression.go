package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Most expressions of generated definitions do not fail whatever the data is, so that
// something happens after them; a few do.

// expressionFunctions are functions that every definition has.
var expressionFunctions = map[string]string{
	"is-big": "(.n1? // 0) > 3", "is-one": "${ .b1? == true }", "same": "fn:is-big", "part": "{n1: (.n1? // 1), o1: {x: (.s1? // \"a\")}}",
}

func sortByName(list []expr.Value) {
	slices.SortStableFunc(list, func(a, b expr.Value) int { return strings.Compare(str(a, "name"), str(b, "name")) })
}

func (g *gen) object08(depth int) expr.Value {
	v := expr.EmptyObject
	for range g.r.IntN(5) {
		key := pick(g, vocabulary...)
		v = v.With(key, g.value10(key, depth))
	}
	return v
}

func (g *gen) fullObject08() expr.Value {
	v := expr.EmptyObject
	for _, key := range vocabulary {
		v = v.With(key, g.value10(key, 2))
	}
	return v
}

// answers08 draws what the calls of a function give; some percent fail.
func (g *gen) answers08(form, failing int) []Answer {
	list := make([]Answer, 1+g.r.IntN(4))
	for i := range list {
		a := &list[i]
		a.Delay = g.span(40 * time.Second)
		if g.chance(4) {
			a.Delay = 0
		}
		switch n := g.r.IntN(100); {
		case g.chance(failing):
			a.Error = g.fault08(form)
		case n < 80:
			a.HasResult, a.Result = true, g.object08(2)
		case n < 88:
			a.HasResult, a.Result = true, pick(g, expr.Int(7), expr.String("text"), expr.Array(expr.Int(1), expr.Int(2)), expr.Null)
		case n < 90: // nothing
		default:
			a.Echo = true
		}
	}
	return list
}

func (g *gen) fault08(form int) *Fault {
	switch form {
	case 6:
		return pick(g, &Fault{Name: "E1"}, &Fault{Name: "E1", Code: "404"}, &Fault{Name: "E2", Status: "503"}, &Fault{Name: "E2"}, &Fault{Name: "E3"},
			&Fault{Name: "E4"}, &Fault{Name: "Error", Code: "404"}, &Fault{Name: "Error", Status: "503"}, &Fault{Name: "E5", Title: "T1"}, &Fault{Name: "E5", Type: "T1"})
	case 9:
		f := &Fault{Name: pick(g, "E1", "E2", "Error"), Status: strconv.Itoa(pick(g, 404, 404, 503, 409))}
		if g.chance(30) {
			f.Type = pick(g, "https://example.com/e1", "https://example.com/e2")
		}
		if g.chance(10) {
			f.Code, f.Status = f.Status, ""
		}
		return f
	}
	return pick(g, &Fault{Name: "E1"}, &Fault{Name: "E1", Code: "404"}, &Fault{Name: "E1", Status: "409"}, &Fault{Name: "E2", Status: "503"}, &Fault{Name: "E2"},
		&Fault{Name: "E3"}, &Fault{Name: "E4"}, &Fault{Name: "Error", Code: "404"}, &Fault{Name: "Error", Status: "503"}, &Fault{Name: "Unknown", Status: "409"})
}

// always writes an expression where only expressions stand, sometimes without braces.
func (b *builder08) always(src string) expr.Value {
	if b.g.chance(8) {
		return expr.String(src)
	}
	return b.braces(src)
}

func (b *builder08) braces(src string) expr.Value {
	if b.paths && b.g.chance(50) {
		return expr.String("{{ " + src + " }}")
	}
	return expr.String("${ " + src + " }")
}

// filter selects part of the data of a state.
func (b *builder08) filter() expr.Value {
	if b.paths {
		return b.always(pick(b.g, "$", "$.o1", "$.missing", "$.o1.o2", "$.a2[0]"))
	}
	list := []string{
		".", ".o1?", ".missing?", "{n1: (.n1? // 1), o1: (.o1? // {}), a1: (.a1? // [])}", "if type == \"object\" then . + {s2: \"f\"} else {x1: .} end",
		"if type == \"object\" then del(.n2, .x1) else . end", "empty", "null", ".o1? // {}", "fn:part", "{a1: [1, 2], s1: \"}\", \"o1\": {n1: (.n1? // 0)}}",
	}
	if b.g.chance(10) {
		list = []string{".n1?", ".a1?", ".a1?[]?", "[.s1?]", ".o1.n1.x"}
	}
	return b.always(pick(b.g, list...))
}

// result selects part of what came of an action, or of an event.
func (b *builder08) result(whole bool) expr.Value {
	if b.paths {
		return b.always(pick(b.g, "$", "$.o1", "$.missing", "$.n1", "$.a2[0]"))
	}
	list := []string{".", ".o1?", "{o2: (.o1? // {})}", ".n1?", ".a1?", "empty", ".missing?", "{a1: [.n1?], s1: \"r\"}", "{b1: (.b1? // true)}"}
	if whole {
		list = []string{".", ".o1?", "{o2: (.o1? // {})}", "{a1: [.n1?]}", "empty", ".missing?"}
	}
	if b.g.chance(3) {
		return b.always(pick(b.g, ".a1?[]?", ".n1.x"))
	}
	return b.always(pick(b.g, list...))
}

// place is where data goes.
func (b *builder08) place() expr.Value {
	if b.paths {
		return b.always(pick(b.g, "$.r1", "$.o1.r1", "$.new.deep", "$.a1"))
	}
	return b.always(pick(b.g, ".r1", ".o1.r1", ".new.deep", `.new["two words"]`, ".a1", ".n1", ".o1"))
}

func (b *builder08) condition() expr.Value {
	if b.paths {
		return b.always(pick(b.g, "$.b1", "$.a2[?(@.b1 == true)]", "$.a2[?(@.n1 > 4)]", "$.missing", "$.a2[?(@.id == 1)]"))
	}
	list := []string{
		"(.n1? // 0) > 3", ".b1? == true", "(.s1? // \"a\") == \"a\"", "(.a1? // []) | length > 1", "type == \"object\"", ".missing?", "fn:is-big", "fn:is-one", "fn:same",
		"false", "true", "empty", "(.a2? // []) | any(.b1?)",
	}
	if b.form >= 7 {
		list = append(list, "(.n1? // 1) < ($CONST.c1 // 3)")
	}
	if b.inside {
		list = append(list, "$"+b.items+" != null", "$"+b.items+" != 1")
	}
	if b.g.chance(4) {
		list = []string{".n1?", "true, false", "error(\"no\")"}
	}
	return b.always(pick(b.g, list...))
}

// value is an expression in an argument.
func (b *builder08) value() string {
	if b.paths {
		return pick(b.g, "$.n1", "$.s1", "$.o1", "$.a1", "$.missing", "$.o1.n1", "$.a2[0]", "$.b1")
	}
	list := []string{
		".n1? // 1", ".s1? // \"s\"", ".a1? // []", ".o1? // {}", ".b1?", ".x1?", "(.n1? // 1) | (if type == \"number\" then . + 1 else 0 end)", "[.n1?, .s1?]",
		"{ k: (.n2? // 2) }", "empty", "(.a2? // []) | map(.id?)", "[limit(2; .a1[]?)]", "{a: \"}\"} | .a", "1, 2", "fn:is-big", "fn:part", "tojson | length", ".missing?",
	}
	if b.form >= 7 {
		list = append(list, "$CONST.c1", "$CONST.c2.deep? // \"none\"")
	}
	if b.form >= 8 {
		list = append(list, "$WORKFLOW.id", "$WORKFLOW.version", "$WORKFLOW.name")
	}
	if b.inside {
		list = append(list, "$"+b.items, "$"+b.items, "."+b.items, "$"+b.items+" | type")
		list = slices.DeleteFunc(list, func(s string) bool { return strings.HasPrefix(s, "fn:") || strings.HasPrefix(s, "tojson") })
	}
	if b.g.chance(1) {
		return pick(b.g, ".n1.x", "error(\"no\")")
	}
	return pick(b.g, list...)
}

// template makes an object with expressions at any depth.
func (b *builder08) template() expr.Value {
	v := expr.EmptyObject
	for i := range 1 + b.g.r.IntN(3) {
		v = v.With(fmt.Sprintf("p%d", i+1), b.part(2))
	}
	return v
}

func (b *builder08) part(depth int) expr.Value {
	g := b.g
	simple := pick(g, ".n1?", ".s1?", ".missing?", ".a1?", ".b1?")
	if b.paths {
		simple = pick(g, "$.n1", "$.s1", "$.missing", "$.b1")
	}
	switch n := g.r.IntN(12); {
	case n < 7:
		return b.braces(b.value())
	case n < 9 && depth > 0:
		return pick(g, obj("in", b.part(depth-1)), expr.Array(b.part(depth-1), b.part(depth-1)))
	case n == 9:
		return expr.String("<" + b.braces(simple).Str() + "> and " + b.braces(simple).Str() + ".")
	case n == 10:
		return expr.String(" " + b.braces(simple).Str() + " ")
	}
	return pick(g, expr.Int(5), expr.Bool(true), expr.Null, expr.String("plain text"), expr.String("a } b"))
}

// injected makes the data of an inject state.
func (b *builder08) injected() expr.Value {
	g := b.g
	v := obj("i1", expr.Int(int64(g.r.IntN(9))))
	for range g.r.IntN(4) {
		key := pick(g, vocabulary...)
		v = v.With(key, g.value10(key, 2))
	}
	if g.chance(25) {
		v = v.With("x1", b.part(1))
	}
	return v
}

// duration draws a duration, from 0.9 on sometimes as an expression.
func (b *builder08) duration(most time.Duration) expr.Value {
	text := duration(b.g.span(most))
	if b.form == 9 && !b.paths && b.g.chance(20) {
		return expr.String(fmt.Sprintf("${ \"PT\" + \"%s\" }", strings.TrimPrefix(text, "PT")))
	}
	return expr.String(text)
}
