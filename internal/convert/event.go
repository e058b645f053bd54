package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// startEvent is a workflow that begins with an event. There is no data before, so what
// the event brings is an object, and a filter makes it the item of the array.
func (sc *scope) startEvent(ch *chain) {
	st := ch.st
	e := st.Entries[0]
	if len(st.Entries) > 1 {
		sc.c.lose(st.Entries[1].Pos, ch.base, "several entries of an EVENT state that starts the workflow",
			"an event state of 0.5 does not pass on which event came; all events are handled as the first entry says",
			"make a workflow of each entry, or distinguish the events by their data")
	}
	refs, all, ok := sc.refs(e)
	if !ok {
		sc.mixed(ch, e)
	}
	for _, other := range st.Entries[1:] {
		more, _, _ := sc.refs(other)
		refs = append(refs, more...)
		all = false
	}
	body := obj("type", str("event"), "exclusive", expr.Bool(!all), "onEvents", expr.Array(sc.onEvents(e, refs)))
	if all && e.Timeout != nil {
		body = body.With("timeout", str(e.Timeout.Value.String()))
	}
	l := ch.add("waits", body)
	l.out, l.array, l.bare = "$[?(true)]", "$[?(true)]", ""
	ch.acts(e)
}

// acts is what follows the events of an entry.
func (ch *chain) acts(e *sw01.Entry) {
	ch.keys = nil
	ch.actions(e.Actions)
	next := ch.st.Next
	if e.Next != nil {
		next = e.Next
	}
	ch.leave(next)
}

// eventState waits in the middle of a workflow. D is merged with what the event brings,
// so it stands by itself while the state waits, and becomes the item of an array again
// behind it.
//
// An event state of 0.5 goes on in one way, be it that the event came or that its time
// is up: where that matters, a switch over events waits.
func (sc *scope) eventState(ch *chain) {
	st := ch.st
	ch.filter(st.Filter.Input)
	ch.flush()
	if len(st.Entries) == 1 && st.Entries[0].Timeout == nil {
		e := st.Entries[0]
		refs, all, ok := sc.refs(e)
		if !ok {
			sc.mixed(ch, e)
		}
		ch.in = "$[0]"
		ch.add("waits", obj("type", str("event"), "exclusive", expr.Bool(!all), "onEvents", expr.Array(sc.onEvents(e, refs))))
		ch.carry()
		ch.acts(e)
		return
	}
	for _, e := range st.Entries {
		if _, all, ok := sc.refs(e); !ok || all {
			sc.mixed(ch, e)
		}
		if !sameTime(e.Timeout, st.Entries[0].Timeout) {
			sc.c.lose(e.Pos, ch.base, "entries of an EVENT state with different timeouts", "a state of 0.5 waits for all its events equally long; the first timeout holds for all",
				"use the same timeout")
		}
	}
	if !slices.ContainsFunc(st.Entries, func(e *sw01.Entry) bool { refs, _, _ := sc.refs(e); return len(refs) > 0 }) {
		e := st.Entries[0] // only what must not come: the time passes
		ch.add("waits", obj("type", str("delay"), "timeDelay", str(e.Timeout.Value.String())))
		ch.acts(e)
		return
	}
	l := ch.pass("waits")
	l.out = "$[0]"
	sc.eventSwitch(ch)
}

func sameTime(a, b *sw01.Amount) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Value == b.Value
}

// eventSwitch waits for one of several events, each with a way of its own.
func (sc *scope) eventSwitch(ch *chain) {
	st := ch.st
	wait := ch.add("events", obj("type", str("switch")))
	wait.fixed = true
	var later []func()
	var conditions []expr.Value
	seen := map[string]bool{}
	follow := func(name string, then func(*chain)) {
		later = append(later, func() {
			next := &chain{sc: sc, st: st, base: name}
			next.carry()
			then(next)
		})
	}
	lapse := sc.lapse
	for _, e := range slices.Backward(st.Entries) {
		if refs, _, _ := sc.refs(e); len(refs) == 0 { // it is decided when the time is up
			lapse = func(next *chain) { next.acts(e) }
		}
	}
	for _, e := range st.Entries {
		refs, _, _ := sc.refs(e)
		if len(refs) == 0 {
			continue
		}
		name := sc.name(ch.base, "took "+strings.Join(refs, " or "))
		for _, ref := range refs {
			if seen[ref] {
				continue // the first entry takes it
			}
			seen[ref] = true
			k := obj("eventRef", str(ref), "transition", obj("nextState", str(name)))
			if f, ok := sc.eventFilter(e.Filter); ok {
				k = k.With("eventDataFilter", f)
			}
			conditions = append(conditions, k)
		}
		follow(name, func(next *chain) { next.acts(e) })
	}
	timeout, otherwise := "P1Y", wait.name // it waits on
	if t := st.Entries[0].Timeout; t != nil {
		timeout, otherwise = t.Value.String(), sc.name(ch.base, "took too long")
		follow(otherwise, lapse)
	}
	wait.value = wait.value.With("eventConditions", expr.Array(conditions...)).With("eventTimeout", str(timeout)).
		With("default", obj("transition", obj("nextState", str(otherwise))))
	ch.emit(expr.Value{})
	for _, emit := range later {
		emit()
	}
}

// lapse is what follows when no event came in time (semantics.md §Control flow).
func (sc *scope) lapse(ch *chain) {
	var ends []*sw01.State
	for _, st := range sc.s.States {
		if st.Type == "END" {
			ends = append(ends, st)
		}
	}
	if len(ends) == 1 {
		ch.to(sc.target(ends[0]))
		return
	}
	sc.c.lose(ch.st.Pos, ch.st.Name, "an EVENT state whose time is up", "the workflow fails with SYS.Timeout; one of 0.5 cannot name its error, and fails with TransitionRestricted",
		"give the workflow one END state, or let the default of the switch lead elsewhere")
	ch.to(sc.fail())
}

// carry makes D the item of an array again, whatever it is.
func (ch *chain) carry() {
	key := ch.sc.carried
	l := ch.add("goes on", obj("type", str("inject"), "data", obj(key, expr.Array(text("$")))))
	l.out, l.array, l.bare = "$."+key, "$."+key, "$."+key+"[0]"
	ch.sc.c.assume(ch.st.Pos, fmt.Sprintf("no data at EVENT state %q has a key %q", ch.st.Name, key))
}

// mixed notes an expression that 0.5 cannot wait for.
func (sc *scope) mixed(ch *chain, e *sw01.Entry) {
	why := "a state of 0.5 waits for one of some events, or for all of them, and not for a mixture"
	if hasNot(e.Expression) {
		why = "0.5 cannot wait for an event not to come"
	} else if _, all, ok := sc.refs(e); ok && all {
		why = "an event state of 0.5 goes on in the same way when its time is up, and a switch waits for one event"
	}
	sc.c.breaks(e.Pos, ch.base, "the event expression "+quote(e.Text), why, "split it into several states")
}

func hasNot(e *sw01.EventExpr) bool {
	return e.Op == "not" || slices.ContainsFunc(e.Items, hasNot)
}

// refs are the events of an entry that may come; all says that each is needed. ok is
// false where it is not as simple as that.
func (sc *scope) refs(e *sw01.Entry) (names []string, all, ok bool) {
	ok = true
	var walk func(x *sw01.EventExpr, top, negated bool)
	walk = func(x *sw01.EventExpr, top, negated bool) {
		switch {
		case x.Op == "" && negated: // 0.5 cannot wait for it not to come, and it is not to come
		case x.Op == "" && !slices.Contains(names, x.Trigger.Name):
			names = append(names, x.Trigger.Name)
			sc.used[x.Trigger.Name] = true
		case x.Op == "and" && top:
			all = true
		case x.Op == "" || x.Op == "or" && top:
		default:
			ok = false
		}
		for _, item := range x.Items {
			walk(item, false, negated != (x.Op == "not"))
		}
	}
	walk(e.Expression, true, false)
	return names, all && len(names) > 1, ok
}

func (sc *scope) onEvents(e *sw01.Entry, refs []string) expr.Value {
	var items []expr.Value
	for _, r := range refs {
		items = append(items, str(r))
	}
	out := obj("eventRefs", expr.Array(items...), "actions", expr.Array())
	if f, ok := sc.eventFilter(e.Filter); ok {
		out = out.With("eventDataFilter", f)
	}
	return out
}

// eventFilter selects from an event. In 0.1 what is selected is merged as it is; in 0.5
// only a list of one object is, which a filter that always holds makes of an object.
func (sc *scope) eventFilter(p *sw01.Path) (expr.Value, bool) {
	if p == nil || p.Root || len(p.Keys) == 1 && p.Keys[0] == "data" {
		return expr.Value{}, false
	}
	if !p.Definite || p.Function != "" {
		sc.c.lose(p.Pos, "", "the event filter "+p.Src, "what it selects is not an object, and replaces the data; in 0.5 it is merged under a name",
			"select it from the data in the state that follows")
		return obj("dataOutputPath", text(p.Src)), true
	}
	sc.c.assume(p.Pos, "the event filter "+p.Src+" selects an object, if anything")
	return obj("dataOutputPath", text(p.Src+"[?(true)]")), true
}

// usedEvents are the definitions of the events that a document waits for.
func (sc *scope) usedEvents() expr.Value {
	var out []expr.Value
	token := ""
	for _, t := range sc.c.o.Triggers {
		if !sc.used[t.Name] {
			continue
		}
		e := obj("name", str(t.Name), "kind", str("consumed"))
		if t.Source != "" {
			e = e.With("source", str(t.Source))
		}
		if kind := first(t.Type, t.EventID); kind != "" {
			e = e.With("type", str(kind))
		}
		if sc.finish != nil {
			sc.c.lose(t.Pos, "", "the event "+quote(t.Name)+" in a branch",
				"the branch is a workflow of its own in 0.5: an event that comes before it has begun is not kept for it, and one that it takes is there for its parent too",
				"wait outside of the branch, or see to it that the event comes later")
		}
		if t.EventID != "" {
			sc.c.lose(t.Pos, "", "the eventID "+quote(t.EventID), "it is the type or the id of an event; an event of 0.5 is identified by its type alone", "check that it is a type")
		}
		if t.Token != "" {
			e = e.With("correlation", expr.Array(obj("contextAttributeName", str(sc.correlation(t, token)))))
			token = t.Token
		}
		out = append(out, e)
	}
	return expr.Array(out...)
}

// correlation is the attribute by which an event belongs to an instance.
func (sc *scope) correlation(t *sw01.Trigger, other string) string {
	name := strings.TrimPrefix(t.Token, "$.")
	why, do := "", ""
	switch {
	case strings.ContainsAny(name, ".[$"):
		why, do = "it is inside of the event's data; 0.5 correlates by context attributes", "let the source of the event send it as an attribute"
		if i := strings.LastIndexAny(name, "."); i >= 0 {
			name = name[i+1:]
		}
		name = strings.Trim(name, "$[]'\"")
	case !isAttribute(t.Token):
		why, do = "where the event has no such attribute, it is a field of its data; 0.5 correlates by attributes only", "check that it is an attribute"
	case other != "" && other != t.Token:
		why, do = "it is to be equal to "+quote(other)+" of another event; 0.5 compares attributes of the same name only", "use the same attribute in all events"
	}
	if why != "" {
		sc.c.lose(t.TokenPos, "", "the correlation token "+quote(t.Token), why, do)
	}
	return first(name, "correlation")
}

// isAttribute reports whether a token is an attribute that every event has or that means
// the same in all (CloudEvents §Context Attributes). Any other may be in the data.
func isAttribute(token string) bool {
	switch strings.TrimPrefix(token, "$.") {
	case "id", "source", "type", "subject", "time", "dataschema", "datacontenttype":
		return true
	}
	return false
}
