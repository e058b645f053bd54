package open

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
)

// waits is how long a state waits for events: the timeout of a state ends that as well, without an error.
func (w *writer) waits(s *states.State, acts bool) *states.Duration {
	switch {
	case s.Timeout == nil:
		return s.Wait
	case acts:
		w.lose(s.Timeout.Pos, "the timeout of the state for what it does besides waiting", "in 1.0 a timeout that ends a wait is that of the wait alone", "give the actions a timeout")
	}
	if s.Wait == nil {
		return s.Timeout
	}
	epoch := time.Unix(0, 0).UTC()
	if s.Wait.Expr != nil || s.Timeout.Expr != nil || s.Wait.Value.AddTo(epoch).Before(s.Timeout.Value.AddTo(epoch)) {
		return s.Wait
	}
	return s.Timeout
}

// eventState waits for events in the middle of a workflow, then acts.
func (w *writer) eventState(sc *scope, s *states.State) []*task {
	known := w.keys.at[s]
	acts := slices.ContainsFunc(s.Entries, func(e *states.Entry) bool { return len(e.Actions.List) > 0 })
	then := ""
	if acts {
		then = "exit"
	}
	in := w.lent(s)
	if !s.Exclusive || len(s.Entries) == 1 || !acts {
		uses := usesOf(s.Entries, !s.Exclusive)
		out := func(into string) string { return w.received(uses, into, !s.Exclusive) }
		if s.Exclusive && len(uses) > 1 {
			out = func(into string) string { return w.eitherOf(uses, into) }
		}
		tasks := []*task{w.waiting(w.listen(sc.name("wait"), uses, !s.Exclusive, known, view{}, out), w.waits(s, acts), view{}, then)}
		for _, e := range s.Entries {
			tasks = append(tasks, w.actions(sc, e.Actions, in, plainResult{w})...)
		}
		return tasks
	}
	uses := usesOf(s.Entries, false)
	listener := w.listen(sc.name("wait"), uses, false, known, view{}, func(into string) string { return w.whichEntry(s.Entries, into) })
	return append([]*task{w.waiting(listener, w.waits(s, acts), view{}, then)}, w.entries(sc, s, in)...)
}

// usesOf are the events of entries. An event that stands twice is waited for once, unless its filters differ and all
// are needed.
func usesOf(entries []*states.Entry, all bool) []*states.EventUse {
	var out []*states.EventUse
	for _, e := range entries {
		for _, u := range e.Events {
			if !slices.ContainsFunc(out, func(o *states.EventUse) bool {
				return o.Event == u.Event && (!all || source(o.Filter) == source(u.Filter))
			}) {
				out = append(out, u)
			}
		}
	}
	return out
}

func source(p *states.Path) string {
	if p == nil {
		return ""
	}
	return p.Src
}

// eitherOf is the data after one of several events came.
func (w *writer) eitherOf(uses []*states.EventUse, into string) string {
	var exact []string
	for i, u := range uses {
		e, _ := w.payload(u)
		word := "elif"
		if i == 0 {
			word = "if"
		}
		exact = append(exact, fmt.Sprintf("%s %s then %s", word, isEvent(u.Event), e))
	}
	all := ".[0] | " + strings.Join(exact, " ") + " else empty end"
	if same := plainPayload(uses); same && !w.exact {
		w.assume(uses[0].Pos, "what the events carry is an object, and no list of it meets a list in the data")
		if into == "{}" {
			return ".[0].data"
		}
		w.assumeObject()
		return into + " * .[0].data"
	}
	return w.fold(into, all)
}

// plainPayload reports whether all events are merged as they are.
func plainPayload(uses []*states.EventUse) bool {
	return !slices.ContainsFunc(uses, func(u *states.EventUse) bool {
		return u.Filter != nil && !u.Filter.Shape.Root || len(u.To) > 0 || u.Drop || u.Event.Envelope
	})
}

// whichEntry is {entry, data}: what came, and the data with it.
func (w *writer) whichEntry(entries []*states.Entry, into string) string {
	var parts []string
	for i, e := range entries {
		for _, u := range e.Events {
			word := "elif"
			if len(parts) == 0 {
				word = "if"
			}
			exact, plain := w.payload(u)
			data := fmt.Sprintf("reduce (%s | objects) as $new (%s; merge($new))", exact, into)
			if plain != "" && !w.exact {
				w.assume(u.Pos, fmt.Sprintf("what event %q carries is an object, and no list of it meets a list in the data", u.Event.Name))
				data = into + " * " + operand(plain)
				if into == "{}" {
					data = plain
				}
			}
			parts = append(parts, fmt.Sprintf("%s %s then {entry: %d, data: (%s)}", word, isEvent(u.Event), i+1, data))
		}
	}
	def := ""
	if slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(s, "merge($new)") }) {
		def = mergeDef
	}
	return def + ".[0] | " + strings.Join(parts, " ") + " else empty end"
}

// entries are the tasks of the entries of an event state: a switch over which came, then each.
func (w *writer) entries(sc *scope, s *states.State, in view) []*task {
	route := &task{name: sc.name("which")}
	var cases []expr.Value
	tasks := []*task{route}
	labels := newScope()
	for i, e := range s.Entries {
		name := "exit"
		if len(e.Actions.List) > 0 {
			inner := newScope()
			t := block(sc.name("on "+e.Events[0].Event.Name), w.actions(inner, e.Actions, in, plainResult{w})...)
			name = t.name
			tasks = append(tasks, t.then("exit"))
		}
		cases = append(cases, obj(labels.name(e.Events[0].Event.Name), obj("when", str(fmt.Sprintf(".entry == %d", i+1)), "then", str(name))))
	}
	route.value = obj("switch", expr.Array(cases...))
	route.as(".data")
	return tasks
}

// callback does something, then waits for an event; one that comes meanwhile is kept for it.
func (w *writer) callback(sc *scope, s *states.State) []*task {
	known := w.keys.at[s]
	if s.Action.Trigger != nil && s.Action.Trigger.Result != nil {
		known = w.keys.after(known, s.Action.Trigger.Result)
	}
	tasks := w.action(sc, s.Action, view{}, plainResult{w})
	w.calls.Alone = true
	w.assume(s.Pos, fmt.Sprintf("no two instances want the same event %q: one that acts still would have got it before one that waits", s.Event.Event.Name))
	uses := []*states.EventUse{s.Event}
	t := w.listen(sc.name("wait"), uses, false, known, view{}, func(into string) string { return w.received(uses, into, false) })
	return append(tasks, w.waiting(t, w.waits(s, true), view{}, ""))
}

// triggered sends an event and waits for another.
func (w *writer) triggered(name string, a *states.Action, in view, to sink) *task {
	filter := w.inputFilter(a, in)
	sees := in
	if filter != "" {
		sees = view{over: "(" + filter + ")"}
	}
	send := w.emit("send", a.Trigger.Produce, sees)
	if a.Trigger.Result == nil {
		send.name = name
		if !to.needsInput() {
			return send.as("{}")
		}
		return send
	}
	use := &states.EventUse{Pos: a.Pos, Event: a.Trigger.Result, Filter: a.Results, To: a.To, Wrap: a.Wrap, Drop: a.DropResults}
	uses := []*states.EventUse{use}
	var known map[string]certainty
	if w.keys.any {
		known = map[string]certainty{}
		for _, c := range a.Trigger.Result.Correlation {
			known[c.Attribute] = maybe
		}
	}
	out := func(into string) string { return w.received(uses, into, false) }
	if _, plain := to.(plainResult); !plain {
		out = func(string) string {
			exact, plain := w.payload(use)
			if plain != "" {
				plain = view{over: ".[0]"}.apply(plain)
				w.assume(a.Pos, fmt.Sprintf("event %q carries an object", use.Event.Name))
			}
			return to.taken(".[0] | "+exact, plain)
		}
	}
	return block(name, send, w.listen("wait", uses, false, known, in, out))
}

// eventSwitch goes on by the event that comes first.
func (f *flow) eventSwitch(s *states.State) {
	w := f.w
	name := f.names[s]
	route := &task{name: f.scope.name(words(s.Name, "goes on"))}
	var uses []*states.EventUse
	var entries []*states.Entry
	for _, k := range s.Conditions {
		uses = append(uses, k.Event)
		entries = append(entries, &states.Entry{Pos: k.Pos, Events: []*states.EventUse{k.Event}})
	}
	listener := w.listen("event", uses, false, w.keys.at[s], view{}, func(into string) string { return w.whichEntry(entries, into) })
	t := &task{name: name, value: obj("do", list([]*task{listener}))}
	f.add(t)
	out := w.stateFilter(s.Output, view{})
	otherwise := ""
	if s.Wait != nil && s.Default != nil {
		listener.value = listener.value.With("timeout", obj("after", w.duration(s.Wait, view{})))
		otherwise = f.way(s, *s.Default, "in vain")
		catch := obj("errors", obj("with", obj("type", str(errorBase+"timeout"))))
		if out != "" {
			catch = catch.With("do", list([]*task{(&task{name: "time is over", value: obj("set", jq("."))}).as(out)}))
		}
		t.value = obj("try", list([]*task{listener}), "catch", catch.With("then", str(otherwise)))
	}
	t.from(w.stateFilter(s.Input, view{}))
	if s.InputSchema != nil || s.OutputSchema != nil {
		w.lose(s.Pos, "the schemas of a switch over events", "they are not converted", "check the data in the states around it")
	}
	f.add(route)
	var cases []expr.Value
	sc := newScope()
	for i, k := range s.Conditions {
		label := k.Name
		if label == "" {
			label = k.Event.Event.Name
		}
		cases = append(cases, obj(sc.name(label), obj("when", str(fmt.Sprintf(".entry == %d", i+1)), "then", str(f.way(s, k.Exit, label)))))
	}
	route.value = obj("switch", expr.Array(cases...))
	as := ".data"
	if out != "" {
		as += " | " + out
	}
	route.as(as)
	if export := w.completed(s); export != "" {
		route.value = route.value.With("export", obj("as", str(export)))
		if otherwise != "" {
			w.lose(s.Pos, "the compensation of a switch that waited in vain", "it is not known to be complete then", "undo it by hand")
		}
	}
	if len(s.Handlers) > 0 {
		f.switchErrors(s, t)
	}
	t.then(route.name)
}

// startEvent is a state whose events begin the workflow.
func (f *flow) startEvent(s *states.State) {
	w := f.w
	sc := newScope()
	uses := usesOf(s.Entries, !s.Exclusive)
	acts := slices.ContainsFunc(s.Entries, func(e *states.Entry) bool { return len(e.Actions.List) > 0 })
	in := w.lent(s)
	begin := &task{name: sc.name("event"), value: obj("set", jq("."))}
	var tasks []*task
	if s.Exclusive && len(s.Entries) > 1 && acts {
		begin = w.keeping(begin, uses, func(string) string { return w.whichEntry(s.Entries, "{}") })
		tasks = w.entries(sc, s, in)
	} else {
		begin = w.keeping(begin, uses, func(string) string {
			if s.Exclusive && len(uses) > 1 {
				return w.eitherOf(uses, "{}")
			}
			return w.received(uses, "{}", !s.Exclusive)
		})
		for _, e := range s.Entries {
			tasks = append(tasks, w.actions(sc, e.Actions, in, plainResult{w})...)
		}
	}
	alone := *s
	alone.Input = nil // there is no data before the events
	f.names[&alone] = f.names[s]
	if s.InputSchema != nil {
		w.lose(s.InputSchema.Pos, "the schema of the input of the first state", "its data is the events in 1.0", "check what the events carry")
		alone.InputSchema = nil
	}
	if len(s.Handlers)+len(s.Retries) == 0 {
		f.assemble(&alone, append([]*task{begin}, tasks...), ".")
	} else {
		// A retry repeats the actions with the same events.
		f.startTried(&alone, begin, tasks)
	}
	if w.graph.entered(s) {
		w.lose(s.Pos, "the way back to the first state", "it begins with the events that start the workflow; in 1.0 it would have to wait for others", "add a state that waits, and lead there")
	}
}

// startTried is a first state with error definitions: what comes before its actions is a task of its own.
func (f *flow) startTried(s *states.State, begin *task, tasks []*task) {
	first := &task{name: f.scope.name(words(s.Name, "begins")), value: begin.value}
	f.add(first)
	f.assemble(s, tasks, "{}")
}
