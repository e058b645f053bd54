package naive08

import (
	"slices"
	"strings"
	"time"
)

// gathering is a start that needs several events and has some of them.
type gathering struct {
	events []*arrival     // by reference; nil: not there yet
	fixed  map[string]any // by the first of them
}

// starts begins an instance if the event does, or adds to the set that does. It reports whether the event was used.
func (w *world) starts(a arrival) bool {
	if w.c.ByHand {
		return false
	}
	maker := &instance{w: w, def: w.c.Definitions[0]}
	state, _ := maker.state(maker.start())
	refs := eventRefs(state)
	for i, r := range refs {
		def := maker.eventDef(r.name)
		if !sameKind(def, a.event) {
			continue
		}
		if in := w.owner(def, a); in != nil {
			w.saw("a start event for a running instance")
			if in.def["keepActive"] == true {
				w.isOpen(openKept)
			}
			in.held = append(in.held, a)
			return true
		}
		if !w.fits(def, a.event, nil) {
			return false
		}
		if exclusive(state) {
			w.startBy([]map[string]any{a.event})
			return true
		}
		w.gather(maker, state, def, i, len(refs), a)
		return true
	}
	return false
}

// owner is the running instance whose key a start event bears.
func (w *world) owner(def map[string]any, a arrival) *instance {
	for _, c := range list(def["correlation"]) {
		o := object(c)
		if _, given := o["contextAttributeValue"]; given {
			continue
		}
		key := text(o["contextAttributeName"])
		has, ok := a.event[key]
		for _, in := range w.instances {
			v, fixed := in.fixed[key]
			if in.Status == Waiting && w.id(in.def) == w.id(w.c.Definitions[0]) && ok && fixed && equal(v, has) {
				return in
			}
		}
	}
	return nil
}

// releaseHeld lets start events of an instance that is over come again.
func (in *instance) releaseHeld() {
	for _, a := range in.held {
		state, _ := in.state(in.start())
		if _, limited, _ := in.eventLimit(state, "timeout", nil); !exclusive(state) && limited {
			in.w.isOpen(openHeld)
		}
		in.w.arrive(a)
	}
}

// fits compares the correlation of an event with given and fixed values.
func (w *world) fits(def, event, fixed map[string]any) bool {
	for _, c := range list(def["correlation"]) {
		o := object(c)
		key := text(o["contextAttributeName"])
		want, known := fixed[key]
		if given, ok := o["contextAttributeValue"]; ok {
			if strings.Contains(text(given), "${") {
				w.isOpen(openCondition)
			}
			want, known = given, true
		}
		has, ok := event[key]
		if known && !(ok && equal(want, has)) {
			return false
		}
	}
	return true
}

// gather takes an event, the i-th of n, towards a start, which begins when its set is complete.
func (w *world) gather(maker *instance, state, def map[string]any, i, n int, a arrival) {
	var set *gathering
	for _, s := range w.gathered {
		if s.events[i] == nil && w.fits(def, a.event, s.fixed) {
			set = s
			break
		}
	}
	if set == nil {
		set = &gathering{make([]*arrival, n), map[string]any{}}
		w.gathered = append(w.gathered, set)
		if limit, limited, err := maker.eventLimit(state, "timeout", nil); err == nil && limited {
			w.dropAt(w.now+limit, set)
		}
	}
	set.events[i] = &a
	for _, c := range list(def["correlation"]) {
		key := text(object(c)["contextAttributeName"])
		v, ok := a.event[key]
		if _, fixed := set.fixed[key]; ok && !fixed {
			set.fixed[key] = v
		}
	}
	var events []map[string]any
	for _, e := range set.events {
		if e == nil {
			return
		}
		events = append(events, e.event)
	}
	w.drop(set)
	w.startBy(events)
}

// dropAt gives a set up that is not complete by then.
func (w *world) dropAt(at time.Duration, set *gathering) {
	w.push(timer{at: at, order: atDeadline, alive: func() bool { return slices.Contains(w.gathered, set) }, fire: func() { w.drop(set) }})
}

// drop forgets a set: it is complete, or its time is over.
func (w *world) drop(set *gathering) {
	w.saw("a start by several events, complete or lapsed")
	w.gathered = slices.DeleteFunc(w.gathered, func(s *gathering) bool { return s == set })
}

func (w *world) startBy(events []map[string]any) {
	w.saw("a start by events")
	in := w.newInstance(w.c.Definitions[0], events)
	state, _ := in.state(in.start())
	in.startEvents(state) // its keys are its own from now on
	w.begin(in, map[string]any{})
}

// startEvents are the events that started the instance, as if they came now: also
// for retries, which use the same ones.
func (in *instance) startEvents(st map[string]any) (events []gotEvent, entry int) {
	refs := eventRefs(st)
	entry = -1
	for i, e := range in.given {
		for j, r := range refs {
			def := in.eventDef(r.name)
			if !sameKind(def, e) || !exclusive(st) && i != j {
				continue
			}
			x := wait{in: in, def: def, b: &box{closed: true}}
			x.consume(arrival{event: e, by: new([]taker)})
			events = append(events, gotEvent{r.entry, e, def})
			if exclusive(st) {
				return events, r.entry
			}
		}
	}
	return events, entry
}
