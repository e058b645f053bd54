package sim

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

func (b *builder) withActions(st expr.Value, most int) expr.Value {
	var list []expr.Value
	for range 1 + b.g.r.IntN(most) {
		list = append(list, b.action())
	}
	return st.With("actions", expr.Array(list...))
}

// action calls a function, or produces an event and waits for another.
func (b *builder) action() expr.Value {
	g := b.g
	a := expr.EmptyObject
	if g.chance(10) {
		ref := obj("triggerEventRef", expr.String(b.produced()), "resultEventRef", expr.String(b.consumed()))
		a = a.With("eventRef", b.payload(ref))
	} else {
		f := pick(g, b.pool...)
		if _, ok := g.mocks[f]; !ok {
			g.mocks[f] = g.answers()
		}
		ref := obj("refName", expr.String(f))
		if g.chance(75) {
			ref = ref.With("parameters", g.parameters())
		}
		a = a.With("functionRef", ref)
	}
	if g.chance(30) {
		a = a.With("timeout", expr.String(duration(g.span(time.Minute))))
	}
	filter := expr.EmptyObject
	if g.chance(15) {
		filter = filter.With("dataInputPath", g.filterPath())
	}
	if g.chance(25) {
		filter = filter.With("dataResultsPath", g.filterPath())
	}
	if filter.Len() > 0 {
		a = a.With("actionDataFilter", filter)
	}
	return a
}

// answers are what a function gives, call by call.
func (g *gen) answers() []Answer {
	list := make([]Answer, 1+g.r.IntN(6))
	for i := range list {
		a := &list[i]
		a.Delay = g.delay()
		switch n := g.r.IntN(100); {
		case n < 72:
			a.HasResult, a.Result = true, g.object(2)
		case n < 76:
			a.HasResult, a.Result = true, pick(g, expr.Int(7), expr.String("text"), expr.Array(expr.Int(1), expr.Int(2)), expr.Null)
		case n < 79: // nothing
		case n < 85:
			a.Echo = true
		default:
			a.Error = pick(g, &Fault{Name: "E1"}, &Fault{Name: "E1", Code: "404"}, &Fault{Name: "E2", Status: "500"},
				&Fault{Name: "E2"}, &Fault{Name: "E3"}, &Fault{Name: "E4"}, &Fault{Name: "Error", Code: "404"}, &Fault{Name: "Error", Status: "500"},
				&Fault{Name: "E5", Title: "T1"}, &Fault{Name: "E5", Type: "T1"})
		}
	}
	return list
}

func (g *gen) delay() time.Duration {
	if g.chance(15) {
		return 0
	}
	return g.span(40 * time.Second)
}

// produced defines an event that the workflow makes.
func (b *builder) produced() string {
	name := fmt.Sprintf("P%d", len(b.events)+1)
	e := obj("name", expr.String(name), "type", expr.String("made."+b.id+"."+name), "kind", expr.String("produced"))
	if b.g.chance(50) {
		e = e.With("source", expr.String("makers"))
	}
	b.events = append(b.events, e)
	b.g.made = append(b.g.made, e)
	return name
}

func (b *builder) produceOn(move expr.Value, percent int) expr.Value {
	if !b.g.chance(percent) {
		return move
	}
	var list []expr.Value
	for range 1 + b.g.r.IntN(2) {
		list = append(list, b.payload(obj("eventRef", expr.String(b.produced()))))
	}
	return move.With("produceEvents", expr.Array(list...))
}

func (b *builder) payload(p expr.Value) expr.Value {
	g := b.g
	switch g.r.IntN(3) {
	case 0:
		p = p.With("data", g.filterPath())
	case 1:
		p = p.With("data", g.parameters())
	}
	if g.chance(25) {
		attributes := obj("about", expr.String("x{{ $.s1 }}"), "fixed", expr.String("y"))
		if g.chance(50) {
			attributes = expr.Array(attributes)
		}
		p = p.With("contextAttributes", attributes)
	}
	return p
}

// consumed defines an event that the workflow waits for, and mostly lets one or two
// come. Each place waits for a type of its own: who gets an event that several wait
// for at different times is a race.
func (b *builder) consumed() string {
	g := b.g
	starts := b.at == 0 && !g.c.ByHand && b.id == "main"
	g.events++
	name := fmt.Sprintf("V%d", len(b.events)+1)
	if n := len(g.made); n > 0 && !starts && g.chance(15) { // its own, which it must not take, or another's
		made := g.made[g.r.IntN(n)]
		if source := str(made, "source"); source != "" {
			b.events = append(b.events, obj("name", expr.String(name), "type", get(made, "type"), "source", expr.String(source)))
			return name
		}
	}
	kind := fmt.Sprintf("kind.%d", g.events)
	e := obj("name", expr.String(name), "type", expr.String(kind), "source", expr.String("world"))
	if g.chance(10) {
		e = e.Without("name").With("names", expr.Array(expr.String(name), expr.String(name+"too")))
	}
	if g.chance(30) {
		e = e.With("kind", expr.String("consumed"))
	}
	attribute, right := "", ""
	if g.chance(30) || starts && g.chance(40) {
		attribute, right = pick(g, "key", "dept"), "k1"
		c := obj("contextAttributeName", expr.String(attribute))
		switch n := g.r.IntN(4); {
		case n == 1:
			c = c.With("contextAttributeValue", expr.String("k1"))
		case n > 1 && !starts: // there is no data before the start
			c = c.With("contextAttributeValue", expr.String("{{ $.s1 }}"))
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
		if g.chance(90) {
			ev = ev.With("data", g.object(2))
		} else if g.chance(40) {
			ev = ev.With("data", pick(g, expr.Int(3), expr.Array(expr.Int(1)), expr.String("payload")))
		}
		g.c.Events = append(g.c.Events, TimedEvent{g.span(4 * time.Minute), ev})
	}
	return name
}

func (b *builder) eventFilter() expr.Value {
	g := b.g
	path := pick(g, "$", "$.data", "$.data.o1", "$.data.a1", "$.data.missing", "$.type", "$.key", "$.n1", "$.o1.n1",
		"$.data.a2[*]", "$.a2[?(@.ok == true)]", "$.data.o1.s1", "$.missing")
	return obj(pick(g, "dataOutputPath", "dataOutputPath", "dataInputPath", "inputPath"), braced(path))
}
