package sim

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

func (b *builder08) withActions(st expr.Value, most int) expr.Value {
	var list []expr.Value
	for range 1 + b.g.r.IntN(most) {
		list = append(list, b.action())
	}
	return st.With("actions", expr.Array(list...))
}

// actionNamed names an action: in 0.9 each has a name.
func (b *builder08) actionNamed(a expr.Value) expr.Value {
	b.made++
	if b.form == 9 || b.g.chance(30) {
		return a.With("name", expr.String(fmt.Sprintf("act%d", b.made)))
	}
	return a
}

// action does one thing.
func (b *builder08) action() expr.Value {
	g := b.g
	a := b.actionNamed(expr.EmptyObject)
	byEvents, asynchronous := false, false
	switch n := g.r.IntN(100); {
	case n < 9:
		byEvents = true
		a = b.byEvents(a)
	case n < 25 && b.form > 6 && len(b.subs) > 0:
		ref := b.workflowRef()
		asynchronous = str(ref, "invoke") == "async"
		a = a.With("subFlowRef", ref)
	case n < 33 && !b.paths && !b.inside:
		a = a.With("functionRef", expr.String(pick(g, "is-big", "part", "is-one")))
	default:
		ref := b.functionRef()
		asynchronous = str(ref, "invoke") == "async"
		a = a.With("functionRef", ref)
	}
	if b.form == 6 && g.chance(25) {
		a = a.With("timeout", expr.String(duration(g.span(time.Minute))))
	}
	if b.form >= 8 && g.chance(8) && !b.inside {
		a = a.With("condition", b.condition())
	}
	a = b.onAction(a, byEvents || asynchronous)
	if filter := b.actionFilter(a, asynchronous); filter.Len() > 0 {
		a = a.With("actionDataFilter", filter)
	}
	return a
}

// onAction adds sleeps, and what is done about errors of the action alone.
func (b *builder08) onAction(a expr.Value, plain bool) expr.Value {
	g := b.g
	handled := false
	switch {
	case b.form == 9 && g.chance(35):
		a, handled = a.With("onErrors", b.handlersOf(30)), true
	case b.form == 7 || b.form == 8:
		a = b.retryRef(a)
	}
	if b.form > 6 && !plain && g.chance(10) {
		s := obj("before", b.duration(20*time.Second))
		if !handled && g.chance(50) {
			s = s.With("after", b.duration(20*time.Second))
			if g.chance(40) {
				s = s.Without("before")
			}
		}
		a = a.With("sleep", s)
	}
	return a
}

func (b *builder08) actionFilter(a expr.Value, asynchronous bool) expr.Value {
	g := b.g
	filter := expr.EmptyObject
	if g.chance(15) && !b.inside {
		filter = filter.With("fromStateData", b.filter())
	}
	if b.inside && (g.chance(15) || !get(a, "subFlowRef").IsNull() && g.chance(60)) {
		filter = filter.With("fromStateData", b.always("{n1: 3, o1: {v: $"+b.items+"}}"))
		if b.paths {
			filter = filter.With("fromStateData", b.always("$.o1"))
		}
	}
	if asynchronous {
		return filter
	}
	if g.chance(25) {
		filter = filter.With("results", b.result(b.inside))
	}
	if g.chance(25) && !b.inside {
		filter = filter.With("toStateData", b.place())
	}
	if b.form >= 8 && g.chance(8) && !b.inside {
		filter = filter.With("useResults", expr.Bool(g.chance(30)))
	}
	return filter
}

func (b *builder08) functionRef() expr.Value {
	g := b.g
	f := pick(g, b.pool...)
	if g.chance(20) {
		return expr.String(f)
	}
	ref := obj("refName", expr.String(f))
	if g.chance(80) {
		key := "arguments"
		if b.form < 9 && g.chance(8) {
			key = "parameters"
		}
		ref = ref.With(key, b.template())
	}
	if b.form >= 8 && g.chance(8) && !b.inside {
		ref = ref.With("invoke", expr.String("async"))
	} else if b.form >= 8 && g.chance(8) {
		ref = ref.With("invoke", expr.String("sync"))
	}
	return ref
}

func (b *builder08) workflowRef() expr.Value {
	g := b.g
	id := pick(g, b.subs...)
	if g.chance(3) {
		id = "nowhere"
	}
	if !b.twice[id] && g.chance(40) {
		return expr.String(id)
	}
	ref := obj("workflowId", expr.String(id))
	if b.twice[id] || g.chance(20) {
		version := "1.0.0"
		if b.twice[id] && g.chance(50) || g.chance(5) {
			version = "2.0.0"
		}
		ref = ref.With("version", expr.String(version))
	}
	if b.form >= 8 && g.chance(25) && !b.inside {
		ref = ref.With("invoke", expr.String("async"))
		if g.chance(60) {
			ref = ref.With("onParentComplete", expr.String(pick(g, "terminate", "continue", "continue")))
		}
	}
	return ref
}

// byEvents makes an action that produces an event and waits for another; in 0.9 these are two.
func (b *builder08) byEvents(a expr.Value) expr.Value {
	g := b.g
	if b.form == 9 {
		if g.chance(50) {
			p := b.payload(obj("event", expr.String(b.produced())))
			if get(p, "data").IsNull() {
				p = p.With("data", obj("p1", b.braces(".n1? // 1")))
				if b.paths {
					p = p.With("data", obj("p1", b.braces("$.n1")))
				}
			}
			return a.With("publish", p)
		}
		s := obj("event", expr.String(b.consumed()))
		if g.chance(70) {
			s = s.With("timeout", b.duration(2*time.Minute))
		}
		return a.With("subscribe", s)
	}
	ref := b.payload(obj("triggerEventRef", expr.String(b.produced())))
	if g.chance(85) {
		ref = ref.With("resultEventRef", expr.String(b.consumed()))
	}
	if b.form == 8 && g.chance(50) {
		ref = ref.With("resultEventTimeout", b.duration(2*time.Minute))
	}
	if b.form == 8 && g.chance(10) {
		ref = ref.With("invoke", expr.String("async"))
	}
	return a.With("eventRef", ref)
}

// produced defines an event that the workflow makes.
func (b *builder08) produced() string {
	name := b.named(fmt.Sprintf("P%d", len(b.events)+1))
	e := obj("name", expr.String(name), "type", expr.String("made."+b.id+"."+name))
	if b.form < 9 {
		e = e.With("kind", expr.String("produced"))
	}
	if b.g.chance(50) {
		e = e.With("source", expr.String("makers"))
	}
	b.events = append(b.events, e)
	b.g.made = append(b.g.made, e)
	return name
}

func (b *builder08) produceOn(move expr.Value, percent int) expr.Value {
	if !b.g.chance(percent) {
		return move
	}
	var list []expr.Value
	for range 1 + b.g.r.IntN(2) {
		list = append(list, b.payload(obj("eventRef", expr.String(b.produced()))))
	}
	return move.With("produceEvents", expr.Array(list...))
}

// payload adds the data and the attributes of an event.
func (b *builder08) payload(p expr.Value) expr.Value {
	g := b.g
	switch g.r.IntN(3) {
	case 0:
		src := pick(g, ".n1? // 1", "{n1: (.n1? // 1), o1: (.o1? // {})}", ".a1? // [1]", ".o1? // {n1: 3}", "[.n1?]")
		if b.paths {
			src = "$"
		}
		p = p.With("data", b.braces(src))
		if g.chance(5) {
			p = p.With("data", expr.String("plain text"))
		}
	case 1:
		template := b.template()
		p = p.With("data", template)
	}
	if g.chance(25) {
		about := "x${ .s1? // \"none\" | tostring }"
		if b.paths {
			about = "x${ $.s1 }"
		}
		attributes := obj("about", expr.String(about), "fixed", expr.String("y"))
		if b.form < 9 && g.chance(30) {
			attributes = expr.Array(attributes)
		}
		p = p.With("contextAttributes", attributes)
	}
	return p
}

// starts reports whether the state in the making is one whose events start instances.
func (b *builder08) starts() bool { return b.at == 0 && !b.g.c.ByHand && b.root }

// consumed defines an event that the workflow waits for, and mostly lets one or two
// come. Each place waits for a type of its own: who gets an event that several wait
// for at different times is a race.
func (b *builder08) consumed() string {
	g := b.g
	starts := b.starts()
	g.events++
	name := b.named(fmt.Sprintf("V%d", len(b.events)+1))
	if n := len(g.made); n > 0 && !starts && g.chance(15) { // its own, which it must not take, or another's
		made := g.made[g.r.IntN(n)]
		if source := str(made, "source"); source != "" {
			e := obj("name", expr.String(name), "type", get(made, "type"), "source", expr.String(source))
			b.events = append(b.events, e)
			return name
		}
	}
	kind := fmt.Sprintf("kind.%d", g.events)
	e := obj("name", expr.String(name), "type", expr.String(kind), "source", expr.String("world"))
	if b.form == 9 && g.chance(20) {
		e = e.Without("source")
	}
	if b.form < 9 && g.chance(30) {
		e = e.With("kind", expr.String("consumed"))
	}
	if b.form > 6 && g.chance(15) {
		e = e.With("dataOnly", expr.Bool(g.chance(30)))
	}
	attribute, right := "", ""
	if g.chance(30) || starts && g.chance(40) {
		attribute, right = pick(g, "key", "dept"), "k1"
		c := obj("contextAttributeName", expr.String(attribute))
		switch n := g.r.IntN(4); {
		case n == 1:
			c = c.With("contextAttributeValue", expr.String("k1"))
		case n > 1 && !starts: // there is no data before the start
			value := "${ .s1? // \"a\" }"
			if b.paths {
				value = "${ $.s1 }"
			}
			c = c.With("contextAttributeValue", expr.String(value))
			right = "a"
		}
		e = e.With("correlation", expr.Array(c))
	}
	b.events = append(b.events, e)
	for range pick(g, 0, 1, 1, 1, 1, 2, 2, 3) {
		ev := obj("specversion", expr.String("1.0"), "id", expr.String(fmt.Sprintf("e%d", len(g.c.Events)+1)),
			"source", expr.String("world"), "type", expr.String(kind))
		if attribute != "" && g.chance(90) {
			ev = ev.With(attribute, expr.String(pick(g, right, right, right, "k1", "b", "other")))
		}
		if g.chance(92) {
			ev = ev.With("data", g.object08(2))
		} else if g.chance(40) {
			ev = ev.With("data", pick(g, expr.Int(3), expr.Array(expr.Int(1)), expr.String("payload")))
		}
		g.c.Events = append(g.c.Events, TimedEvent{g.span(4 * time.Minute), ev})
	}
	return name
}

// eventFilter selects part of an event, which may be a whole one.
func (b *builder08) eventFilter() expr.Value {
	g := b.g
	f := expr.EmptyObject
	if b.form >= 8 && g.chance(12) {
		f = f.With("useData", expr.Bool(g.chance(40)))
	}
	if g.chance(40) {
		f = f.With("toStateData", b.place())
	}
	if f.Len() > 0 && g.chance(40) {
		return f
	}
	list := []string{".o1?", "{o1: (.o1? // {n1: 8})}", "{a1: (.a1? // [9])}", "empty", ".data?.o1?", "{t: .type?}", "."}
	if get(f, "toStateData").Str() != "" {
		list = append(list, ".n1?", ".a1?", ".type?")
	}
	if b.form == 6 {
		list = []string{".o1?", "{o1: (.o1? // {n1: 8})}", ".data.o1?", "."} // what is repeated of a start whose filter fails is not said
		if get(f, "toStateData").Str() != "" {
			list = append(list, ".type", ".source", ".n1?")
		}
	}
	if b.paths {
		list = []string{"$", "$.o1"}
	}
	return f.With("data", b.always(pick(g, list...)))
}
