package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// errorNames08 are errors that definitions of 0.6 to 0.8 speak of; errors with a code mean whatever has it in 0.7 and 0.8.
var errorNames08 = []string{"E1", "E2", "E3", "Timeout", "DataError", "ExpressionError", "NoMatch", "WorkflowNotFound"}

// errorDefinitions adds the errors that states and actions refer to.
func (b *builder08) errorDefinitions(def expr.Value) expr.Value {
	g := b.g
	switch b.form {
	case 6:
		return def
	case 9:
		return def.With("errors", b.definitions09())
	}
	if g.chance(12) {
		def = def.With("autoRetries", expr.Bool(true))
	}
	var list []expr.Value
	for _, name := range append(slices.Clone(errorNames08), "Missing", "*") {
		e := obj("name", expr.String(name))
		switch name {
		case "E2":
			e = e.With("code", expr.String(pick(g, "503", "404")))
		case "Missing":
			e = e.With("code", expr.String("404"))
		}
		if name == "*" && !b.star(def) {
			continue
		}
		list = append(list, e)
	}
	return def.With("errors", expr.Array(list...))
}

// star reports whether something refers to the error *. It makes all errors known, so that it is there only if need be.
func (b *builder08) star(v expr.Value) bool {
	for _, m := range v.Members() {
		switch m.Key {
		case "errorRef":
			if m.Value.Str() == "*" {
				return true
			}
		case "errorRefs", "retryableErrors", "nonRetryableErrors":
			for _, item := range m.Value.Items() {
				if item.Str() == "*" {
					return true
				}
			}
		}
		if b.star(m.Value) {
			return true
		}
	}
	return slices.ContainsFunc(v.Items(), b.star)
}

// onErrors makes the error definitions of a state.
func (b *builder08) onErrors(st expr.Value) expr.Value {
	g := b.g
	if b.form == 9 {
		if str(st, "type") == "switch" {
			return b.handlersOf(0)
		}
		return b.handlersOf(15)
	}
	names := slices.Clone(errorNames08)
	if b.form == 6 {
		names = append(names, "T1")
	} else {
		names = append(names, "Missing")
	}
	g.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if g.chance(40) {
		names = slices.Insert(names, g.r.IntN(2), "*")
	}
	var list []expr.Value
	for i := range 1 + g.r.IntN(3) {
		if b.form == 6 {
			d := obj("error", expr.String(names[i]))
			if (names[i] == "E1" || names[i] == "E2") && g.chance(40) {
				d = d.With("code", expr.String(pick(g, "404", "503")))
			}
			if g.chance(55) {
				d = d.With("retryRef", expr.String(b.retry()))
			}
			list = append(list, b.exit(d, true))
			continue
		}
		d := obj("errorRef", expr.String(names[i]))
		if g.chance(30) {
			d = obj("errorRefs", expr.Array(expr.String(names[i]), expr.String(names[len(names)-1-i])))
		}
		list = append(list, b.exit(d, true))
	}
	return expr.Array(list...)
}

// anyError leads to a state after any error.
func (b *builder08) anyError(to expr.Value) expr.Value {
	switch b.form {
	case 6:
		return expr.Array(obj("error", expr.String("*"), "transition", to))
	case 9:
		return expr.Array(obj("then", obj("transition", to)))
	}
	return expr.Array(obj("errorRef", expr.String("*"), "transition", to))
}

// retry defines how something is tried again.
func (b *builder08) retry() string {
	name := b.named(fmt.Sprintf("R%d", len(b.retries)+1))
	b.retries = append(b.retries, b.retryPolicy().With("name", expr.String(name)))
	return name
}

func (b *builder08) retryPolicy() expr.Value {
	g := b.g
	span := func(most time.Duration) expr.Value { // that halves without a rest
		return expr.String(duration(g.span(most) / (64 * time.Millisecond) * (64 * time.Millisecond)))
	}
	r := obj("maxAttempts", pick(g, expr.Int(1), expr.Int(2), expr.Int(2), expr.Int(3), expr.Int(4), expr.String("2")))
	if g.chance(80) {
		r = r.With("delay", span(30*time.Second))
	}
	if g.chance(30) {
		r = r.With("increment", span(20*time.Second))
	}
	if g.chance(35) {
		half, _ := expr.Number("1.5")
		r = r.With("multiplier", pick(g, expr.Int(2), expr.Int(3), half, expr.String("2"), expr.String("0.5")))
	}
	if g.chance(20) {
		r = r.With("maxDelay", span(40*time.Second))
	}
	if g.chance(8) {
		r = r.With("jitter", expr.Int(0))
	}
	return r
}

// retryRef says whether an action of 0.7 or 0.8 is tried again.
func (b *builder08) retryRef(a expr.Value) expr.Value {
	g := b.g
	names := func() expr.Value {
		list := append(slices.Clone(errorNames08), "Missing", "E1", "E2")
		one, two := pick(g, list...), pick(g, list...)
		if one == two {
			return expr.Array(expr.String(one))
		}
		return expr.Array(expr.String(one), expr.String(two))
	}
	if !g.chance(45) {
		return a
	}
	a = a.With("retryRef", expr.String(b.retry()))
	switch {
	case g.chance(40):
		a = a.With("retryableErrors", names())
	case g.chance(30):
		a = a.With("nonRetryableErrors", names())
	}
	return a
}
