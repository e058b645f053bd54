package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// state makes a state of any type.
func (b *builder) state(name string) expr.Value {
	kinds := []string{"operation", "operation", "operation", "switch", "switch", "delay", "parallel", "parallel", "inject", "inject", "foreach", "foreach", "callback"}
	if b.at > 0 { // a first one would wait for its events to start instances
		kinds = append(kinds, "event", "event")
	}
	if len(b.subs) > 0 {
		kinds = append(kinds, "subflow", "subflow")
	}
	kind := pick(b.g, kinds...)
	if kind == "switch" {
		return b.common(b.switchState(name))
	}
	if kind == "event" {
		return b.common(b.eventState(false))
	}
	return b.common(b.exit(b.simple(name, kind), true))
}

// simple makes a state of the types that may also compensate, without its exit.
func (b *builder) simple(name, kind string) expr.Value {
	g := b.g
	st := obj("name", expr.String(name), "type", expr.String(kind))
	switch kind {
	case "operation":
		if g.chance(35) {
			var list []expr.Value
			for range 1 + g.r.IntN(4) {
				b.alone(func() { list = append(list, b.action()) })
			}
			st = st.With("actions", expr.Array(list...)).With("actionMode", expr.String(pick(g, "parallel", "parallel", "Parallel")))
			break
		}
		st = b.withActions(st, 3)
		if g.chance(20) {
			st = st.With("actionMode", expr.String("sequential"))
		}
	case "delay":
		st = st.With("timeDelay", expr.String(duration(g.span(2*time.Minute))))
	case "inject":
		st = st.With("data", g.template(g.object(2)))
	case "parallel":
		st = b.parallel(st)
	case "foreach":
		st = b.foreach(st)
	case "subflow":
		st = st.With("workflowId", expr.String(pick(g, b.subs...)))
		if g.chance(85) {
			st = st.With("waitForCompletion", expr.Bool(g.chance(75)))
		}
	case "callback":
		st = st.With("action", b.action()).With("eventRef", expr.String(b.consumed())).
			With("timeout", expr.String(duration(g.span(3*time.Minute))))
		if g.chance(40) {
			st = st.With("eventDataFilter", b.eventFilter())
		}
	}
	return st
}

// common adds what every state may have.
func (b *builder) common(st expr.Value) expr.Value {
	g := b.g
	name := str(st, "name")
	if g.chance(15) {
		st = st.With("id", expr.String("id-"+name))
	}
	if filter := b.stateFilter(); filter.Len() > 0 {
		st = st.With("stateDataFilter", filter)
	}
	if g.older {
		return b.olderErrors(st)
	}
	if g.chance(55) {
		st = st.With("onErrors", b.onErrors())
	}
	if g.chance(25) {
		st = st.With("compensatedBy", expr.String(b.compensating(name)))
	}
	return st
}

func (b *builder) stateFilter() expr.Value {
	filter := expr.EmptyObject
	if b.g.chance(14) {
		filter = filter.With("dataInputPath", b.g.filterPath())
	}
	if b.g.chance(14) {
		filter = filter.With("dataOutputPath", b.g.filterPath())
	}
	return filter
}

// compensating makes the state, or two, that undo another.
func (b *builder) compensating(name string) string {
	b.undo = true
	defer func() { b.undo = false }()
	g := b.g
	kinds := []string{"operation", "operation", "operation", "inject", "inject", "delay", "parallel", "foreach", "callback"}
	if len(b.subs) > 0 {
		kinds = append(kinds, "subflow")
	}
	one, two := "C"+name, "D"+name
	st := b.simple(one, pick(g, kinds...)).With("usedForCompensation", expr.Bool(true))
	if g.chance(20) {
		if filter := b.stateFilter(); filter.Len() > 0 {
			st = st.With("stateDataFilter", filter)
		}
	}
	if g.chance(30) {
		last := b.simple(two, pick(g, "operation", "inject")).With("usedForCompensation", expr.Bool(true))
		b.extra = append(b.extra, last)
		st = st.With("transition", b.produceOn(obj("nextState", expr.String(two)), 15))
		if g.chance(40) {
			st = st.With("onErrors", expr.Array(b.withRetry(obj("error", expr.String("*"), "transition", obj("nextState", expr.String(two))))))
		}
	}
	b.extra = append(b.extra, st)
	return one
}

// switchState decides by data or by events.
func (b *builder) switchState(name string) expr.Value {
	g := b.g
	st := obj("name", expr.String(name), "type", expr.String("switch"), "default", b.exit(expr.EmptyObject, true))
	var conditions []expr.Value
	if g.chance(70) {
		for range 1 + g.r.IntN(3) {
			conditions = append(conditions, b.exit(obj("condition", g.condition()), true))
		}
		return st.With("dataConditions", expr.Array(conditions...))
	}
	for range 1 + g.r.IntN(2) {
		c := b.exit(obj("eventRef", expr.String(b.consumed())), true)
		if g.chance(40) {
			c = c.With("eventDataFilter", b.eventFilter())
		}
		conditions = append(conditions, c)
	}
	return st.With("eventConditions", expr.Array(conditions...)).
		With("eventTimeout", expr.String(duration(g.span(3*time.Minute))))
}

func (b *builder) parallel(st expr.Value) expr.Value {
	g := b.g
	n := 1 + g.r.IntN(4)
	var branches []expr.Value
	for i := range n {
		br := obj("name", expr.String(fmt.Sprintf("B%d", i+1)))
		switch {
		case len(b.subs) > 0 && g.chance(30):
			br = br.With("workflowId", expr.String(pick(g, b.subs...)))
		case g.older && g.chance(75):
			b.alone(func() { br = br.With("states", b.inner(fmt.Sprintf("I%d.", i+1))) })
		default:
			b.alone(func() { br = b.withActions(br, 2) })
		}
		branches = append(branches, br)
	}
	st = st.With("branches", expr.Array(branches...))
	switch g.r.IntN(6) {
	case 0, 1:
		st = st.With("completionType", expr.String("and"))
	case 2, 3:
		st = st.With("completionType", expr.String("xor"))
	case 4:
		need := 1 + g.r.IntN(n)
		st = st.With("completionType", expr.String("n_of_m")).
			With("n", pick(g, expr.Int(int64(need)), expr.String(fmt.Sprint(need)), expr.String("{{ $.n1 }}")))
	}
	return st
}

func (b *builder) foreach(st expr.Value) expr.Value {
	g := b.g
	st = st.With("inputCollection", braced(pick(g, "$.a1", "$.a1", "$.a1", "$.a2", "$.a2", "$.a2", "$.a3", "$.a3", "$.a2[*]", "$.a2[?(@.ok == true)]", "$.a2[?(@.v > 4)]", "$.o1.a1", "$.missing"))).
		With("iterationParam", expr.String(pick(g, "item", "item", "n1", "o1")))
	if g.chance(75) {
		st = st.With("outputCollection", braced(pick(g, "$.r1", "$.r1", "$.r2", "$.a1", "$.o1.r1", "$.new.deep")))
	}
	if g.chance(50) {
		st = st.With("max", pick(g, expr.Int(1), expr.Int(2), expr.Int(0), expr.String("1"), expr.String("2")))
	}
	if len(b.subs) > 0 && g.chance(50) {
		return st.With("workflowId", expr.String(pick(g, b.subs...)))
	}
	if g.older && g.chance(75) {
		return st.With("states", b.inner("I"))
	}
	return b.withActions(st, 2)
}

// eventState waits for events; at the start they make the instance.
func (b *builder) eventState(start bool) expr.Value {
	g := b.g
	st := obj("name", expr.String(b.names[b.at]), "type", expr.String("event"))
	if g.chance(50) {
		st = st.With("exclusive", expr.Bool(g.chance(40)))
	}
	var entries []expr.Value
	for range 1 + g.r.IntN(2) {
		refs := []expr.Value{expr.String(b.consumed())}
		if g.chance(35) {
			refs = append(refs, expr.String(b.consumed()))
		}
		e := b.withActions(obj("eventRefs", expr.Array(refs...)), 2)
		if g.chance(30) {
			e = e.With("actionMode", expr.String("parallel"))
		}
		if g.chance(40) {
			e = e.With("eventDataFilter", b.eventFilter())
		}
		entries = append(entries, e)
	}
	st = b.exit(st.With("onEvents", expr.Array(entries...)), true)
	if g.chance(60) {
		st = st.With("timeout", expr.String(duration(g.span(5*time.Minute))))
	}
	if start {
		return b.common(st)
	}
	return st
}

// loop makes an operation and a switch that goes back to it until the data say enough.
func (b *builder) loop() {
	g := b.g
	name := b.names[b.at]
	again := name + "Again"
	f := fmt.Sprintf("%s.loop%d", b.id, b.at)
	b.functions = append(b.functions, f)
	action := obj("functionRef", obj("refName", expr.String(f)))
	body := obj("name", expr.String(name), "type", expr.String("operation"), "actions", expr.Array(action),
		"transition", obj("nextState", expr.String(again)))
	if g.chance(40) && !g.older {
		body = body.With("compensatedBy", expr.String(b.compensating(name)))
	}
	condition := fmt.Sprintf("$.%sacc[%d]", name, g.r.IntN(4))
	for i := range 5 {
		g.mocks[f] = append(g.mocks[f], Answer{
			HasResult: true, Delay: g.delay(),
			Result: obj(name+"acc", expr.Array(expr.Int(int64(i))), name+"more", expr.Bool(i < 3)),
		})
	}
	more := obj("nextState", expr.String(name))
	b.at++
	out := b.exit(expr.EmptyObject, false)
	sw := obj("name", expr.String(again), "type", expr.String("switch"))
	if g.chance(50) {
		sw = sw.With("dataConditions", expr.Array(merge(obj("condition", braced(condition)), out))).
			With("default", obj("transition", more))
	} else {
		sw = sw.With("dataConditions", expr.Array(obj("condition", braced("$."+name+"more"), "transition", more))).
			With("default", out)
	}
	b.at--
	b.states = append(b.states, body, sw)
	b.at++
}

// exit adds a transition to a later state, or an end.
func (b *builder) exit(st expr.Value, after bool) expr.Value {
	g := b.g
	first := b.at
	if after {
		first++
	}
	if first >= len(b.names) || g.chance(12) {
		return st.With("end", b.end())
	}
	to := b.names[first]
	if g.chance(25) {
		to = b.names[first+g.r.IntN(len(b.names)-first)]
	}
	move := obj("nextState", expr.String(to))
	if g.chance(4) {
		move = move.With("expression", g.condition())
	} else if g.chance(15) && !g.older {
		move = move.With("compensateBefore", expr.Bool(true))
	}
	return st.With("transition", b.produceOn(move, 20))
}

func (b *builder) end() expr.Value {
	g := b.g
	end := obj("kind", expr.String(pick(g, "default", "default", "default", "terminate", "terminate", "event")))
	if str(end, "kind") == "event" {
		end = b.produceOn(end, 100)
	}
	if g.chance(25) && !g.older {
		end = end.With("compensateBefore", expr.Bool(true))
	}
	return end
}

func (b *builder) onErrors() expr.Value {
	g := b.g
	names := []string{"E1", "E2", "E3", "T1", "Timeout", "DataError"}
	g.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if g.chance(45) {
		names = slices.Insert(names, g.r.IntN(2), "*")
	}
	var list []expr.Value
	for _, name := range names[:1+g.r.IntN(3)] {
		d := obj("error", expr.String(name))
		if (name == "E1" || name == "E2") && g.chance(40) {
			d = d.With("code", expr.String(pick(g, "404", "500")))
		}
		list = append(list, b.withRetry(b.exit(d, true)))
	}
	return expr.Array(list...)
}

func (b *builder) withRetry(d expr.Value) expr.Value {
	g := b.g
	if g.chance(45) {
		return d
	}
	name := fmt.Sprintf("R%d", len(b.retries)+1)
	r := obj("name", expr.String(name))
	if g.chance(80) {
		r = r.With("delay", expr.String(duration(g.span(time.Minute))))
	}
	if g.chance(50) {
		r = r.With("multiplier", expr.String(duration(g.span(time.Minute))))
	}
	if g.chance(80) {
		r = r.With("maxAttempts", pick(g, expr.Int(0), expr.Int(1), expr.Int(2), expr.Int(3), expr.String("2")))
	}
	if g.chance(10) {
		r = r.With("jitter", pick(g, expr.Int(0), expr.String("PT0S")))
	}
	b.retries = append(b.retries, r)
	return d.With("retryRef", expr.String(name))
}
