package naive08

import (
	"maps"
	"regexp"
	"slices"
)

// event is the event state: it waits for events and runs the actions of those that came.
func (fr *frame) event(t *thread, data any) (any, error) {
	in, st := fr.in, fr.st
	before := data
	events, entry, ok, err := fr.gather(t, data)
	if err != nil {
		return data, err
	}
	if !ok {
		in.w.saw("the timeout of an event state")
		return data, nil // go on without any action
	}
	if entry < 0 {
		in.w.saw("an event state that needs all events")
	}
	entries := list(st["onEvents"])
	for _, g := range events {
		t.see(g)
		if data, err = in.addEvent(data, g, object(object(entries[g.index])["eventDataFilter"])); err != nil {
			return before, err
		}
	}
	run := func(t *thread) {
		for i, e := range entries {
			if entry >= 0 && entry != i {
				continue
			}
			var got []contribution
			if got, err = fr.actions(t, fr.ptr+"/onEvents/"+string(rune('0'+i))+"/actions", object(e), scope{own: data}); err != nil {
				return
			}
			if data, err = in.apply(data, got); err != nil {
				return
			}
		}
	}
	if t.until(fr.deadline, run) {
		in.w.saw("the timeout of a state")
		return before, timeout(fr.ptr, true)
	}
	if err != nil {
		return before, err
	}
	return data, nil
}

// gather waits for the events of an event state. entry is the one whose actions run,
// -1 for all. Each event bears the index of its entry.
func (fr *frame) gather(t *thread, data any) (events []gotEvent, entry int, ok bool, err error) {
	in, st := fr.in, fr.st
	if in.given != nil && len(in.Path) == 1 {
		events, entry = in.startEvents(st)
		return events, entry, true, nil
	}
	refs := eventRefs(st)
	b := t.box()
	defer b.close()
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.name
	}
	limit, limited, err := in.eventLimit(st, "timeout", data)
	if err != nil {
		return nil, 0, false, err
	}
	in.await(b, data, exclusive(st), names...)
	fr.waitFor(b, limit, limited)
	if exclusive(st) {
		m, ok := b.receive().(gotEvent)
		if !ok {
			return nil, 0, false, nil
		}
		entry = refs[m.index].entry
		m.index = entry
		return []gotEvent{m}, entry, true, nil
	}
	events = make([]gotEvent, len(refs))
	for n := range refs {
		m, ok := b.receive().(gotEvent)
		if !ok {
			if n > 0 && len(in.fixed) > 0 {
				in.w.isOpen(openPartial)
			}
			return nil, 0, false, nil
		}
		at := m.index
		m.index = refs[at].entry
		events[at] = m
	}
	return events, -1, true, nil
}

type eventRef struct {
	entry int
	name  string
}

func eventRefs(st map[string]any) (refs []eventRef) {
	for i, e := range list(st["onEvents"]) {
		for _, name := range list(object(e)["eventRefs"]) {
			refs = append(refs, eventRef{i, text(name)})
		}
	}
	return refs
}

func exclusive(st map[string]any) bool { return st["exclusive"] != false }

// firstName is the first name of a jq path.
var firstName = regexp.MustCompile(`^\s*(?:\$\{)?\s*\.([A-Za-z_][A-Za-z_0-9]*)`)

// wholly reports whether an event is seen with its attributes, from 0.7 on.
func (in *instance) wholly(def map[string]any) bool {
	return in.w.c.Form > 6 && def["dataOnly"] == false
}

// addEvent merges what the filter lets through of an event into the data.
func (in *instance) addEvent(data any, g gotEvent, filter map[string]any) (any, error) {
	if filter["useData"] == false {
		in.w.saw("a payload that is not used")
		return data, nil
	}
	seen, some := g.event["data"]
	if in.wholly(g.def) {
		in.w.saw("a whole event")
		seen, some = g.event, true
	}
	if m := firstName.FindStringSubmatch(text(filter["data"])); m != nil && in.w.c.Form == 6 {
		_, attribute := g.event[m[1]]
		if _, own := object(seen)[m[1]]; attribute && !own {
			in.w.saw("a filter that sees the whole event")
			seen, some = g.event, true
		}
	}
	if !some { // the payload is merged "if available"
		return data, nil
	}
	c := contribution{value: seen, some: true}
	if src, ok := filter["data"]; ok {
		var err error
		if c.value, c.some, err = in.eval(text(src), seen, nil); err != nil {
			return data, err
		}
	}
	if to, ok := filter["toStateData"]; ok {
		c.place = in.place(text(to))
	}
	if _, isObject := c.value.(map[string]any); c.some && c.value != nil && !isObject && len(c.place) == 0 {
		in.w.saw("a payload that is no object")
		return data, nil // no version has a key for it
	}
	return in.apply(data, []contribution{c})
}

// produce emits an event; p has its data and contextAttributes.
func (in *instance) produce(t *thread, name string, p map[string]any, data any, vars map[string]any) error {
	def := in.eventDef(name)
	source := text(def["source"])
	if source == "" {
		source = "lockstep/default/" + in.Workflow
	}
	e := map[string]any{"specversion": "1.0", "type": def["type"], "source": source}
	switch payload := p["data"].(type) {
	case nil:
	default: // text without an expression in it is text
		v, err := in.template(payload, data, vars)
		if err != nil {
			return err
		}
		e["data"] = v
	}
	for _, a := range append([]any{p["contextAttributes"]}, list(p["contextAttributes"])...) {
		for _, key := range slices.Sorted(maps.Keys(object(a))) {
			v, err := in.template(object(a)[key], data, vars)
			if err != nil {
				return err
			}
			e[key] = v
		}
	}
	in.w.saw("a produced event")
	in.w.act(t, "", nil, Answer{})
	in.w.out.Produced = append(in.w.out.Produced, Produced{in.w.now, e})
	in.w.arrive(arrival{event: e, at: in.w.now, from: in})
	return nil
}
