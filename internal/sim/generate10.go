package sim

import (
	"fmt"
	"strconv"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// themes are kinds of tasks that some cases of 1.0 have many of: what goes wrong only where several of a kind meet is rare
// otherwise.
var themes = [][]string{
	nil, nil, {"try", "try", "try", "raise"}, {"listen", "listen", "listen"}, {"fork", "listen", "try"}, {"for", "for", "switch", "switch"},
}

// generate10 makes a case of Open Workflow 1.0.
func generate10(g *gen) {
	theme := pick(g, themes...)
	for range 3 {
		g.theme = append(g.theme, theme...)
	}
	for i := range pick(g, 0, 0, 1, 1, 2) {
		g.subs = append(g.subs, fmt.Sprintf("sub%d", i+1))
	}
	g.c.ByHand = g.chance(90)
	// A definition refers only to those after it, so that none comes back to itself.
	g.c.Def = g.workflow10("main", g.subs, 2+g.r.IntN(5))
	for i, id := range g.subs {
		g.c.Subs = append(g.c.Subs, g.workflow10(id, g.subs[i+1:], 1+g.r.IntN(2)))
	}
	if g.c.ByHand {
		g.c.Input = g.data10()
		if g.chance(5) {
			g.c.Input = pick(g, expr.Int(3), expr.String("text"), expr.Array(expr.Int(1), expr.Int(2)), expr.Null)
		}
	}
}

// builder10 is a definition of 1.0 in the making.
type builder10 struct {
	caller
	subs     []string
	depth    int      // of lists
	made     int      // tasks
	vars     []string // of loops, iterators and catches around the task in the making
	errs     []string // those of them that are errors
	common   expr.Value
	inside   bool   // an extension or a function
	risky    string // inside of a try: a function that fails often
	taskName string // the name of the task in the making
	function bool   // a function is in the making
	defined,
	retries, timeouts, errors []string
}

// workflow10 makes a definition of about n tasks in the main list.
func (g *gen) workflow10(id string, subs []string, n int) expr.Value {
	b := &builder10{caller: caller{g: g, id: id}, subs: subs, common: expr.EmptyObject}
	for i := range 1 + g.r.IntN(3) {
		b.functions = append(b.functions, fmt.Sprintf("%s.f%d", id, i+1))
	}
	b.pool = b.functions
	def := obj("document", obj("dsl", expr.String("1.0.3"), "namespace", expr.String("sim"), "name", expr.String(id), "version", expr.String("1.0.0")))
	if g.chance(10) {
		def = def.With("evaluate", obj("mode", expr.String("loose")))
	}
	b.components()
	def = def.With("do", b.list(n))
	if g.chance(10) {
		def = def.With("input", b.incoming(false))
	}
	if g.chance(10) {
		def = def.With("output", obj("as", b.transformation()))
	}
	if g.chance(8) {
		def = def.With("timeout", obj("after", b.duration(5*time.Minute)))
	}
	if id == "main" && !g.c.ByHand {
		def = def.With("schedule", b.schedule())
	}
	b.extensions()
	if b.common.Len() > 0 {
		def = def.With("use", b.common)
	}
	for _, f := range b.functions {
		if g.mocks[f] == nil {
			g.mocks[f] = g.answers10(10)
		}
	}
	return def
}

// component adds a reusable one, and gives its name.
func (b *builder10) component(kind string, v expr.Value) string {
	all := get(b.common, kind)
	if !all.IsObject() {
		all = expr.EmptyObject
	}
	name := fmt.Sprintf("%s%d", kind[:1], all.Len()+1)
	b.common = b.common.With(kind, all.With(name, v))
	return name
}

func (b *builder10) components() {
	g := b.g
	if g.chance(20) {
		b.timeouts = append(b.timeouts, b.component("timeouts", obj("after", b.duration(2*time.Minute))))
	}
	if g.chance(20) {
		b.errors = append(b.errors, b.component("errors", b.error()))
	}
	if g.chance(20) {
		b.retries = append(b.retries, b.component("retries", b.retry()))
	}
	if g.chance(25) {
		b.inside, b.function = true, true
		body := b.body(pick(g, "set", "call", "do", "raise", "wait", "switch"))
		b.inside, b.function = false, false
		b.defined = append(b.defined, b.component("functions", body))
	}
}

func (b *builder10) extensions() {
	g := b.g
	if !g.chance(15) {
		return
	}
	b.inside, b.vars, b.errs = true, nil, nil
	var all []expr.Value
	for i := range 1 + g.r.IntN(2) {
		x := obj("extend", expr.String(pick(g, "all", "set", "call", "composite", "for", "try", "wait", "listen", "switch")))
		if g.chance(40) {
			x = x.With("when", expr.String(pick(g, `$task.name | endswith("1")`, "(.n1? // 0) > 3", "$task.set != null", "$task.definition.if == null")))
		}
		if g.chance(80) {
			before := b.few()
			if items := before.Items(); g.chance(25) {
				last := items[len(items)-1].Members()[0]
				items[len(items)-1] = obj(last.Key, last.Value.With("then", expr.String("exit")))
				before = expr.Array(items...)
			}
			x = x.With("before", before)
		}
		if g.chance(60) {
			x = x.With("after", b.few())
		}
		all = append(all, obj(fmt.Sprintf("x%d", i+1), x))
	}
	b.common = b.common.With("extensions", expr.Array(all...))
}

// few is a short list of simple tasks.
func (b *builder10) few() expr.Value {
	var items []expr.Value
	for range 1 + b.g.r.IntN(2) {
		name := b.name()
		items = append(items, obj(name, b.body(pick(b.g, "set", "set", "call", "emit", "wait"))))
	}
	return expr.Array(items...)
}

func (b *builder10) schedule() expr.Value {
	g := b.g
	on := b.strategy(false)
	s := obj("on", on)
	if g.chance(30) {
		s = s.With("read", expr.String(pick(g, "data", "envelope")))
	}
	return s
}

// data10 is an object of the vocabulary, with numbers that every library writes alike.
func (g *gen) data10() expr.Value {
	v := expr.EmptyObject
	for _, key := range vocabulary {
		if g.chance(80) {
			v = v.With(key, g.value10(key, 2))
		}
	}
	return v
}

func (g *gen) value10(key string, depth int) expr.Value {
	switch key {
	case "n1", "n2":
		return expr.Int(int64(g.r.IntN(9)))
	case "o1", "o2":
		if depth == 0 {
			return expr.EmptyObject
		}
		return obj("n1", g.value10("n1", depth-1), "s1", g.value("s1", 0), "o2", g.value10("o2", depth-1))
	case "a2":
		var items []expr.Value
		for range g.r.IntN(4) {
			items = append(items, obj("id", expr.Int(int64(g.r.IntN(3))), "n1", g.value10("n1", 0), "b1", g.value("b1", 0)))
		}
		return expr.Array(items...)
	}
	return g.value(key, 0)
}

// answers10 draws what the calls of a function give; some percent fail.
func (g *gen) answers10(failing int) []Answer {
	var list []Answer
	for range 1 + g.r.IntN(4) {
		a := Answer{Delay: g.span(40 * time.Second)}
		switch n := g.r.IntN(10); {
		case g.chance(failing):
			a.Error = &Fault{Type: pick(g, errorTypes...), Status: strconv.Itoa(pick(g, 400, 404, 500, 503)), Title: pick(g, "T1", "T2")}
		case n < 2:
			a.Echo = true
		case n < 9:
			a.Result, a.HasResult = g.data10(), true
		default:
			a.Result, a.HasResult = pick(g, expr.Int(1), expr.String("r"), expr.Null, expr.Array(expr.Int(1), expr.Int(2))), true
		}
		list = append(list, a)
	}
	return list
}

const standard10 = "https://open-workflow-specification.org/spec/1.0.0/errors/"

var errorTypes = []string{"https://example.com/e1", "https://example.com/e2", standard10 + "communication", standard10 + "communication", standard10 + "runtime"}

// filterTypes are types as catches write them.
var filterTypes = append([]string{
	"https://serverlessworkflow.io/spec/1.0.0/errors/communication", "https://serverlessworkflow.io/dsl/errors/types/timeout",
	"https://open-workflow-specification.org/dsl/errors/types/expression", standard10 + "timeout", standard10 + "expression", standard10 + "validation",
}, errorTypes...)

// expects makes events come that a filter may take.
func (b *builder10) expects(kind string) {
	g := b.g
	for range pick(g, 0, 1, 1, 2, 2, 3, 3) {
		e := obj("specversion", expr.String("1.0"), "id", expr.String(fmt.Sprintf("e%d", len(g.c.Events)+1)),
			"source", expr.String(pick(g, "world", "world", "world", "moon")), "type", expr.String(kind))
		if g.chance(80) {
			e = e.With("key", expr.String(pick(g, "a", "a", "b")))
		}
		if g.chance(90) {
			e = e.With("data", g.data10())
		}
		g.c.Events = append(g.c.Events, TimedEvent{g.span(2 * time.Minute), e})
	}
}

// strategy makes one of events; each place listens for types of its own, mostly.
func (b *builder10) strategy(until bool) expr.Value {
	g := b.g
	filters := func(n int) expr.Value {
		var list []expr.Value
		correlated := g.chance(25)
		for range n {
			list = append(list, b.filter(correlated))
		}
		return expr.Array(list...)
	}
	switch n := g.r.IntN(10); {
	case n < 4:
		return obj("one", b.filter(g.chance(30)))
	case n < 6:
		return obj("all", filters(1+g.r.IntN(2)))
	case n < 7 && until:
		return obj("any", expr.Array(), "until", expr.String("length >= 2"))
	case n < 9 && until:
		s := obj("any", filters(1+g.r.IntN(2)))
		if g.chance(50) {
			return s.With("until", expr.String(pick(g, "length >= 2", "length == 3", "(.[-1] | .b1?) == true", "${ length > 1 }")))
		}
		return s.With("until", obj("one", b.filter(false)))
	}
	return obj("any", filters(1+g.r.IntN(2)))
}

func (b *builder10) filter(correlated bool) expr.Value {
	g := b.g
	g.events++
	kind := fmt.Sprintf("kind.%d", g.events)
	if g.events > 1 && g.chance(10) {
		kind = fmt.Sprintf("kind.%d", 1+g.r.IntN(g.events))
	}
	b.expects(kind)
	with := obj("type", expr.String(kind))
	if g.chance(25) {
		with = with.With("source", expr.String(pick(g, "world", "w.*d", "${ . != \"moon\" }", "moon|world")))
	}
	if g.chance(25) {
		with = with.With("data", expr.String(pick(g, "${ (.n1? // 0) > 3 }", "${ .b1? }", "${ (.s1? // \"a\") == \"a\" }")))
	}
	f := obj("with", with)
	if correlated {
		c := obj("from", expr.String(pick(g, ".key", ".key", ".data.s1?", "${ .key }")))
		if g.chance(40) {
			c = c.With("expect", expr.String(pick(g, "a", "b", "${ .s1? // \"a\" }")))
		}
		f = f.With("correlate", obj("k", c))
	}
	return f
}

// duration draws a duration in one of its forms.
func (b *builder10) duration(most time.Duration) expr.Value {
	d := b.g.span(most)
	switch b.g.r.IntN(5) {
	case 0:
		return obj("seconds", expr.Int(int64(d/time.Second)), "milliseconds", expr.Int(int64(d%time.Second/time.Millisecond)))
	case 1:
		return expr.String(fmt.Sprintf("${ \"PT\" + \"%d.%03dS\" }", d/time.Second, d%time.Second/time.Millisecond))
	}
	return expr.String(duration(d))
}
