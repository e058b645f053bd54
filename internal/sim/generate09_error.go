package sim

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
)

const standard09 = "https://serverlessworkflow.io/spec/errors/"

// errorTypes09 are types that handlers of 0.9 speak of.
var errorTypes09 = []string{"https://example.com/e1", "https://example.com/e2", standard09 + "communication", standard09 + "communication", standard09 + "timeout", standard09 + "expression", standard09 + "runtime"}

// definitions09 are the errors, handlers and policies of a workflow.
func (b *builder08) definitions09() expr.Value {
	e := func(name, typ string, status int) expr.Value {
		return obj("name", expr.String(name), "type", expr.String(typ), "status", expr.Int(int64(status)))
	}
	all := obj("definitions", expr.Array(
		e("not-there", standard09+"communication", 404), e("busy", standard09+"communication", 503), e("mine", "https://example.com/e1", 409), e("late", standard09+"timeout", 408), e("own", "https://example.com/own", 418),
	))
	if len(b.handlers) > 0 {
		all = all.With("handlers", expr.Array(b.handlers...))
	}
	if len(b.policies) > 0 {
		all = all.With("policies", expr.Array(b.policies...))
	}
	return all
}

// handlersOf makes the handlers of a state or an action. Some of them ignore errors, if they may: a switch has no
// exit of its own with which to go on.
func (b *builder08) handlersOf(ignore int) expr.Value {
	g := b.g
	var list []expr.Value
	for range 1 + g.r.IntN(2) {
		h := b.handler09(ignore)
		if g.chance(20) {
			name := fmt.Sprintf("h%d", len(b.handlers)+1)
			b.handlers = append(b.handlers, h.With("name", expr.String(name)))
			h = obj("refName", expr.String(name))
		}
		list = append(list, h)
	}
	if g.chance(15) {
		name := fmt.Sprintf("policy%d", len(b.policies)+1)
		b.policies = append(b.policies, obj("name", expr.String(name), "handlers", expr.Array(list...)))
		return expr.String(name)
	}
	return expr.Array(list...)
}

func (b *builder08) handler09(ignore int) expr.Value {
	g := b.g
	h := expr.EmptyObject
	if g.chance(60) {
		h = h.With("when", b.errorRefs())
	}
	if g.chance(20) {
		h = h.With("exceptWhen", b.errorRefs())
	}
	if g.chance(45) {
		if g.chance(60) {
			h = h.With("retry", expr.String(b.retry()))
		} else {
			h = h.With("retry", b.retryPolicy().With("name", expr.String("inline")))
		}
	}
	if g.chance(ignore) {
		return h
	}
	switch n := g.r.IntN(10); {
	case n < 2:
		return h.With("then", obj("throw", expr.Bool(true)))
	case n < 3:
		return h.With("then", obj("throw", obj("refName", expr.String(pick(g, "own", "mine", "late")))))
	case n < 4:
		throw := obj("type", expr.String(pick(g, "https://example.com/own", "https://example.com/e1")), "status", expr.Int(418), "title", expr.String("T"))
		if !b.paths && g.chance(50) {
			throw = throw.With("status", expr.String("${ 400 + 18 }"))
		}
		return h.With("then", obj("throw", throw))
	}
	if b.undo { // the way out of compensation is its own
		return h
	}
	inside := b.inside
	b.inside = false // the exit is the state's
	defer func() { b.inside = inside }()
	return h.With("then", b.exit(expr.EmptyObject, true))
}

// errorRefs refer to errors: by name, or by type and status.
func (b *builder08) errorRefs() expr.Value {
	g := b.g
	var list []expr.Value
	for range 1 + g.r.IntN(2) {
		var ref expr.Value
		switch n := g.r.IntN(10); {
		case n < 4:
			ref = obj("refName", expr.String(pick(g, "not-there", "busy", "mine", "late", "own")))
		case n < 7:
			ref = obj("status", pick(g, expr.Int(404), expr.Int(503), expr.Int(408), expr.Int(500), expr.String("409"), expr.Int(418)))
		case n < 9:
			ref = obj("type", expr.String(pick(g, errorTypes09...)))
		default:
			ref = obj("type", expr.String(standard09+"communication"), "status", expr.Int(404))
		}
		list = append(list, ref)
	}
	return expr.Array(list...)
}
