package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// router decides about events. It runs inside the store's transactions, so it holds
// copies of what it needs and calls nothing but the view.
type router struct {
	now    core.Time
	window core.Time
	starts map[string][]*definition // by type of event
	merged map[string]expr.Value
	seed   func(id string) uint64
	// deployed counts the deployments whose definitions it knows, in a shared store; 0: it knows none.
	deployed int64
	over     func(definition string) *QuotaError
}

func (e *Engine) newRouter() *router {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &router{
		now: e.now(), window: core.Time(e.cfg.EventWindow), seed: e.cfg.Seed, deployed: e.cluster.deployments,
		starts: e.startsByType(), merged: maps.Clone(e.merged),
		over: e.quotas.check,
	}
}

// decision is a routing under way.
type decision struct {
	store.Routing
	row   store.Event
	view  store.View
	given map[given]int // deliveries
	taken bool          // someone has the event
	again bool          // it is not routed for the first time
	notes []string      // whom it is kept for, and why
	why   []string      // what differed, if nobody has it
	over  *QuotaError   // that keeps it from starting an instance
}

// given is what deliveries are counted by: a one-shot ticket, or a standing wait, in all (event 0) and by event.
type given struct {
	instance string
	ticket   core.Ticket
	wait     core.FrameID
	event    int64
}

func givenTo(s store.Subscription, ev int64) given {
	if s.Ticket.Standing() {
		return given{instance: s.Instance, wait: s.Ticket.Wait(), event: ev}
	}
	return given{instance: s.Instance, ticket: s.Ticket}
}

// event routes one event: to subscriptions, to starts, and says why to no other.
func (r *router) event(ev store.Event, v store.View, again bool) *decision {
	d := &decision{row: ev, view: v, again: again, taken: again && ev.Taken}
	r.deliver(d)
	for _, def := range r.startsWith(ev.Event.Type) {
		r.start(d, def)
	}
	switch {
	case d.taken || len(d.row.For)+len(d.notes) > 0:
		d.why = nil
	case len(d.why) == 0:
		d.nearMisses()
	}
	d.row.Why = slices.Concat(d.notes, d.why)
	d.Events = append(d.Events, d.row)
	return d
}

// startsWith lists the definitions that events of a type may start, by id.
func (r *router) startsWith(typ string) []*definition {
	list := slices.Concat(r.starts[typ], r.starts[""])
	slices.SortFunc(list, func(a, b *definition) int { return strings.Compare(a.row.ID, b.row.ID) })
	return slices.Compact(list)
}

// deliver gives the event to every subscription that it matches, once each, and to one of those of a standing
// wait; never to the instance that produced it.
func (r *router) deliver(d *decision) {
	list := slices.DeleteFunc(d.view.Subscriptions(d.row.Event), func(s store.Subscription) bool {
		ok, _ := s.Filter.Match(d.row.Event)
		return !ok || s.Instance == d.row.Producer
	})
	checked := map[string]bool{} // false: the instance has more kept events to get
	for _, s := range list {
		if _, known := checked[s.Instance]; s.Ticket.Standing() && s.Fresh && !known {
			checked[s.Instance] = r.check(d, s.Instance)
		}
	}
	for _, s := range list {
		if d.gave(d.row, s) {
			continue
		}
		if d.again && !slices.ContainsFunc(d.view.Kept(s), func(k store.Event) bool { return k.Seq == d.row.Seq && r.visible(k, s) }) {
			continue
		}
		if r.comesLater(d, s, checked) {
			d.notes = append(d.notes, fmt.Sprintf("instance %q waits for it, and gets an earlier event first", s.Instance))
			continue
		}
		d.give(r, d.row, s)
	}
}

// comesLater reports whether a wait that has just begun may get an event that came before this one. What is not
// given now to one that wants nothing from before would be lost.
func (r *router) comesLater(d *decision, s store.Subscription, checked map[string]bool) bool {
	switch {
	case !s.Fresh || s.Filter.New:
		return false
	case s.Ticket.Standing():
		return !checked[s.Instance]
	}
	return slices.ContainsFunc(d.view.Kept(s), func(k store.Event) bool { return k.Seq < d.row.Seq && r.visible(k, s) })
}

// gave reports whether a subscription needs no further delivery: it is one-shot and has one, or its standing
// wait has this event.
func (d *decision) gave(ev store.Event, s store.Subscription) bool {
	return d.given[givenTo(s, ev.Seq)] > 0
}

// give delivers an event to a subscription. Instances look themselves at the places of events that the keys of
// standing waits name: each filter of such a wait may name others.
func (d *decision) give(r *router, ev store.Event, s store.Subscription) {
	d.taken = d.taken || ev.Seq == d.row.Seq
	if d.given == nil {
		d.given = map[given]int{}
	}
	keys := s.Filter.Keys
	d.given[givenTo(s, ev.Seq)]++
	if s.Ticket.Standing() {
		keys = nil
		d.given[givenTo(s, 0)]++
	}
	d.Deliver = append(d.Deliver, store.Delivery{
		Event: ev.Seq, Instance: s.Instance, At: r.now,
		Reply: core.Reply{Ticket: s.Ticket, Value: ev.Event.Handed(keys)},
	})
}

// visible says whether a wait may get an event that came before it began: one that
// came in the lifetime of its instance, or one that nobody took, if correlation says
// that it is meant (semantics.md §Events).
func (r *router) visible(ev store.Event, s store.Subscription) bool {
	if ev.Until <= r.now || s.Filter.New {
		return false
	}
	return ev.Seq > s.InstanceSeq || !ev.Taken && s.Filter.Correlated()
}

// keptBatch is how many kept events one routing gives to a standing wait ("kept-batch").
const keptBatch = 256

// fresh compares new subscriptions of an instance with kept events.
func (r *router) fresh(id string, v store.View) store.Routing {
	d := &decision{view: v}
	r.check(d, id)
	return d.Routing
}

// check gives kept events to the fresh subscriptions of an instance, first in, first out: the oldest to each
// that is one-shot, and to a standing wait as many as it wants. It reports false where more are left; the
// instance stays unchecked then, and nothing overtakes them.
func (r *router) check(d *decision, id string) (done bool) {
	type match struct {
		ev store.Event
		s  store.Subscription
	}
	var found []match
	for _, s := range d.view.Fresh(id) {
		for _, ev := range d.view.Kept(s) {
			if ok, _ := s.Filter.Match(ev.Event); !ok || !r.visible(ev, s) {
				continue
			}
			if found = append(found, match{ev, s}); !s.Ticket.Standing() {
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.ev.Seq, b.ev.Seq) })
	done = true
	for _, m := range found {
		switch {
		case d.gave(m.ev, m.s):
		case m.s.Ticket.Standing() && d.enough(m.s):
			done = false
		default:
			d.give(r, m.ev, m.s)
		}
	}
	if done {
		d.Checked = append(d.Checked, id)
	}
	return done
}

// enough reports whether a standing wait gets no more kept events by this routing.
func (d *decision) enough(s store.Subscription) bool {
	n := d.given[givenTo(s, 0)]
	return n >= keptBatch || s.Filter.Most > 0 && n >= s.Filter.Most
}

// start lets the event begin an instance of a definition, or belong to one that runs.
func (r *router) start(d *decision, def *definition) {
	slots := r.slots(d, def)
	if len(slots) == 0 || slices.Contains(d.row.Used, def.row.ID) {
		return
	}
	if d.row.Origin == def.row.ID {
		d.why = append(d.why, fmt.Sprintf("definition %q produced it, and does not start itself", def.row.ID))
		return
	}
	if !def.schedule.listens(r.now) {
		d.why = append(d.why, fmt.Sprintf("definition %q starts with it, but its schedule is not active", def.row.ID))
		return
	}
	keys := r.freeKeys(d, def, slots)
	if d.again && d.row.Taken && d.view.Got(d.row.Seq, def.row.ID, keys) {
		return // since it was decided that it must be routed again
	}
	if owner, ok := d.view.Owner(def.row.ID, keys); ok && !def.prog.Start.AsInput {
		r.belong(d, owner)
		return
	}
	if over := r.over(def.row.ID); over != nil && !d.again { // else nobody could send it again
		d.over = over
		d.notes = append(d.notes, fmt.Sprintf("definition %q starts with it, but %v", def.row.ID, over))
		return
	}
	if def.prog.Start.All || len(def.prog.Start.Any) > 0 {
		r.gather(d, def, slots)
		return
	}
	ev := d.row.Event
	id := plain(deriveID("event", def.row.ID, ev.Source, ev.ID, d.row.Received.String()))
	r.create(d, def, id, []arrival{{def.prog.Start.Events[slots[0]], ev}})
	d.row.Used = append(slices.Clone(d.row.Used), def.row.ID)
}

// slots are the positions of the definition's start events that the event matches.
func (r *router) slots(d *decision, def *definition) []int {
	var out []int
	for i, id := range def.prog.Start.Events {
		decl := &def.prog.Events[id]
		f := filterOf(decl, def.prog.StartKeys(id, r.input(def)))
		ok, why := f.Match(d.row.Event)
		if ok && !def.prog.StartsWith(id, d.row.Event.Handed(f.Keys)) {
			ok, why = false, "a condition of its filter does not hold"
		}
		switch {
		case ok:
			out = append(out, i)
		case decl.Type == d.row.Event.Type:
			d.why = append(d.why, Miss{Definition: def.row.ID, Name: decl.Name, Differs: why}.String())
		}
	}
	return out
}

// filterOf says which events are the declared one, with keys as they are now.
func filterOf(decl *ir.Event, keys []core.Key) event.Filter {
	f := event.Filter{Source: decl.Source, Type: decl.Type, Either: decl.Either, New: decl.New}
	for _, k := range keys {
		key := event.Key{Name: k.Name, Value: k.Value, Fixed: k.Fixed, Void: k.Void}
		for _, c := range decl.Correlate {
			if c.Attribute == k.Name {
				key.From = c.From
			}
		}
		f.Keys = append(f.Keys, key)
	}
	return f
}

// valueOf is what an event has for a correlation attribute.
func valueOf(p *core.Program, ev event.Event, c ir.Correlation) (string, bool) {
	if c.Select != 0 {
		return p.KeyOf(c, ev.Value())
	}
	return event.Key{Name: c.Attribute, From: c.From}.Of(ev)
}

func (r *router) input(def *definition) expr.Value {
	if v, ok := r.merged[def.row.ID]; ok {
		return v
	}
	return expr.EmptyObject
}

// freeKeys are the correlation attributes of the event whose value the definition does
// not give: they say which instance it belongs to.
func (r *router) freeKeys(d *decision, def *definition, slots []int) []core.Key {
	var out []core.Key
	for _, slot := range slots {
		for _, c := range def.prog.Events[def.prog.Start.Events[slot]].Correlate {
			text, ok := valueOf(def.prog, d.row.Event, c)
			if c.Value == 0 && ok && !slices.ContainsFunc(out, func(k core.Key) bool { return k.Name == c.Attribute }) {
				out = append(out, core.Key{Name: c.Attribute, Value: text, Fixed: true})
			}
		}
	}
	return out
}

// belong keeps the event for an instance that runs under the same key, unless that has it.
func (r *router) belong(d *decision, owner store.Instance) {
	for _, g := range d.Deliver {
		if g.Instance == owner.ID && g.Event == d.row.Seq {
			return
		}
	}
	if slices.Contains(d.row.For, owner.ID) || owner.ID == d.row.Producer {
		return
	}
	d.row.For = append(slices.Clone(d.row.For), owner.ID)
	d.notes = append(d.notes, fmt.Sprintf("it belongs to instance %q, which does not wait for it now", owner.ID))
}

// arrival is an event that starts an instance, as one that its definition declares.
type arrival struct {
	id ir.EventID
	ev event.Event
}

// create starts an instance with the events it was started by. Its correlation
// attributes are known from the beginning, for events that come before its first step.
func (r *router) create(d *decision, def *definition, id string, arrivals []arrival) {
	row := newRow(def, id, r.now)
	start := core.Start{Data: r.input(def), Seed: r.seed(id)}
	for _, a := range arrivals {
		row.Trace = cmp.Or(row.Trace, traceOfEvent(&a.ev))
		if !def.prog.Start.AsInput { // then nothing that follows belongs to it
			row.Keys = fixKeys(row.Keys, def.prog, a.id, a.ev)
		}
		start.Events = append(start.Events, core.Arrival{
			Event: a.id, Value: a.ev.Handed(filterOf(&def.prog.Events[a.id], def.prog.StartKeys(a.id, start.Data)).Keys),
		})
	}
	d.taken = true
	d.Start = append(d.Start, store.NewInstance{Instance: row, Start: start})
}

// fixKeys adds the correlation attributes that an event fixes.
func fixKeys(keys []core.Key, p *core.Program, id ir.EventID, ev event.Event) []core.Key {
	for _, c := range p.Events[id].Correlate {
		text, ok := valueOf(p, ev, c)
		if ok && !slices.ContainsFunc(keys, func(k core.Key) bool { return k.Name == c.Attribute }) {
			keys = append(keys, core.Key{Name: c.Attribute, Value: text, Fixed: true})
		}
	}
	return keys
}

// maxReasons bounds how many near misses are told.
const maxReasons = 10

// nearMisses says what differed from what instances wait for.
func (d *decision) nearMisses() {
	for _, s := range d.view.Near(d.row.Event, maxReasons) {
		if s.Instance == d.row.Producer {
			d.why = append(d.why, fmt.Sprintf("instance %q waits for %q, but produced it itself", s.Instance, s.Name))
			continue
		}
		if ok, why := s.Filter.Match(d.row.Event); !ok {
			d.why = append(d.why, Miss{Instance: s.Instance, Name: s.Name, Differs: why}.String())
		}
	}
	if len(d.why) == 0 {
		d.why = append(d.why, fmt.Sprintf("no instance waits for events of type %q, and no definition starts with them", d.row.Event.Type))
	}
}
