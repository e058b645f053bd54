package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// gathering is a start that needs several events and has some of them.
type gathering struct {
	events []*arrival            // by reference; nil: not there yet
	fixed  map[string]expr.Value // by the first of them
}

// starts begins an instance if the event does, or adds to the set that does
// (0.5 §Event State). It reports whether the event was used.
func (w *world) starts(a arrival) bool {
	if w.c.ByHand {
		return false
	}
	maker := &instance{w: w, def: w.c.Def}
	state := maker.state(maker.start())
	refs := eventRefs(state)
	for i, r := range refs {
		def := maker.eventDef(r.name)
		if !sameKind(def, a.event) {
			continue
		}
		if in := w.owner(def, a); in != nil {
			w.saw("a start event for a running instance")
			in.held = append(in.held, a)
			return true
		}
		if exclusive(state) {
			if !w.fits(def, a.event, nil) {
				return false
			}
			w.begin([]expr.Value{a.event})
			return true
		}
		return w.gather(state, def, i, len(refs), a)
	}
	return false
}

// owner is the running instance whose key a start event bears.
func (w *world) owner(def expr.Value, a arrival) *instance {
	for _, c := range get(def, "correlation").Items() {
		if _, given := c.Get("contextAttributeValue"); given {
			continue
		}
		key := str(c, "contextAttributeName")
		has, ok := attribute(c, a.event)
		for _, in := range w.instances {
			v, fixed := in.fixed[key]
			if in.Status == Waiting && in.def.Same(w.c.Def) && ok && fixed && expr.Equal(v, has) {
				return in
			}
		}
	}
	return nil
}

// releaseHeld lets start events of an instance that is over come again.
func (in *instance) releaseHeld() {
	for _, a := range in.held {
		if in.w.lang.gathersInTime(in) {
			in.w.isOpen(openHeld)
		}
		in.w.arrive(a)
	}
}

func (language05) gathersInTime(in *instance) bool {
	state := in.state(in.start())
	return !exclusive(state) && str(state, "timeout") != ""
}

// fits compares the correlation of an event with given and fixed values.
func (w *world) fits(def, event expr.Value, fixed map[string]expr.Value) bool {
	for _, c := range get(def, "correlation").Items() {
		key := str(c, "contextAttributeName")
		want, known := fixed[key]
		if given, ok := c.Get("contextAttributeValue"); ok {
			if strings.Contains(given.Str(), "{{") {
				w.isOpen(openGiven)
			}
			want, known = given, true
		}
		has, ok := attribute(c, event)
		if known && !(ok && expr.Equal(want, has)) {
			return false
		}
	}
	return true
}

// setFor adds an event, the i-th of n, to the first set that lacks it and has its key, or to
// a fresh one.
func (w *world) setFor(def expr.Value, i, n int, a arrival) (set *gathering, fresh bool) {
	for _, s := range w.gathered {
		if s.events[i] == nil && w.fits(def, a.event, s.fixed) {
			s.events[i] = &a
			return s, false
		}
	}
	set = &gathering{make([]*arrival, n), map[string]expr.Value{}}
	set.events[i] = &a
	w.gathered = append(w.gathered, set)
	return set, true
}

// dropAt gives a set up that is not complete by then.
func (w *world) dropAt(at time.Duration, set *gathering) {
	w.at(at, func() bool { return slices.Contains(w.gathered, set) }, func() { w.drop(set) })
}

// gather takes an event towards a start, which begins when its set is complete.
func (w *world) gather(state, def expr.Value, i, n int, a arrival) bool {
	if !w.fits(def, a.event, nil) {
		return false
	}
	set, fresh := w.setFor(def, i, n, a)
	if limit := str(state, "timeout"); fresh && limit != "" {
		w.dropAt(w.now+w.span(limit), set)
	}
	for _, c := range get(def, "correlation").Items() {
		key := str(c, "contextAttributeName")
		v, ok := attribute(c, a.event)
		if _, fixed := set.fixed[key]; ok && !fixed {
			set.fixed[key] = v
		}
	}
	var events []expr.Value
	for _, e := range set.events {
		if e == nil {
			return true
		}
		events = append(events, e.event)
	}
	w.drop(set)
	w.begin(events)
	return true
}

// drop forgets a set: it is complete, or its time is over.
func (w *world) drop(set *gathering) {
	w.saw("a start by several events, complete or lapsed")
	w.gathered = slices.DeleteFunc(w.gathered, func(s *gathering) bool { return s == set })
}

func (w *world) begin(events []expr.Value) {
	w.saw("a start by events")
	in := w.newInstance(w.c.Def, events)
	in.startEvents(in.state(in.start())) // its keys are its own from now on
	w.spawn(nil, func(t *thread) { _, _ = in.run(t, expr.EmptyObject) })
}

// startEvents are the events that started the instance, as if they came now: also
// for retries, which use the same ones.
func (in *instance) startEvents(st expr.Value) (events []got, entry int, ok bool) {
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
			events = append(events, got{index: r.entry, event: e, def: def})
			if exclusive(st) {
				return events, r.entry, true
			}
		}
	}
	return events, entry, true
}
