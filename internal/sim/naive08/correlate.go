package naive08

import (
	"maps"
	"slices"
	"time"
)

// arrival is an event and when it came, from which instance if from one, and which
// instances have taken it.
type arrival struct {
	event map[string]any
	at    time.Duration
	from  *instance
	by    *[]taker
	seq   int // in one count with instances
}

type taker struct {
	in *instance
	at time.Duration
}

// wait is one event that an instance waits for.
type wait struct {
	in    *instance
	b     *box
	index int
	def   map[string]any
	data  any // for the expressions of its correlation
}

// gotEvent is an event that came for a wait; timedOut that the time is over.
type (
	gotEvent struct {
		index int
		event map[string]any
		def   map[string]any
	}
	timedOut struct{}
)

// eventDef finds the definition of an event by its name.
func (in *instance) eventDef(name string) map[string]any {
	for _, e := range list(in.def["events"]) {
		if object(e)["name"] == name {
			return object(e)
		}
	}
	panic("naive08: no event " + name)
}

// await waits for events, for one of them where any is set. Those that were kept
// come first, in the order of their arrival.
func (in *instance) await(b *box, data any, any bool, names ...string) {
	var waits []*wait
	for i, name := range names {
		waits = append(waits, &wait{in: in, b: b, index: i, def: in.eventDef(name), data: data})
	}
	for _, a := range in.w.kept {
		for i, x := range waits {
			if x.takes(a) {
				in.w.saw("an early event")
				x.consume(a)
				if any {
					return
				}
				waits = slices.Delete(waits, i, i+1)
				break
			}
		}
	}
	in.w.waits = append(in.w.waits, waits...)
}

// takes reports whether an event is the one waited for: source, type, correlation.
func (x *wait) takes(a arrival) bool {
	if !sameKind(x.def, a.event) {
		return false
	}
	if a.from == x.in {
		x.in.w.saw("an event of its own")
		return false
	}
	if a.from != nil {
		x.in.w.saw("an event of another instance")
		if a.at == x.in.Created { // which of the two was first?
			x.in.w.isOpen(openTie)
		}
	}
	for _, t := range *a.by {
		if t.in == x.in {
			if t.at == x.in.w.now { // does it go to all waits of one instance?
				x.in.w.isOpen(openTwice)
			}
			return false
		}
	}
	correlation := list(x.def["correlation"])
	if a.seq < x.in.seq {
		if len(correlation) == 0 {
			return false
		}
		x.in.w.isOpen(openOld)
	}
	for _, c := range correlation {
		want, known := x.wants(object(c))
		has, ok := a.event[text(object(c)["contextAttributeName"])]
		if known && !(ok && equal(want, has)) {
			if x.in.fixedAt == x.in.w.now && x.in.w.now > x.in.Created { // which event was to fix it?
				x.in.w.isOpen(openTie)
			}
			x.in.w.saw("an event with another correlation")
			return false
		}
		if known {
			x.in.w.saw("an event with the right correlation")
		}
	}
	return true
}

// wants is the value an attribute must have: the given one, else the one fixed by
// the first event consumed.
func (x *wait) wants(c map[string]any) (any, bool) {
	if given, ok := c["contextAttributeValue"]; ok {
		v, err := x.in.template(given, x.data, nil)
		if _, isText := v.(string); err != nil || !isText && v != nil {
			x.in.w.isOpen(openCondition)
		}
		return v, true // what is not there equals nothing
	}
	v, ok := x.in.fixed[text(c["contextAttributeName"])]
	return v, ok
}

func (x *wait) consume(a arrival) {
	for _, c := range list(x.def["correlation"]) {
		key := text(object(c)["contextAttributeName"])
		v, ok := a.event[key]
		if _, fixed := x.in.fixed[key]; ok && !fixed {
			x.in.fixed[key] = v
			x.in.fixedAt = x.in.w.now
		}
	}
	*a.by = append(*a.by, taker{x.in, x.in.w.now})
	x.b.post(gotEvent{x.index, a.event, x.def})
}

// see makes the correlation attributes of a consumed event visible to the actions
// that follow in the state, as in 0.5.
func (t *thread) see(g gotEvent) {
	seen := maps.Clone(t.seen)
	if seen == nil {
		seen = map[string]any{}
	}
	for _, c := range list(g.def["correlation"]) {
		key := text(object(c)["contextAttributeName"])
		if v, ok := g.event[key]; ok {
			seen[key] = v
		}
	}
	t.seen = seen
}

// sameKind compares source and type; what a definition does not say is any.
func sameKind(def, event map[string]any) bool {
	for _, key := range []string{"source", "type"} {
		if want := text(def[key]); want != "" && want != event[key] {
			return false
		}
	}
	return true
}

// arrive gives an event to all who wait for it, starts what it starts, and keeps it
// for those who will: every instance may take it, once.
func (w *world) arrive(a arrival) {
	a.by = new([]taker)
	w.seq++
	a.seq = w.seq
	var takers []*wait
	waits := w.waits
	w.waits = nil
	for _, x := range waits {
		switch {
		case !x.b.alive():
		case x.takes(a):
			takers = append(takers, x)
		default:
			w.waits = append(w.waits, x)
		}
	}
	for _, x := range takers {
		x.consume(a)
	}
	if len(takers) > 1 || len(takers) > 0 && a.from != nil {
		w.shared = w.now // in which order they go on is nobody's promise
	}
	if w.starts(a) {
		return
	}
	w.kept = append(w.kept, a)
}
