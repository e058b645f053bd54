package open

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// refs are the events that satisfy an entry: one of them, or all. ok is false where that is not all that the entry
// says.
func refs(en *sw01.Entry) (list []*sw01.Trigger, all, ok bool) {
	x := en.Expression
	ok = true
	var walk func(x *sw01.EventExpr)
	walk = func(x *sw01.EventExpr) {
		switch {
		case x.Trigger != nil:
			if !slices.Contains(list, x.Trigger) {
				list = append(list, x.Trigger)
			}
		case x.Op == "not":
			ok = false
		default:
			for _, it := range x.Items {
				if it.Op != "" && it.Op != x.Op {
					ok = false
				}
				walk(it)
			}
		}
	}
	walk(x)
	return list, x.Op == "and" && len(list) > 1, ok
}

// trigger is an event of later versions.
func (e *early) trigger(t *sw01.Trigger) *states.Event {
	kind := t.Type
	if kind == "" {
		kind = t.EventID
	}
	if t.EventID != "" && t.Type == "" {
		e.lose(t.Pos, "the eventID of trigger "+quote(t.Name), "it is an event's type or its id; in 1.0 the type", "make it the type of the event")
	}
	if t.Token != "" {
		e.lose(t.TokenPos, "the correlation token of trigger "+quote(t.Name), "all events of an instance share it; in 1.0 those of one listener", "add correlate to the listeners, with what is expected")
	}
	return &states.Event{Pos: t.Pos, Name: t.Name, Type: kind, Source: t.Source}
}

func (e *early) uses(en *sw01.Entry) []*states.EventUse {
	list, _, _ := refs(en)
	var out []*states.EventUse
	for _, t := range list {
		out = append(out, &states.EventUse{Pos: en.Pos, Event: e.trigger(t), Filter: path01(en.Filter)})
	}
	return out
}

// event is an EVENT state: it waits, or at the start has the events already.
func (f *flow01) event(t *task, st *sw01.State, out string) {
	e := f.e
	starts := st == f.s.Start && f.done == "end"
	for _, en := range st.Entries {
		if _, all, ok := refs(en); !ok || all && len(st.Entries) > 1 {
			e.breaks(en.Pos, "the event expression "+quote(en.Text), "a listener of 1.0 waits for one of its events or for all", "split it into several states")
		}
		if !sameTime(en.Timeout, st.Entries[0].Timeout) {
			e.lose(en.Pos, "entries of an EVENT state with different timeouts", "the first timeout holds for all", "use the same timeout")
		}
	}
	if starts {
		f.startEvent(t, st, out)
		return
	}
	var uses []*states.EventUse
	var entries []*states.Entry
	for _, en := range st.Entries {
		own := e.uses(en)
		uses = append(uses, own...)
		entries = append(entries, &states.Entry{Pos: en.Pos, Events: own})
	}
	_, all, _ := refs(st.Entries[0])
	all = all && len(st.Entries) == 1
	if len(uses) == 0 {
		t.value = obj("wait", str(st.Entries[0].Timeout.Value.String()))
		t.then(f.next(st, st.Next))
		return
	}
	route := &task{name: f.scope.name(words(st.Name, "goes on"))}
	listener := e.listen("event", unique(uses), all, nil, view{}, func(into string) string {
		if all {
			return "{entry: 1, data: (" + e.received01(uses, into, true) + ")}"
		}
		return e.which01(entries, into)
	})
	t.value = obj("do", list([]*task{listener}))
	if d := st.Entries[0].Timeout; d != nil {
		listener.value = listener.value.With("timeout", obj("after", str(d.Value.String())))
		catch := obj("errors", obj("with", obj("type", str(errorBase+"timeout"))), "then", str(f.lapse(st)))
		t.value = obj("try", list([]*task{listener}), "catch", catch)
	}
	f.follow(t, st, route, out)
}

// follow adds what the entries of an EVENT state do, behind a switch over which came.
func (f *flow01) follow(t *task, st *sw01.State, route *task, out string) {
	e := f.e
	f.add(route)
	t.then(route.name)
	var cases []expr.Value
	for i, en := range st.Entries {
		next := en.Next
		if next == nil {
			next = st.Next
		}
		one := f.add(&task{name: f.scope.name(words(st.Name, "took", en.Text))})
		if slices.ContainsFunc(en.Actions.List, func(a *sw01.Action) bool {
			return slices.ContainsFunc(a.Retries, func(r *sw01.Retry) bool { return r.Next != nil })
		}) {
			e.lose(en.Pos, "the next state of a retry", "it begins with what the EVENT state was given, without the event; here the event's data is in it", "keep what is needed")
		}
		f.acts(one, st, en.Actions, e.actions(newScope(), en.Actions), out, ".")
		one.then(f.next(st, next))
		cases = append(cases, obj(fmt.Sprintf("entry %d", i+1), obj("when", str(fmt.Sprintf(".entry == %d", i+1)), "then", str(one.name))))
	}
	route.value = obj("switch", expr.Array(cases...))
	route.as(".data")
}

// lapse is where a state goes on whose time is up: the only END state, else the workflow fails.
func (f *flow01) lapse(st *sw01.State) string {
	var ends []*sw01.State
	for _, s := range f.s.States {
		if s.Type == "END" {
			ends = append(ends, s)
		}
	}
	if len(ends) == 1 {
		return f.names[ends[0]]
	}
	return f.add(&task{name: f.scope.name(words(st.Name, "in vain")), value: failure(sw01.SysTimeout)}).name
}

func sameTime(a, b *sw01.Amount) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Value == b.Value
}

func unique(uses []*states.EventUse) []*states.EventUse {
	var out []*states.EventUse
	for _, u := range uses {
		if !slices.ContainsFunc(out, func(o *states.EventUse) bool { return o.Event.Name == u.Event.Name }) {
			out = append(out, u)
		}
	}
	return out
}

// startEvent is a state whose events begin the workflow: its input is their list.
func (f *flow01) startEvent(t *task, st *sw01.State, out string) {
	e := f.e
	for _, from := range f.s.States {
		for _, to := range targets01(from) {
			if to == st {
				e.lose(st.Pos, "the way back to the first state", "it begins with the events that start the workflow; in 1.0 it would have to wait for others", "add a state that waits, and lead there")
			}
		}
	}
	var entries []*states.Entry
	for _, en := range st.Entries {
		entries = append(entries, &states.Entry{Pos: en.Pos, Events: e.uses(en)})
	}
	if _, all, _ := refs(st.Entries[0]); all && len(st.Entries) == 1 {
		t.value = obj("set", jq("{entry: 1, data: ("+e.received01(entries[0].Events, "{}", true)+")}"))
	} else {
		t.value = obj("set", jq(e.which01(entries, "{}")))
	}
	f.follow(t, st, &task{name: f.scope.name(words(st.Name, "goes on"))}, out)
}

// schedule is the events that start the workflow.
func (e *early) schedule() expr.Value {
	st := e.o.Scope.Start
	if st.Type != "EVENT" {
		return expr.Null
	}
	e.state = st.Name
	var uses []*states.EventUse
	for _, en := range st.Entries {
		uses = append(uses, e.uses(en)...)
	}
	_, all, _ := refs(st.Entries[0])
	all = all && len(st.Entries) == 1
	if all && st.Entries[0].Timeout != nil {
		e.lose(st.Entries[0].Timeout.Pos, "the time from the first to the last event", "events that start a workflow of 1.0 may come at any time", "check their times in the workflow")
	}
	if len(uses) == 0 {
		return expr.Null
	}
	return obj("on", e.consumption(unique(uses), all, nil, view{}), "read", str("envelope"))
}

// received01 is the data after events came. What a filter selects takes the place of the data unless both are
// objects.
func (e *early) received01(uses []*states.EventUse, into string, all bool) string {
	var streams []string
	for _, u := range uses {
		one := ".[0]"
		if all {
			one = fmt.Sprintf(".[] | select(%s)", isEvent(u.Event))
		}
		streams = append(streams, one+" | "+e.payload01(u))
	}
	return mergeDef + fmt.Sprintf("reduce (%s) as $new (%s; if type == \"object\" and ($new | type) == \"object\" then merge($new) else $new end)",
		strings.Join(parenthesised(streams), ", "), into)
}

// payload01 is what an event gives: all its data if that is an object, or what the filter selects.
func (e *early) payload01(u *states.EventUse) string {
	p := u.Filter
	if p == nil {
		return ".data | objects"
	}
	t := e.path(p, view{})
	from := ".data"
	switch first := p.Shape.First; {
	case p.Shape.Root:
		return ".data | objects"
	case slices.Contains(certain, first):
		from = "."
	case first != "":
		from = fmt.Sprintf("if has(%s) then . else .data end", text(first))
	}
	if t.list {
		return fmt.Sprintf("%s | [%s] | select(length > 0)", from, t.exact)
	}
	return from + " | " + t.exact
}

// which01 is {entry, data}: what came, and the data with it.
func (e *early) which01(entries []*states.Entry, into string) string {
	var parts []string
	for i, en := range entries {
		for _, u := range en.Events {
			word := "elif"
			if len(parts) == 0 {
				word = "if"
			}
			data := fmt.Sprintf("reduce (%s) as $new (%s; if type == \"object\" and ($new | type) == \"object\" then merge($new) else $new end)", e.payload01(u), into)
			parts = append(parts, fmt.Sprintf("%s %s then {entry: %d, data: (%s)}", word, isEvent(u.Event), i+1, data))
		}
	}
	if len(parts) == 0 {
		return "{entry: 1, data: " + into + "}"
	}
	return mergeDef + ".[0] | " + strings.Join(parts, " ") + " else empty end"
}

// targets01 are all states that a state leads to.
func targets01(st *sw01.State) []*sw01.State {
	out := []*sw01.State{st.Default}
	if !st.End {
		out = append(out, st.Next)
	}
	for _, c := range st.Choices {
		out = append(out, c.Next)
	}
	actions := slices.Clone(st.Actions.List)
	for _, en := range st.Entries {
		out = append(out, en.Next)
		actions = append(actions, en.Actions.List...)
	}
	for _, a := range actions {
		for _, r := range a.Retries {
			out = append(out, r.Next)
		}
	}
	return out
}
