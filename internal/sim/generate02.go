package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// generate02 makes a case in version 0.2, some of it spelled as in 0.1 as it was released: what it shares with
// 0.5 comes from the generator of that, without compensation; errors, branches and iterations are its own.
func generate02(g *gen) {
	g.older = true
	generate05(g)
	g.c.Def = g.spelled(g.c.Def)
	for i := range g.c.Subs {
		g.c.Subs[i] = g.spelled(g.c.Subs[i])
	}
}

// olderErrors adds retries and error definitions to a state. Their expressions ask for the error only: what else a
// state has added when it fails is nothing the interpreter knows.
func (b *builder) olderErrors(st expr.Value) expr.Value {
	g := b.g
	if !strings.Contains("operation event parallel foreach callback", str(st, "type")) || g.chance(45) {
		return b.olderHandlers(st, 60)
	}
	var list []expr.Value
	for range 1 + g.r.IntN(2) {
		r := obj("expression", g.errorTest())
		if g.chance(80) {
			interval := duration(g.span(time.Minute))
			if g.chance(30) {
				interval = fmt.Sprintf("R%d/%s", g.r.IntN(4), interval)
			}
			r = r.With("interval", expr.String(interval))
		}
		if g.chance(40) {
			r = r.With("multiplier", expr.String(duration(g.span(time.Minute))))
		}
		if g.chance(60) {
			r = r.With("maxAttempts", expr.Int(int64(g.r.IntN(4))))
		}
		list = append(list, r)
	}
	return b.olderHandlers(st.With("retry", expr.Array(list...)), 60)
}

func (b *builder) olderHandlers(st expr.Value, percent int) expr.Value {
	g := b.g
	if str(st, "type") == "inject" || !g.chance(percent) {
		return st
	}
	var list []expr.Value
	for range 1 + g.r.IntN(3) {
		e := obj("expression", g.errorTest(), "errorDataFilter", obj("dataOutputPath", expr.String(pick(g, "$.name", "$.code", "$.missing", "$.error.name"))))
		list = append(list, b.exit(e, true))
	}
	return st.With("onError", expr.Array(list...))
}

// errorTest is an expression about an error.
func (g *gen) errorTest() expr.Value {
	name := func() string { return pick(g, "E1", "E2", "E3", "Timeout", "DataError") }
	text := ""
	switch g.r.IntN(6) {
	case 0:
		text = fmt.Sprintf("name eq '%s'", name())
	case 1:
		text = fmt.Sprintf("$.error.name != '%s'", name())
	case 2:
		text = fmt.Sprintf("name == '%s' or name == '%s'", name(), name())
	case 3:
		text = fmt.Sprintf("not name eq '%s' and $.exception.code == '404'", name())
	case 4:
		text = "$.error ne null"
	default:
		text = fmt.Sprintf("%s == '%s'", pick(g, "error.name", "$.errors[0].name"), name())
	}
	if g.chance(40) {
		return expr.String(text)
	}
	return obj("language", expr.String("spel"), "body", expr.String(text))
}

// inner makes the states of a branch or an iteration: one after the other, with data only.
func (b *builder) inner(prefix string) expr.Value {
	g := b.g
	filtered := g.chance(30)
	n := 1 + g.r.IntN(3)
	var states []expr.Value
	for i := range n {
		kind := pick(g, "operation", "operation", "inject", "delay", "switch")
		if i == n-1 && kind == "switch" {
			kind = "inject"
		}
		st := obj("name", expr.String(fmt.Sprintf("%s%d", prefix, i+1)), "type", expr.String(kind))
		way := obj("transition", obj("nextState", expr.String(fmt.Sprintf("%s%d", prefix, i+2))))
		if i == n-1 || g.chance(10) {
			way = obj("end", obj("kind", expr.String(pick(g, "default", "default", "default", "default", "terminate"))))
		}
		switch kind {
		case "operation":
			st = st.With("actions", expr.Array(b.plainAction()))
		case "inject":
			st = st.With("data", g.template(g.object(2)))
		case "delay":
			st = st.With("timeDelay", expr.String(duration(g.span(time.Minute))))
		case "switch":
			st = st.With("dataConditions", expr.Array(merge(obj("condition", g.condition()), way))).With("default", way)
			way = expr.EmptyObject
		}
		st = merge(st, way)
		if i == 0 {
			st = st.With("start", obj("kind", expr.String("default")))
		}
		if filter := b.stateFilter(); filtered && filter.Len() > 0 {
			st = st.With("stateDataFilter", filter)
		}
		if kind == "operation" && g.chance(40) {
			e := obj("expression", g.errorTest(), "errorDataFilter", obj("dataOutputPath", expr.String("$.name")))
			st = st.With("onError", expr.Array(e.With("end", obj("kind", expr.String("default")))))
		}
		states = append(states, st)
	}
	return expr.Array(states...)
}

// plainAction calls a function.
func (b *builder) plainAction() expr.Value {
	f := pick(b.g, b.pool...)
	if _, ok := b.g.mocks[f]; !ok {
		b.g.mocks[f] = b.g.answers()
	}
	ref := obj("refName", expr.String(f))
	if b.g.chance(75) {
		ref = ref.With("parameters", b.g.parameters())
	}
	return obj("functionRef", ref)
}

// spelled writes a definition as 0.2 does, in the parts where that is another way than 0.5's.
func (g *gen) spelled(def expr.Value) expr.Value {
	var functions []expr.Value
	for _, f := range get(def, "functions").Items() {
		functions = append(functions, f.With("resource", get(f, "name")))
	}
	return g.older02(def, "").With("functions", expr.Array(functions...))
}

// older02 rewrites a value; key is the member that it stands in.
func (g *gen) older02(v expr.Value, key string) expr.Value {
	switch v.Kind() {
	case expr.KindArray:
		var items []expr.Value
		for _, item := range v.Items() {
			items = append(items, g.older02(item, key))
		}
		return expr.Array(items...)
	case expr.KindString:
		switch s := v.Str(); key {
		case "parameters": // a path stands for what it selects, with braces or without
			if inner, rest, ok := cutExpression(s); strings.HasPrefix(s, "{{") && ok && rest == "" && strings.HasPrefix(inner, "$.") && g.chance(50) {
				return expr.String(inner)
			}
		case "type", "kind", "completionType":
			if g.chance(15) && !strings.Contains(s, ".") {
				return expr.String(strings.ToUpper(s))
			}
		}
		return v
	case expr.KindObject:
		return g.olderObject(v, key)
	}
	return v
}

func (g *gen) olderObject(v expr.Value, key string) expr.Value {
	out := expr.EmptyObject
	for _, m := range v.Members() {
		name, value := m.Key, m.Value
		switch {
		case key == "parameters" || key == "data":
			out = out.With(name, g.older02(value, key))
			continue
		case name == "onEvents" && g.chance(60):
			name = "eventsActions"
		case name == "produceEvents" && value.Len() == 1 && g.chance(70):
			name, value = "produceEvent", value.Items()[0]
		case name == "default" && g.chance(60):
			if move, ok := value.Get("transition"); ok {
				value = move
			}
		case name == "iterationParam" && g.chance(60):
			name, value = "inputParameter", expr.String("$."+value.Str())
		case name == "type" && key != "states":
			out = out.With(name, value) // of an event: its own
			continue
		}
		out = out.With(name, g.older02(value, name))
	}
	return out
}
