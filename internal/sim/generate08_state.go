package sim

import (
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// state makes a state of any type.
func (b *builder08) state(name string) expr.Value {
	kinds := []string{"operation", "operation", "operation", "operation", "switch", "switch", "parallel", "parallel", "inject", "inject", "foreach", "foreach", "callback"}
	switch {
	case b.form == 6:
		kinds = append(kinds, "delay")
	case b.form < 9:
		kinds = append(kinds, "sleep")
	}
	if b.at > 0 { // a first one would wait for its events to start instances
		kinds = append(kinds, "event", "event")
	}
	if b.form == 6 && len(b.subs) > 0 {
		kinds = append(kinds, "subflow", "subflow", "subflow")
	}
	switch kind := pick(b.g, kinds...); kind {
	case "switch":
		return b.common(b.switchState(name))
	case "event":
		return b.common(b.eventState())
	default:
		return b.common(b.exit(b.simple(name, kind), true))
	}
}

// simple makes a state of the types that may also compensate, without its exit.
func (b *builder08) simple(name, kind string) expr.Value {
	g := b.g
	st := obj("name", expr.String(name), "type", expr.String(kind))
	switch kind {
	case "operation":
		if g.chance(25) {
			var list []expr.Value
			for range 1 + g.r.IntN(3) {
				b.alone(func() { list = append(list, b.action()) })
			}
			st = st.With("actions", expr.Array(list...)).With("actionMode", expr.String("parallel"))
			break
		}
		st = b.withActions(st, 3)
		if g.chance(20) {
			st = st.With("actionMode", expr.String("sequential"))
		}
	case "delay":
		st = st.With("timeDelay", b.duration(2*time.Minute))
	case "sleep":
		st = st.With("duration", b.duration(2*time.Minute))
	case "inject":
		st = st.With("data", b.injected())
	case "parallel":
		st = b.parallel(st)
	case "foreach":
		st = b.foreach(st)
	case "subflow":
		st = b.subflow(st)
	case "callback":
		st = st.With("action", b.action()).With("eventRef", expr.String(b.consumed()))
		if g.chance(40) {
			st = st.With("eventDataFilter", b.eventFilter())
		}
		st = b.eventTimeout(st, "timeout", 80)
	}
	return b.stateTimeouts(st, kind)
}

// eventTimeout bounds a wait for events.
func (b *builder08) eventTimeout(st expr.Value, key string, percent int) expr.Value {
	if !b.g.chance(percent) {
		return st
	}
	limit := b.duration(3 * time.Minute)
	if key == "timeout" { // the front-end weighs it against the time of the state; and a start has nothing to evaluate yet
		limit = expr.String(duration(b.g.span(3 * time.Minute)))
	}
	if b.form == 6 {
		return st.With(key, limit)
	}
	return b.timeouts(st, "eventTimeout", limit)
}

// timeouts adds a time limit to a state or a branch.
func (b *builder08) timeouts(st expr.Value, kind string, limit expr.Value) expr.Value {
	all := get(st, "timeouts")
	if !all.IsObject() {
		all = expr.EmptyObject
	}
	return st.With("timeouts", all.With(kind, limit))
}

// stateTimeouts adds the time limits that a state of a kind may have, from 0.7 on.
func (b *builder08) stateTimeouts(st expr.Value, kind string) expr.Value {
	g := b.g
	if b.form == 6 || kind == "inject" {
		return st
	}
	if g.chance(10) {
		limit := b.duration(2 * time.Minute)
		if kind == "event" || kind == "callback" {
			limit = expr.String(duration(g.span(2 * time.Minute)))
		}
		if b.form < 9 && g.chance(40) {
			limit = obj("total", limit)
			if g.chance(60) {
				limit = limit.With("single", b.duration(time.Minute))
			}
		}
		st = b.timeouts(st, "stateExecTimeout", limit)
	}
	switch kind {
	case "operation", "foreach", "callback", "event":
		if g.chance(20) {
			st = b.timeouts(st, "actionExecTimeout", b.duration(time.Minute))
		}
	case "parallel":
		if g.chance(12) {
			st = b.timeouts(st, "branchExecTimeout", b.duration(90*time.Second))
		}
	}
	return st
}

// common adds what every state may have.
func (b *builder08) common(st expr.Value) expr.Value {
	g := b.g
	name := str(st, "name")
	if b.form < 9 && g.chance(10) {
		st = st.With("id", expr.String("id-"+name))
	}
	if filter := b.stateFilter(); filter.Len() > 0 {
		st = st.With("stateDataFilter", filter)
	}
	if g.chance(55) && str(st, "type") != "inject" {
		st = st.With("onErrors", b.onErrors(st))
	}
	if g.chance(22) {
		st = st.With("compensatedBy", expr.String(b.compensating(name)))
	}
	return st
}

func (b *builder08) stateFilter() expr.Value {
	filter := expr.EmptyObject
	if b.g.chance(12) {
		filter = filter.With("input", b.filter())
	}
	if b.g.chance(14) {
		filter = filter.With("output", b.filter())
	}
	return filter
}

// compensating makes the state, or two, that undo another.
func (b *builder08) compensating(name string) string {
	b.undo = true
	defer func() { b.undo = false }()
	g := b.g
	kinds := []string{"operation", "operation", "operation", "inject", "inject", "parallel", "foreach", "callback"}
	if b.form == 6 && len(b.subs) > 0 {
		kinds = append(kinds, "subflow")
	}
	one, two := b.named("C"+name), b.named("D"+name)
	st := b.simple(one, pick(g, kinds...)).With("usedForCompensation", expr.Bool(true))
	if g.chance(20) {
		if filter := b.stateFilter(); filter.Len() > 0 {
			st = st.With("stateDataFilter", filter)
		}
	}
	if g.chance(30) {
		last := b.simple(two, pick(g, "operation", "inject")).With("usedForCompensation", expr.Bool(true))
		b.extra = append(b.extra, last)
		st = st.With("transition", b.move(two, false))
		if g.chance(40) && str(st, "type") != "inject" {
			st = st.With("onErrors", b.anyError(expr.String(two)))
		}
	}
	b.extra = append(b.extra, st)
	return one
}

// switchState decides by data or by events.
func (b *builder08) switchState(name string) expr.Value {
	g := b.g
	st := obj("name", expr.String(name), "type", expr.String("switch"))
	key := "defaultCondition"
	if b.form == 6 {
		key = "default"
	}
	events := g.chance(30)
	if g.chance(95) || events {
		st = st.With(key, b.exit(expr.EmptyObject, true))
	}
	var conditions []expr.Value
	n := 1 + g.r.IntN(3)
	if events {
		n = 1 + g.r.IntN(2)
	}
	for i := range n {
		c := obj("name", expr.String(fmt.Sprintf("c%d", i+1)))
		if !events {
			conditions = append(conditions, b.exit(c.With("condition", b.condition()), true))
			continue
		}
		c = b.exit(c.With("eventRef", expr.String(b.consumed())), true)
		if g.chance(40) {
			c = c.With("eventDataFilter", b.eventFilter())
		}
		conditions = append(conditions, c)
	}
	if !events {
		return b.stateTimeouts(st.With("dataConditions", expr.Array(conditions...)), "switch")
	}
	return b.stateTimeouts(b.eventTimeout(st.With("eventConditions", expr.Array(conditions...)), "eventTimeout", 90), "switch")
}

func (b *builder08) parallel(st expr.Value) expr.Value {
	g := b.g
	n := 1 + g.r.IntN(4)
	var branches []expr.Value
	for i := range n {
		br := obj("name", expr.String(fmt.Sprintf("b%d", i+1)))
		if b.form == 6 && len(b.subs) > 0 && g.chance(30) {
			br = br.With("workflowId", expr.String(pick(g, b.subs...)))
		} else {
			b.alone(func() { br = b.withActions(br, 2) })
			if b.form > 6 && g.chance(12) {
				br = b.timeouts(br, pick(g, "branchExecTimeout", "actionExecTimeout"), b.duration(time.Minute))
			}
		}
		branches = append(branches, br)
	}
	st = st.With("branches", expr.Array(branches...))
	need := 1 + g.r.IntN(n)
	several := pick(g, expr.Int(int64(need)), expr.Int(int64(need)), expr.String(fmt.Sprint(need)))
	if !b.paths && g.chance(25) {
		several = expr.String(fmt.Sprintf("${ (.missing? // %d) }", need))
	}
	switch {
	case b.form == 6 && g.chance(70):
		kind := pick(g, "and", "xor", "xor", "n_of_m")
		st = st.With("completionType", expr.String(kind))
		if kind == "n_of_m" {
			st = st.With("n", several)
		}
	case b.form > 6 && g.chance(65):
		kind := pick(g, "allOf", "atLeast", "atLeast")
		st = st.With("completionType", expr.String(kind))
		if kind == "atLeast" {
			st = st.With("numCompleted", several)
		}
	}
	return st
}

func (b *builder08) foreach(st expr.Value) expr.Value {
	g := b.g
	collection := pick(g, ".a1? // [2, 5]", ".a2? // []", ".a3?", "[1, 2, 3]", "[1, 2, 3, 4]", "[.n1?, 2, 2]", ".a1? // []", "[range(5)]")
	if g.chance(10) {
		collection = pick(g, ".missing?", ".n1?", "empty")
	}
	target := pick(g, ".r1", ".r1", ".r2", ".a1", ".o1.r1", ".new.deep")
	if b.paths {
		collection, target = pick(g, "$.a1", "$.a2", "$.a2[?(@.b1 == true)]"), "$.r1"
	}
	st = st.With("inputCollection", b.always(collection))
	b.items = pick(g, "item", "item", "n1", "one")
	if b.items != "item" || b.form < 8 || g.chance(50) {
		st = st.With("iterationParam", expr.String(b.items))
	}
	if g.chance(75) {
		st = st.With("outputCollection", b.always(target))
	}
	switch {
	case b.form == 6 && g.chance(50):
		st = st.With("max", pick(g, expr.Int(1), expr.Int(2), expr.Int(0), expr.String("2")))
	case b.form > 6 && g.chance(30):
		st = st.With("mode", expr.String("sequential"))
	case b.form > 6:
		if g.chance(50) {
			st = st.With("mode", expr.String("parallel"))
		}
		if g.chance(50) {
			st = st.With("batchSize", pick(g, expr.Int(2), expr.Int(3), expr.String("2")))
		}
	}
	if b.form == 6 && len(b.subs) > 0 && g.chance(35) {
		return st.With("workflowId", expr.String(pick(g, b.subs...)))
	}
	b.inside = true
	defer func() { b.inside = false }()
	b.alone(func() { st = b.withActions(st, 2) })
	return st
}

// subflow runs another workflow, perhaps again and again (0.6).
func (b *builder08) subflow(st expr.Value) expr.Value {
	g := b.g
	st = st.With("workflowId", expr.String(pick(g, b.subs...)))
	if g.chance(40) {
		st = st.With("waitForCompletion", expr.Bool(g.chance(60)))
	}
	if get(st, "waitForCompletion").Bool() || get(st, "waitForCompletion").IsNull() {
		if g.chance(40) {
			r := obj("max", expr.Int(int64(1+g.r.IntN(3))))
			if g.chance(70) {
				r = r.With("expression", b.condition())
			}
			if g.chance(40) {
				r = r.With("checkBefore", expr.Bool(g.chance(30)))
			}
			if g.chance(40) {
				r = r.With("continueOnError", expr.Bool(g.chance(80)))
			}
			if g.chance(20) {
				r = r.With("stopOnEvents", expr.Array(expr.String(b.consumed())))
			}
			st = st.With("repeat", r)
		}
	}
	return st
}

// eventState waits for events; at the start they make the instance.
func (b *builder08) eventState() expr.Value {
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
		e := obj("eventRefs", expr.Array(refs...))
		if g.chance(85) {
			e = b.withActions(e, 2)
			if g.chance(30) {
				e = e.With("actionMode", expr.String("parallel"))
			}
		}
		if g.chance(40) {
			e = e.With("eventDataFilter", b.eventFilter())
		}
		entries = append(entries, e)
	}
	st = b.exit(st.With("onEvents", expr.Array(entries...)), true)
	return b.stateTimeouts(b.eventTimeout(st, "timeout", 60), "event")
}

// loop makes an operation and a switch that goes back to it until the data say enough.
func (b *builder08) loop() {
	g := b.g
	name := b.names[b.at]
	again, key := b.named(name+".Again"), fmt.Sprintf("more%d", b.at)
	var answers []Answer
	for i := range 4 {
		answers = append(answers, Answer{
			HasResult: true, Delay: g.span(40 * time.Second),
			Result: obj(key, expr.Bool(i < 2), "acc", expr.Array(expr.Int(int64(i)))),
		})
	}
	body := obj("name", expr.String(name), "type", expr.String("operation"),
		"actions", expr.Array(b.actionNamed(obj("functionRef", expr.String(b.fresh("loop", answers))))), "transition", expr.String(again))
	if g.chance(40) {
		body = body.With("compensatedBy", expr.String(b.compensating(name)))
	}
	b.at++
	out := b.exit(expr.EmptyObject, false)
	b.at--
	more := "." + key + "? == true"
	if b.paths {
		more = "$." + key
	}
	otherwise := "defaultCondition"
	if b.form == 6 {
		otherwise = "default"
	}
	sw := obj("name", expr.String(again), "type", expr.String("switch"),
		"dataConditions", expr.Array(obj("name", expr.String("more"), "condition", b.braces(more), "transition", expr.String(name))), otherwise, out)
	b.states = append(b.states, body, sw)
	b.at++
}

// exit adds a transition to a later state, or an end.
func (b *builder08) exit(st expr.Value, after bool) expr.Value {
	g := b.g
	first := b.at
	if after {
		first++
	}
	if first >= len(b.names) || g.chance(10) {
		return st.With("end", b.end())
	}
	to := b.names[first]
	if g.chance(25) {
		to = b.names[first+g.r.IntN(len(b.names)-first)]
	}
	return st.With("transition", b.move(to, true))
}

// move is a transition, as text where that is enough.
func (b *builder08) move(to string, compensates bool) expr.Value {
	g := b.g
	o := b.produceOn(expr.EmptyObject, 15)
	if compensates && g.chance(14) {
		o = o.With("compensate", expr.Bool(true))
	}
	if o.Len() == 0 && g.chance(85) {
		return expr.String(to)
	}
	return o.With("nextState", expr.String(to))
}

func (b *builder08) end() expr.Value {
	g := b.g
	o := b.produceOn(expr.EmptyObject, 15)
	if g.chance(25) && !b.undo {
		o = o.With("compensate", expr.Bool(true))
	}
	switch {
	case b.form > 6 && len(b.subs) > 0 && g.chance(10):
		o = o.With("continueAs", b.continueAs())
	case g.chance(25) || b.keeps && g.chance(40):
		o = o.With("terminate", expr.Bool(g.chance(85)))
	}
	if o.Len() == 0 && g.chance(85) {
		return expr.Bool(true)
	}
	return o
}

func (b *builder08) continueAs() expr.Value {
	g := b.g
	id := pick(g, b.subs...)
	if !b.twice[id] && g.chance(40) {
		return expr.String(id)
	}
	o := obj("workflowId", expr.String(id))
	if b.twice[id] || g.chance(20) {
		o = o.With("version", expr.String("1.0.0"))
	}
	switch g.r.IntN(4) {
	case 0:
		data := "{n1: 4, o1: (.o1? // {}), a1: (.a1? // [])}"
		if b.paths {
			data = "$"
		}
		o = o.With("data", b.braces(data))
	case 1:
		o = o.With("data", obj("n1", expr.Int(2), "s1", expr.String("literal")))
	}
	return o
}
