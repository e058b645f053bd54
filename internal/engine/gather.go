package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// gather adds an event to a start that needs several: to the oldest gathering that it
// fits, else to a new one. The last event creates the instance.
func (r *router) gather(d *decision, def *definition, slots []int) {
	g, free := r.gathering(d, def, slots)
	common := commonKeys(def)
	g.Events = slices.Clone(g.Events)
	g.Keys = slices.Clone(g.Keys)
	for _, slot := range free {
		g.Events[slot] = d.row.Seq
		g.Keys = fixKeys(g.Keys, def.prog, def.prog.Start.Events[slot], d.row.Event)
	}
	g.Key = gatheringKey(common, g.Keys)
	need, complete := r.complete(d, def, g)
	if !complete && g.Until <= r.now { // the others cannot come in time any more
		d.why = append(d.why, fmt.Sprintf("definition %q starts with it, but it came too long ago", def.row.ID))
		return
	}
	d.taken = true
	d.row.Used = append(slices.Clone(d.row.Used), def.row.ID)
	d.row.Until = max(d.row.Until, g.Until)
	if !complete {
		d.Gather = append(d.Gather, g)
		d.notes = append(d.notes, fmt.Sprintf("definition %q starts with it once its other events are there", def.row.ID))
		return
	}
	cause := []string{def.row.ID}
	var arrivals []arrival
	var used []int64
	for _, slot := range need.Slots {
		ev, ok := d.kept(g.Events[slot])
		if !ok {
			continue // cannot be: it is kept as long as the gathering
		}
		used = append(used, ev.Seq)
		cause = append(cause, ev.Event.Source, ev.Event.ID, ev.Received.String())
		arrivals = append(arrivals, arrival{def.prog.Start.Events[slot], ev.Event})
	}
	if def.prog.Start.AsInput { // in the order in which they came
		order := slices.Clone(used)
		slices.Sort(order)
		sorted := make([]arrival, len(arrivals))
		for i, seq := range used {
			sorted[slices.Index(order, seq)] = arrivals[i]
		}
		arrivals = sorted
	}
	r.create(d, def, plain(deriveID("events", cause...)), arrivals)
	r.rest(d, g, used)
}

// rest goes on gathering with the events that the instance does not begin with.
func (r *router) rest(d *decision, g store.Gathering, used []int64) {
	left := false
	for slot, seq := range g.Events {
		if slices.Contains(used, seq) {
			g.Events[slot] = 0
		}
		left = left || g.Events[slot] != 0
	}
	switch {
	case left:
		d.Gather = append(d.Gather, g)
	case g.Seq != 0:
		d.Drop = append(d.Drop, g.Seq)
	}
}

// kept finds an event: the one that is being routed, or an earlier one.
func (d *decision) kept(seq int64) (store.Event, bool) {
	if seq == d.row.Seq {
		return d.row, true
	}
	return d.view.Event(seq)
}

// needs are the sets of events that start an instance: one of all, or several.
func needs(s *ir.Start) []ir.Need {
	if !s.All {
		return s.Any
	}
	all := ir.Need{Window: s.Window}
	for slot := range s.Events {
		all.Slots = append(all.Slots, slot)
	}
	return []ir.Need{all}
}

// complete finds the first set whose events are all there and came within its time.
func (r *router) complete(d *decision, def *definition, g store.Gathering) (ir.Need, bool) {
next:
	for _, need := range needs(&def.prog.Start) {
		first, last := d.row.Received, d.row.Received
		for _, slot := range need.Slots {
			ev, ok := d.kept(g.Events[slot])
			if !ok {
				continue next
			}
			first, last = min(first, ev.Received), max(last, ev.Received)
		}
		if first == last || r.deadline(need.Window, first) > last {
			return need, true
		}
	}
	return ir.Need{}, false
}

// gathering finds the one that an event goes to, and the slots that it fills there.
func (r *router) gathering(d *decision, def *definition, slots []int) (store.Gathering, []int) {
	for _, g := range r.candidates(d, def, slots) {
		if g.Until <= r.now || len(g.Events) != len(def.prog.Start.Events) {
			continue
		}
		var free []int
		for _, slot := range slots {
			if g.Events[slot] == 0 && r.fits(d, def, g, slot) {
				free = append(free, slot)
			}
		}
		if len(free) > 0 && def.prog.Start.AsInput {
			free = free[:1] // an event is in the input once
		}
		if len(free) > 0 {
			return g, free
		}
	}
	g := store.Gathering{Definition: def.row.ID, Digest: def.row.Digest, Events: make([]int64, len(def.prog.Start.Events))}
	for _, need := range needs(&def.prog.Start) {
		g.Until = max(g.Until, r.deadline(need.Window, d.row.Received))
	}
	if def.prog.Start.AsInput {
		slots = slots[:1]
	}
	return g, slots
}

// commonKeys are the correlation attributes that all events of a start have and whose
// value the definition does not give. Gatherings are found by them.
func commonKeys(def *definition) []string {
	var out []string
	for i, id := range def.prog.Start.Events {
		var names []string
		for _, c := range def.prog.Events[id].Correlate {
			if c.Value == 0 && (i == 0 || slices.Contains(out, c.Attribute)) {
				names = append(names, c.Attribute)
			}
		}
		out = names
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gatheringKey says by what a gathering is found: by the values of all common keys. One that
// has not all of them may fit events with any; an event that lacks one fits no other.
func gatheringKey(common []string, keys []core.Key) string {
	var values []string
	for _, name := range common {
		i := slices.IndexFunc(keys, func(k core.Key) bool { return k.Name == name })
		if i < 0 {
			return ""
		}
		values = append(values, keys[i].Value)
	}
	if len(values) == 0 {
		return ""
	}
	return deriveID("key", values...)
}

// superseded makes sure that the engine knows the version that put an end to a gathering
// before its events are routed again.
func (e *Engine) superseded(ctx context.Context, g store.Gathering) error {
	if g.Until != 0 {
		return nil
	}
	e.mu.Lock()
	d := e.byID[aliasKey{g.Definition, ""}]
	e.mu.Unlock()
	if d == nil || d.row.Digest != g.Digest {
		return nil
	}
	if _, err := e.refresh(ctx, g.Definition); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// candidates are the gatherings that an event may fit, oldest first.
func (r *router) candidates(d *decision, def *definition, slots []int) []store.Gathering {
	common := commonKeys(def)
	var out []store.Gathering
	var asked []string
	for _, slot := range slots { // the same attribute may be found elsewhere for each
		key := gatheringKey(common, r.freeKeys(d, def, []int{slot}))
		if !slices.Contains(asked, key) {
			asked = append(asked, key)
			out = append(out, d.view.Gatherings(def.row.ID, def.row.Digest, key)...)
		}
	}
	if len(asked) > 1 {
		slices.SortFunc(out, func(a, b store.Gathering) int { return cmp.Compare(a.Seq, b.Seq) })
		out = slices.CompactFunc(out, func(a, b store.Gathering) bool { return a.Seq == b.Seq })
	}
	return out
}

// fits says whether the event has the correlation attributes of those that are there
// already. One that lacks an attribute fits only while that is not fixed.
func (r *router) fits(d *decision, def *definition, g store.Gathering, slot int) bool {
	for _, c := range def.prog.Events[def.prog.Start.Events[slot]].Correlate {
		if c.Value != 0 {
			continue // it has the given value, or the slot would not match
		}
		i := slices.IndexFunc(g.Keys, func(k core.Key) bool { return k.Name == c.Attribute })
		if i < 0 {
			continue
		}
		if text, ok := valueOf(def.prog, d.row.Event, c); !ok || text != g.Keys[i].Value {
			return false
		}
	}
	return true
}

// deadline is when a gathering ends: the definition's time from the first to the last
// event, else as long as events are kept.
func (r *router) deadline(w ir.Span, first core.Time) core.Time {
	if !w.Set || w.Expr != 0 {
		return first + r.window
	}
	end := calendar.Duration{Months: w.Months, Days: w.Days, Nanos: w.Nanos}.AddTo(first.Std())
	if end.Year() > lastYear {
		return first + r.window
	}
	return core.TimeOf(end)
}

// expire ends a gathering and releases its events. If another version of the definition is current,
// which may begin with them too, they are routed again.
func (r *router) expire(g store.Gathering, v store.View) store.Routing {
	var out store.Routing
	open := v.Gatherings(g.Definition, g.Digest, g.Key)
	i := slices.IndexFunc(open, func(o store.Gathering) bool { return o.Seq == g.Seq })
	if i < 0 {
		return out
	}
	out.Drop = []int64{g.Seq}
	for _, seq := range open[i].Events {
		ev, ok := v.Event(seq)
		if !ok || slices.ContainsFunc(out.Events, func(o store.Event) bool { return o.Seq == seq }) {
			continue
		}
		ev.Used = slices.DeleteFunc(slices.Clone(ev.Used), func(id string) bool { return id == g.Definition })
		if open[i].Until == 0 || ev.Again { // an instance that it was kept for may be over
			out.Again = append(out.Again, seq)
		}
		if open[i].Until != 0 {
			ev.Why = append(slices.Clone(ev.Why), fmt.Sprintf("definition %q starts with it, but the other events it needs did not come in time", g.Definition))
		}
		out.Events = append(out.Events, ev)
	}
	return out
}
