package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// name names the next task, in a case like no other.
func (b *builder10) name() string {
	b.made++
	b.taskName = fmt.Sprintf("t%d", b.made)
	if b.id != "main" {
		b.taskName = b.id + b.taskName
	}
	return b.taskName
}

// list makes a list of n tasks, with directives among them. It always comes to an end.
func (b *builder10) list(n int) expr.Value {
	g := b.g
	b.depth++
	defer func() { b.depth-- }()
	var names []string
	var tasks []expr.Value
	for range n {
		if g.chance(6) { // the way back is open a few times
			count, check := b.name(), b.name()
			names = append(names, count, check)
			tasks = append(tasks, obj("set", expr.String("${ (if type == \"object\" then . else {} end) | . + {c1: ((.c1? // 0) + 1)} }")),
				obj("switch", expr.Array(obj("again", obj("when", expr.String(fmt.Sprintf("(.c1? // 9) < %d", 2+g.r.IntN(3))), "then", expr.String(count))))))
			continue
		}
		names = append(names, b.name())
		tasks = append(tasks, b.task())
	}
	items := make([]expr.Value, len(tasks))
	for i, task := range tasks {
		later := names[i+1:]
		if cases, ok := task.Get("switch"); ok && get(cases.Items()[0], "again").IsNull() {
			task = task.With("switch", b.direct(cases, later))
		}
		if g.chance(15) && get(task, "then").IsNull() {
			task = task.With("then", b.directive(later))
		}
		if catch, ok := task.Get("catch"); ok && g.chance(20) {
			task = task.With("catch", catch.With("then", b.directive(later)))
		}
		items[i] = obj(names[i], task)
	}
	return expr.Array(items...)
}

// directive draws one; named tasks lie ahead.
func (b *builder10) directive(later []string) expr.Value {
	if len(later) > 0 && b.g.chance(60) {
		return expr.String(later[b.g.r.IntN(len(later))])
	}
	return expr.String(pick(b.g, "continue", "continue", "exit", "exit", "end"))
}

// direct gives the cases of a switch their directives.
func (b *builder10) direct(cases expr.Value, later []string) expr.Value {
	items := slices.Clone(cases.Items())
	for i, c := range items {
		m := c.Members()[0]
		items[i] = obj(m.Key, m.Value.With("then", b.directive(later)))
	}
	return expr.Array(items...)
}

// task makes a task with what is around it.
func (b *builder10) task() expr.Value {
	g := b.g
	kinds := []string{"set", "set", "set", "set", "set", "call", "call", "call", "call", "switch", "raise", "emit", "listen", "wait", "wait"}
	if b.depth < 4 && b.made < 25 {
		kinds = append(kinds, "do", "for", "for", "fork", "fork", "try", "try", "try", "try")
		kinds = append(kinds, g.theme...)
	}
	if len(b.subs) > 0 && b.depth < 3 {
		kinds = append(kinds, "run", "run")
	}
	kind := pick(g, kinds...)
	if kind == "raise" && b.risky == "" && g.chance(60) {
		kind = "set"
	}
	if b.risky != "" && g.chance(35) {
		kind = pick(g, "call", "call", "call", "raise")
	}
	t := b.body(kind)
	if g.chance(12) {
		t = t.With("if", expr.String(b.condition(false)))
	}
	if g.chance(12) {
		t = t.With("input", b.incoming(true))
	}
	if kind != "emit" && kind != "listen" && g.chance(20) {
		t = t.With("output", obj("as", b.transformation()))
		if g.chance(10) {
			t = t.With("output", get(t, "output").With("schema", b.schema()))
		}
	}
	if kind != "emit" && g.chance(15) {
		t = t.With("export", obj("as", expr.String(pick(g, "$context + {k1: .}", "{ k2: . }", "$context + {k3: ($input | .n1?), k4: ($output == .)}",
			"(if ($context | type) == \"object\" then $context else {} end) + {n: (($context.n? // 0) + 1)}"))))
		if g.chance(20) {
			t = t.With("export", get(t, "export").With("schema", b.schema()))
		}
	}
	if kind != "switch" && g.chance(10) || kind == "listen" && g.chance(60) {
		limit := obj("after", b.duration(3*time.Minute))
		t = t.With("timeout", limit)
		if len(b.timeouts) > 0 && g.chance(50) {
			t = t.With("timeout", expr.String(pick(g, b.timeouts...)))
		}
	}
	return t
}

// body makes what a task is.
func (b *builder10) body(kind string) expr.Value {
	g := b.g
	switch kind {
	case "call":
		return b.call()
	case "switch":
		n := 1 + g.r.IntN(3)
		var cases []expr.Value
		for i := range n {
			c := obj("when", expr.String(b.condition(true)), "then", expr.String("continue"))
			if i == n-1 && g.chance(40) {
				c = c.Without("when")
			}
			cases = append(cases, obj(fmt.Sprintf("c%d", i+1), c))
		}
		g.r.Shuffle(n, func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		return obj("switch", expr.Array(cases...))
	case "raise":
		if len(b.errors) > 0 && g.chance(50) {
			return obj("raise", obj("error", expr.String(pick(g, b.errors...))))
		}
		return obj("raise", obj("error", b.error()))
	case "emit":
		return b.emit()
	case "listen":
		return b.listen()
	case "wait":
		return obj("wait", b.duration(time.Minute))
	case "do":
		return obj("do", b.list(1+g.r.IntN(3)))
	case "for":
		return b.loop()
	case "fork":
		return b.fork()
	case "try":
		return b.try()
	case "run":
		w := obj("namespace", expr.String("sim"), "name", expr.String(pick(g, b.subs...)), "version", expr.String(pick(g, "1.0.0", "latest")))
		if g.chance(80) {
			w = w.With("input", b.template())
		}
		run := obj("workflow", w)
		if g.chance(25) {
			run = run.With("await", expr.Bool(g.chance(20)))
		}
		return obj("run", run)
	}
	if g.chance(50) {
		return obj("set", expr.String("${ "+b.merged()+" }"))
	}
	return obj("set", b.template())
}

func (b *builder10) call() expr.Value {
	g := b.g
	if len(b.defined) > 0 && !b.inside && g.chance(30) {
		return obj("call", expr.String(pick(g, b.defined...)), "with", b.template())
	}
	if name := b.taskName; name != "" && !b.function && g.chance(12) { // a built-in call has the name of its task
		g.mocks[name] = g.answers10(10)
		return obj("call", expr.String("http"), "with", b.request())
	}
	function := pick(g, b.pool...)
	if b.risky != "" && g.chance(70) {
		function = b.risky
	}
	t := obj("call", expr.String(function))
	if g.chance(80) {
		t = t.With("with", b.template())
	}
	return t
}

// request makes the arguments of a call over HTTP.
func (b *builder10) request() expr.Value {
	g := b.g
	address := expr.String("https://example.com/" + pick(g, "{n1}", "{s1}/x", "a?q={x1}&r={s2}", "{missing}", "fixed", "{n1}/{o1}"))
	if g.chance(20) {
		address = expr.String("${ \"https://example.com/{n1}/\" + (.s1? // \"a\" | tostring) }")
	}
	with := obj("method", expr.String(pick(g, "get", "POST")), "endpoint", address)
	if g.chance(40) {
		with = with.With("endpoint", obj("uri", address))
	}
	if g.chance(30) {
		with = with.With("body", b.template())
	}
	if g.chance(20) {
		with = with.With("query", obj("q", expr.String("${ .s1? // \"q\" | tostring }")))
	}
	return with
}

// emit hides what the runtime makes up: nobody knows the id and the time of an event.
func (b *builder10) emit() expr.Value {
	g := b.g
	g.events++
	kind := fmt.Sprintf("kind.%d", 1+g.r.IntN(g.events))
	with := obj("type", expr.String(kind), "data", b.template())
	if g.chance(50) {
		with = with.With("source", expr.String("world"))
	}
	if g.chance(50) {
		with = with.With("key", expr.String(pick(g, "a", "b", "${ .s1? // \"a\" }")))
	}
	return obj("emit", obj("event", obj("with", with)), "output", obj("as", expr.String(pick(g, "$input", "{ type, data }", "$input"))))
}

func (b *builder10) listen() expr.Value {
	g := b.g
	l := obj("to", b.strategy(true))
	envelope := g.chance(20)
	if envelope {
		l = l.With("read", expr.String("envelope"))
	} else if g.chance(15) {
		l = l.With("read", expr.String("raw"))
	}
	t := obj("listen", l)
	if g.chance(35) {
		each := expr.EmptyObject
		item, at := "item", "index"
		if g.chance(40) {
			item, at = "event", "i"
			each = obj("item", expr.String(item), "at", expr.String(at))
		}
		if g.chance(80) {
			each = each.With("do", b.within([]string{item, at}, func() expr.Value { return b.list(1 + g.r.IntN(2)) }))
		}
		output := expr.EmptyObject
		if g.chance(60) {
			output = output.With("as", expr.String(fmt.Sprintf("{ o: ., i: $%s }", at)))
		}
		if g.chance(15) {
			output = output.With("schema", b.schema())
		}
		if output.Len() > 0 {
			each = each.With("output", output)
		}
		if g.chance(30) {
			each = each.With("export", obj("as", expr.String("{ last: . }")))
		}
		t = t.With("foreach", each)
	}
	as := "{ n1: length, a1: . }"
	if envelope { // emitted events have times and ids of their own
		as = "{ n1: length, s1: (map(.type? // \"none\") | join(\" \")) }"
	}
	return t.With("output", obj("as", expr.String(as)))
}

// within makes something that sees more variables.
func (b *builder10) within(vars []string, make func() expr.Value) expr.Value {
	before := b.vars
	b.vars = append(slices.Clone(b.vars), vars...)
	defer func() { b.vars = before }()
	return make()
}

func (b *builder10) loop() expr.Value {
	g := b.g
	in := pick(g, ".a1? // [1]", "[1, 2, 3]", "${ .a2? // [] }", "[(.n1? // 1), 2]", ".a3? // []", ".n1?", "[$context]")
	head := obj("in", expr.String(in))
	if g.chance(10) {
		head = obj("in", expr.Array(obj("n1", expr.Int(1)), obj("n1", expr.String("${ .n1? }"))))
	}
	item, at := "item", "index"
	if g.chance(30) {
		item, at = "x", "y"
		head = head.With("each", expr.String(item)).With("at", expr.String(at))
	}
	t := obj("for", head, "do", b.within([]string{item, at}, func() expr.Value { return b.list(1 + g.r.IntN(2)) }))
	if g.chance(30) {
		t = t.With("while", expr.String(pick(g, "$"+at+" < 2", "(.c1? // 0) < 3", "${ $"+item+" != null }", "(.n1? // 0) < 7")))
	}
	return t
}

func (b *builder10) fork() expr.Value {
	g := b.g
	var branches []expr.Value
	for range 2 + g.r.IntN(2) {
		b.alone(func() {
			name := b.name()
			t := b.task()
			if g.chance(60) {
				t = obj("do", b.list(1+g.r.IntN(2)))
			}
			if g.chance(8) {
				t = t.With("then", b.directive(nil))
			}
			branches = append(branches, obj(name, t))
		})
	}
	f := obj("branches", expr.Array(branches...))
	if g.chance(40) {
		f = f.With("compete", expr.Bool(true))
	}
	return obj("fork", f)
}
