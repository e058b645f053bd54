package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// The reference interpreter of version 0.1, written from the drafts E, K and C and
// docs/definitions-0.1.md. Threads, calls, events and sub-workflows are those of
// version 0.5; states, filters, retries and event expressions are its own.

// language01 is version 0.1 in one of its three forms.
type language01 struct{ early bool }

// interpret01 runs a case of version 0.1.
func interpret01(c *Case) (out Outcome, open string) {
	return newWorld(c, language01{early: c.Dialect == early01}).interpret()
}

// The forms, as --dialect says them.
const (
	early01 = "sw01-early"
	kebab01 = "sw01-kebab"
	camel01 = "sw01-camel"
)

// word finds a key in any of its spellings: next-state, nextState, and for paths
// InputPath.
func word(v expr.Value, key string) expr.Value {
	camel := camelCase(key)
	for _, k := range []string{key, camel, strings.ToUpper(camel[:1]) + camel[1:]} {
		if m, ok := v.Get(k); ok {
			return m
		}
	}
	return expr.Null
}

func camelCase(kebab string) string {
	parts := strings.Split(kebab, "-")
	for i, p := range parts[1:] {
		parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
	}
	return strings.Join(parts, "")
}

// path01 finds one of the paths, on its holder or in its filter.
func path01(holder expr.Value, key string) string {
	if p := word(holder, key).Str(); p != "" {
		return p
	}
	return word(get(holder, "filter"), key).Str()
}

// scope is the workflow or a branch: states with names of their own.
type scope struct {
	in     *instance
	def    expr.Value
	branch bool
	early  bool
}

// leap is how a retry that is used up leaves its state.
type leap struct{ to string }

func (leap) Error() string { return "next-state" }

// flow runs the workflow, and is over when the branches are that nobody waits for.
func (l language01) flow(in *instance, t *thread, input expr.Value) (out expr.Value, err error) {
	in.loose = t.box()
	in.beside(t, 0, scope{in: in, def: in.def, early: l.early}, input)
	for in.running > 0 {
		e := in.loose.receive().(ended)
		in.running--
		if e.err != nil {
			if in.w.first(); in.left == in.w.now+1 || t.busy() { // did the child begin, would others have acted?
				in.w.isOpen(openTie)
			}
			t.cancelChildren()
			return e.result.value, e.err
		}
		if e.index == 0 {
			out = e.result.value
		}
	}
	return out, nil
}

// beside runs a scope by itself.
func (in *instance) beside(t *thread, index int, s scope, data expr.Value) {
	in.running++
	b := in.loose
	in.w.spawn(b.t, func(t *thread) {
		out, err := s.run(t, data)
		b.post(ended{index, contribution{value: out, present: true}, err})
	})
}

// run runs the states of a scope one after another.
func (s scope) run(t *thread, data expr.Value) (expr.Value, error) {
	st := s.start()
	for {
		next, out, err := s.execute(t, st, data)
		if err != nil || next.IsNull() {
			return out, err
		}
		st, data = next, out
	}
}

func (s scope) states() []expr.Value { return get(s.def, "states").Items() }

// start is the state that startsAt names, or that is marked, else the first.
func (s scope) start() expr.Value {
	if name := word(s.def, "starts-at").Str(); name != "" {
		return s.state(name)
	}
	for _, st := range s.states() {
		if get(st, "start").Bool() {
			return st
		}
	}
	return s.states()[0]
}

// state finds a state by its name, else its id.
func (s scope) state(name string) expr.Value {
	for _, key := range []string{"name", "id"} {
		for _, st := range s.states() {
			if str(st, key) == name {
				return st
			}
		}
	}
	panic("sim: no state " + name)
}

// execute runs one state and gives the next, Null for none.
func (s scope) execute(t *thread, st, input expr.Value) (next, out expr.Value, err error) {
	w, kind := s.in.w, strings.ToLower(str(st, "type"))
	if w.states++; w.states > maxStates {
		w.isOpen(openLong)
		w.halt(t)
	}
	w.saw("state " + kind)
	if !s.branch {
		if slices.Contains(s.in.Path, str(st, "name")) {
			w.saw("a state that is entered again")
		}
		s.in.Path = append(s.in.Path, str(st, "name"))
	}
	data := w.select01(path01(st, "input-path"), input)
	next = s.after(st)
	out = data
	switch kind {
	case "operation":
		out, err = s.actions(t, st, data)
	case "delay":
		s.rest(t, st)
	case "switch":
		next, err = s.choose(st, data)
	case "parallel":
		out, err = s.parallel(t, st, data)
	case "subflow":
		out, err = s.subflow(t, st, data)
	case "event":
		var lapsed bool
		if next, out, lapsed, err = s.hear(t, st, data); lapsed && err == nil {
			return next, data, nil
		}
	case "end":
		if strings.EqualFold(str(st, "status"), "FAILURE") {
			w.saw("an end with FAILURE")
			err = &Fault{Name: "SYS.Fail"}
		}
		next = expr.Null
	default:
		panic("sim: no state type " + kind)
	}
	t.cancelChildren()
	if to, ok := err.(leap); ok {
		w.saw("the next-state of a retry")
		return s.state(to.to), data, nil
	}
	if err != nil {
		return expr.Null, data, err
	}
	return next, w.shape01(st, out), nil
}

// after is the state that follows by itself.
func (s scope) after(st expr.Value) expr.Value {
	name := word(st, "next-state").Str()
	if get(st, "end").Bool() {
		s.in.w.saw("end: true")
		return expr.Null
	}
	if name == "" {
		s.in.w.saw("a state without a next one")
		return expr.Null
	}
	return s.state(name)
}

// select01 is what a path gives: a bare value, or the list of matches. What selects
// nothing leaves everything.
func (w *world) select01(path string, data expr.Value) expr.Value {
	if path == "" {
		return data
	}
	r := w.eval(path, data)
	switch {
	case describe(path).definite && r.Missing, !describe(path).definite && r.Value.Len() == 0:
		w.saw("a path that selects nothing")
		return data
	}
	return r.Value
}

// shape01 puts a result where the result path says, in a document of its own, and lets
// through what the output path selects.
func (w *world) shape01(holder, data expr.Value) expr.Value {
	p := path01(holder, "result-path")
	if p == "" {
		p = "$"
	}
	for _, key := range slices.Backward(describe(p).keys) {
		w.saw("a result path")
		data = expr.Object(expr.Member{Key: key, Value: data})
	}
	return w.select01(path01(holder, "output-path"), data)
}

// span01 is a time: seconds, or ISO 8601.
func (w *world) span01(v expr.Value) time.Duration {
	if n := w.number(v, expr.Null); n > 0 || v.Kind() == expr.KindNumber || v.Str() == "0" {
		return time.Duration(n) * time.Second
	}
	return w.span(v.Str())
}

// rest is the delay state: for a time, or until an instant.
func (s scope) rest(t *thread, st expr.Value) {
	v := word(st, "time-delay")
	if at, err := time.Parse(time.RFC3339Nano, v.Str()); err == nil {
		s.in.w.saw("a delay until an instant")
		t.sleep(max(0, at.Sub(Epoch)-s.in.w.now))
		return
	}
	t.sleep(s.in.w.span01(v))
}

// parallel runs branches. Those that are not waited for go on by themselves.
func (s scope) parallel(t *thread, st, data expr.Value) (expr.Value, error) {
	branches := get(st, "branches").Items()
	results := make([]expr.Value, len(branches))
	b, awaited := t.box(), 0
	for i, br := range branches {
		sub := scope{in: s.in, def: br, branch: true, early: s.early}
		wait, said := word(br, "wait-for-completion"), false
		if said = !wait.IsNull(); said && !wait.Bool() || !said && !s.early {
			s.in.w.saw("a branch that nobody waits for")
			s.in.beside(t, i+1, sub, data)
			continue
		}
		if awaited++; s.branch {
			s.in.w.saw("a branch in a branch")
		}
		s.in.w.spawn(t, func(t *thread) {
			out, err := sub.run(t, data)
			b.post(ended{i, contribution{value: out, present: true}, err})
		})
	}
	for range awaited {
		e := b.receive().(ended)
		if e.err != nil {
			s.in.w.first()
			s.in.w.saw("a failing branch")
			return data, e.err
		}
		results[e.index] = e.result.value
	}
	return expr.Array(results...), nil
}

func (s scope) subflow(t *thread, st, data expr.Value) (expr.Value, error) {
	if !word(st, "wait-for-completion").Bool() {
		s.in.left = s.in.w.now + 1
	}
	as := obj("workflowId", word(st, "workflow-id"), "waitForCompletion", word(st, "wait-for-completion"))
	return s.in.subflow(t, as, data)
}

// gathersInTime reports whether the first state needs several events within a time.
func (l language01) gathersInTime(in *instance) bool {
	s := scope{in: in, def: in.def, early: l.early}
	return slices.ContainsFunc(get(s.start(), "events").Items(), func(e expr.Value) bool { return !get(e, "timeout").IsNull() })
}
