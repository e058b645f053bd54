package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

func (b *builder10) try() expr.Value {
	g := b.g
	outer := b.risky
	b.risky = fmt.Sprintf("%s.r%d", b.id, len(b.functions)+1)
	b.functions = append(b.functions, b.risky)
	g.mocks[b.risky] = g.answers10(75)
	t := obj("try", b.list(1+g.r.IntN(2)))
	b.risky = outer
	catch := expr.EmptyObject
	if g.chance(40) {
		with := expr.EmptyObject
		if g.chance(70) {
			with = with.With("type", expr.String(pick(g, filterTypes...)))
		}
		if g.chance(30) || with.Len() == 0 {
			with = with.With("status", expr.Int(int64(pick(g, 400, 404, 408, 500, 503))))
		}
		if g.chance(10) {
			with = with.With("title", expr.String("T1"))
		}
		catch = catch.With("errors", obj("with", with))
	}
	name := "error"
	if g.chance(30) {
		name = "err"
		catch = catch.With("as", expr.String(name))
	}
	if g.chance(20) {
		catch = catch.With("when", expr.String(pick(g, "$"+name+".status >= 404", "(.b1? // true)", "$"+name+".instance != null")))
	}
	if g.chance(15) {
		catch = catch.With("exceptWhen", expr.String(pick(g, "$"+name+".status == 503", "(.n1? // 0) > 6")))
	}
	if g.chance(50) {
		catch = catch.With("retry", b.retryFor(name))
		if len(b.retries) > 0 && g.chance(30) {
			catch = catch.With("retry", expr.String(pick(g, b.retries...)))
		}
	}
	if g.chance(65) {
		b.errs = append(b.errs, name)
		do := b.list(1 + g.r.IntN(2))
		if g.chance(40) { // what is the error now?
			tell := obj("call", expr.String(b.pool[0]), "with", obj("o1", expr.String(fmt.Sprintf("${ $%s | {type, status, instance} }", name))))
			do = expr.Array(append(slices.Clone(do.Items()), obj(b.name(), tell))...)
		}
		catch = catch.With("do", do)
		b.errs = b.errs[:len(b.errs)-1]
	}
	return t.With("catch", catch)
}

func (b *builder10) retryFor(name string) expr.Value {
	r := b.retry()
	if b.g.chance(15) {
		r = r.With("when", expr.String("$"+name+".status != 404"))
	}
	if b.g.chance(10) {
		r = r.With("exceptWhen", expr.String("$"+name+".status == 400"))
	}
	return r
}

// retry makes a policy that comes to an end.
func (b *builder10) retry() expr.Value {
	g := b.g
	r := expr.EmptyObject
	if g.chance(80) {
		r = r.With("delay", b.duration(20*time.Second))
	}
	if g.chance(60) {
		r = r.With("backoff", obj(pick(g, "constant", "linear", "exponential"), expr.EmptyObject))
	}
	if g.chance(20) {
		d := b.duration(3 * time.Second)
		r = r.With("jitter", obj("from", d, "to", d))
	}
	attempt := obj("count", expr.Int(int64(pick(g, 0, 1, 2, 3, 3, 4))))
	if g.chance(20) {
		attempt = attempt.With("duration", b.duration(time.Minute))
	}
	limit := obj("attempt", attempt)
	if g.chance(20) {
		limit = limit.With("duration", b.duration(2*time.Minute))
	}
	return r.With("limit", limit)
}
