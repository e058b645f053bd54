package sim

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

// starts adds an event to those that begin an instance: all of one way in which the
// first state can hold.
func (l language01) starts(w *world, a arrival) bool {
	if w.c.ByHand {
		return false
	}
	maker := &instance{w: w, def: w.c.Def}
	st := scope{in: maker, def: w.c.Def, early: l.early}.start()
	names, sets, window := startSets(st)
	i := slices.IndexFunc(names, func(name string) bool { return sameKind(maker.trigger01(name), a.event) })
	if i < 0 {
		return false
	}
	def := maker.trigger01(names[i])
	if in := w.owner(def, a); in != nil {
		w.saw("a start event for a running instance")
		in.held = append(in.held, a)
		return true
	}
	set, fresh := w.setFor(def, i, len(names), a)
	if fresh && !window.IsNull() && len(sets) == 1 && len(sets[0]) > 1 {
		w.dropAt(w.now+w.span01(window), set)
	}
	for _, c := range get(def, "correlation").Items() {
		if v, ok := attribute(c, a.event); ok && len(set.fixed) == 0 {
			set.fixed["token"] = v
		}
	}
	for _, way := range sets {
		if events, as, ok := set.complete(names, way); ok {
			for _, name := range way {
				set.events[slices.Index(names, name)] = nil
			}
			if !slices.ContainsFunc(set.events, func(a *arrival) bool { return a != nil }) {
				w.drop(set)
			} else {
				w.saw("half of another start")
			}
			w.begin01(events, as)
			break
		}
	}
	return true
}

// startSets lists the events that begin a workflow, and the sets that do.
func startSets(st expr.Value) (names []string, sets [][]string, window expr.Value) {
	for _, e := range get(st, "events").Items() {
		window = get(e, "timeout")
		for _, way := range parse01(word(e, "event-expression").Str()).ways() {
			slices.Sort(way)
			way = slices.Compact(way)
			sets = append(sets, way)
			for _, name := range way {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names, sets, window
}

// complete reports whether all events of a way are there.
func (g *gathering) complete(names, way []string) (events []expr.Value, as []string, ok bool) {
	for _, name := range way {
		a := g.events[slices.Index(names, name)]
		if a == nil {
			return nil, nil, false
		}
		events, as = append(events, a.event), append(as, name)
	}
	return events, as, true
}

func (w *world) begin01(events []expr.Value, as []string) {
	w.saw("a start by events")
	in := w.newInstance(w.c.Def, events)
	in.givenAs = as
	for i, e := range events { // its keys are its own from now on
		x := wait{in: in, def: in.trigger01(as[i]), b: &box{closed: true}}
		x.consume(arrival{event: e, by: new([]taker)})
	}
	w.spawn(nil, func(t *thread) { _, _ = in.run(t, expr.EmptyObject) })
}
