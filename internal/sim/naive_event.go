package sim

import (
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// arrival is an event and when it came, from which instance if from one, and which
// instances have taken it.
type arrival struct {
	event expr.Value
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
	def   expr.Value
	data  expr.Value // for the expressions of its correlation
	name  string     // 0.1: of the event
	gone  bool       // 0.1: it does not matter any more
}

// got is an event that came for a wait; timedOut that the time is over.
type (
	got struct {
		index int
		event expr.Value
		def   expr.Value // of the event
		name  string
	}
	timedOut struct{}
)

func (b *box) close() { b.closed = true }

// eventDef finds the definition of an event by its name.
func (in *instance) eventDef(name string) expr.Value {
	for _, e := range get(in.def, "events").Items() {
		if str(e, "name") == name {
			return e
		}
		for _, n := range get(e, "names").Items() {
			if n.Str() == name {
				return e
			}
		}
	}
	panic("sim: no event " + name)
}

// await waits for events, for one of them where any is set. Those that were kept
// come first, in the order of their arrival.
func (in *instance) await(b *box, data expr.Value, any bool, names ...string) {
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
	correlation := get(x.def, "correlation").Items()
	if a.seq < x.in.seq {
		if len(correlation) == 0 {
			return false
		}
		x.in.w.isOpen(openOld)
	}
	for _, c := range correlation {
		want, known := x.wants(c)
		has, ok := attribute(c, a.event)
		if known && !(ok && expr.Equal(want, has)) {
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
func (x *wait) wants(c expr.Value) (expr.Value, bool) {
	if given, ok := c.Get("contextAttributeValue"); ok {
		v := x.in.w.fill(given, x.data)
		if v.Kind() != expr.KindString && !v.IsNull() {
			x.in.w.isOpen(openGiven)
		}
		return v, true // what is not there equals nothing
	}
	v, ok := x.in.fixed[str(c, "contextAttributeName")]
	return v, ok
}

func (x *wait) consume(a arrival) {
	for _, c := range get(x.def, "correlation").Items() {
		key := str(c, "contextAttributeName")
		v, ok := attribute(c, a.event)
		if _, fixed := x.in.fixed[key]; ok && !fixed {
			x.in.fixed[key] = v
			x.in.fixedAt = x.in.w.now
		}
	}
	*a.by = append(*a.by, taker{x.in, x.in.w.now})
	x.b.post(got{x.index, a.event, x.def, x.name})
}

// attribute is what an event has by which it is correlated: the attribute of that name,
// or where version 0.1 says it is.
func attribute(c, event expr.Value) (expr.Value, bool) {
	if token := str(c, "token"); token != "" {
		return token01(token, event)
	}
	return event.Get(str(c, "contextAttributeName"))
}

func sameKind(def, event expr.Value) bool {
	if either := str(def, "either"); either != "" && either != str(event, "type") && either != str(event, "id") {
		return false
	}
	for _, key := range []string{"source", "type"} {
		if want, ok := def.Get(key); ok && want.Str() != str(event, key) {
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
		case !x.b.alive() || x.gone:
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
	if w.lang.starts(w, a) {
		return
	}
	w.kept = append(w.kept, a)
}

// addEvent merges what the filter lets through of an event into the data
// (semantics.md §Data filters 4, 8, 9).
func (w *world) addEvent(data, event, filter expr.Value) expr.Value {
	path := ""
	for _, key := range []string{"dataOutputPath", "dataInputPath", "inputPath"} {
		if s := str(filter, key); s != "" {
			path = s
		}
	}
	payload, ok := event.Get("data")
	whole := contribution{value: payload, present: ok}
	if path == "" {
		return whole.addTo(data)
	}
	p := describe(path)
	if p.depth == 1 && p.definite && p.first == "data" {
		return whole.addTo(data)
	}
	if _, attribute := event.Get(p.first); attribute && p.first != "" {
		return w.keyed(path, event).addTo(data)
	}
	if !ok {
		return data
	}
	return w.keyed(path, payload).addTo(data)
}

// see makes the correlation attributes of a consumed event visible to the actions
// that follow in the state (semantics.md §Data filters 6).
func (t *thread) see(def, event expr.Value) {
	for _, c := range get(def, "correlation").Items() {
		key := str(c, "contextAttributeName")
		if v, ok := event.Get(key); ok {
			t.seen = t.seen.With(key, v)
		}
	}
}

// eventState waits for events and runs the actions of those that came.
func (in *instance) eventState(t *thread, st, data expr.Value) (expr.Value, error) {
	events, entry, ok := in.gather(t, st, data)
	if !ok {
		in.w.saw("the timeout of an event state")
		return data, nil // go on without any action
	}
	if entry < 0 {
		in.w.saw("an event state that needs all events")
	}
	entries := get(st, "onEvents").Items()
	for _, g := range events {
		t.see(g.def, g.event)
		data = in.w.addEvent(data, g.event, get(entries[g.index], "eventDataFilter"))
	}
	for i, e := range entries {
		if entry >= 0 && entry != i {
			continue
		}
		r, err := in.actions(t, e, data, expr.Null)
		if err != nil {
			return data, err
		}
		data = r.data
	}
	return data, nil
}

// gather waits for the events of an event state. entry is the one whose actions run,
// -1 for all. Each event bears the index of its entry.
func (in *instance) gather(t *thread, st, data expr.Value) (events []got, entry int, ok bool) {
	if in.given != nil && len(in.Path) == 1 {
		return in.startEvents(st)
	}
	refs := eventRefs(st)
	b := t.box()
	defer b.close()
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.name
	}
	in.await(b, data, exclusive(st), names...)
	if limit := str(st, "timeout"); limit != "" {
		b.after(in.w.span(limit), timedOut{})
	}
	if exclusive(st) {
		m, ok := b.receive().(got)
		if !ok {
			return nil, 0, false
		}
		entry = refs[m.index].entry
		return []got{{index: entry, event: m.event, def: m.def}}, entry, true
	}
	events = make([]got, len(refs))
	for n := range refs {
		m, ok := b.receive().(got)
		if !ok {
			if n > 0 && len(in.fixed) > 0 {
				in.w.isOpen(openPartial)
			}
			return nil, 0, false
		}
		events[m.index] = got{index: refs[m.index].entry, event: m.event, def: m.def}
	}
	return events, -1, true
}

type eventRef struct {
	entry int
	name  string
}

func eventRefs(st expr.Value) (refs []eventRef) {
	for i, e := range get(st, "onEvents").Items() {
		for _, name := range get(e, "eventRefs").Items() {
			refs = append(refs, eventRef{i, name.Str()})
		}
	}
	return refs
}

func exclusive(st expr.Value) bool {
	v, ok := st.Get("exclusive")
	return !ok || v.Bool()
}
