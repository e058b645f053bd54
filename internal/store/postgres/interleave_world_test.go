package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// nodeStore is what operations need of a store.
type nodeStore interface {
	store.Store
	Deployments(ctx context.Context) (int64, error)
}

// reference is the reference store with what a store of many nodes has besides.
type reference struct {
	*memory.Store
	deployments int64
	blind       bool // commits do not see what is in the inbox
}

func (r *reference) Deployments(context.Context) (int64, error) { return r.deployments, nil }

func (r *reference) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) ([]store.Definition, error) {
	out, err := r.Store.PutDefinitions(ctx, ds, move)
	if err == nil {
		r.deployments++
	}
	return out, err
}

func (r *reference) DeleteDefinition(ctx context.Context, id, version string, next func(store.Definition) *store.Schedule) (*store.Definition, error) {
	out, err := r.Store.DeleteDefinition(ctx, id, version, next)
	if err == nil {
		r.deployments++
	}
	return out, err
}

func (r *reference) SetPolicy(ctx context.Context, p store.Policy) error {
	err := r.Store.SetPolicy(ctx, p)
	if err == nil {
		r.deployments++
	}
	return err
}

func (r *reference) Commit(ctx context.Context, c store.Commit) error {
	if c.Deployed != 0 && c.Deployed != r.deployments {
		return store.ErrOutdated
	}
	c.Unread = c.Unread && !r.blind
	return r.Store.Commit(ctx, c)
}

const (
	present = core.Time(100)  // when operations run
	future  = core.Time(1000) // until then events are kept
)

// world is what was there before the operations.
type world struct {
	store       nodeStore
	deployments int64
	events      map[string]int64           // Seqs by id
	rows        map[string]store.Instance  // by id
	inbox       map[string][]store.Message // by id of the instance
	emits       []store.Emit
	err         error
}

// piece is a part of the world. Which ones there are, the operations say.
type piece struct {
	name  string
	build func(*world)
}

// pieces in the order in which they are made.
var pieces = []piece{
	{"d", func(w *world) { // a definition with a schedule
		w.define("d", "1", "x", &store.Schedule{Definition: "d", Digest: "x", Next: 10})
		if w.err == nil {
			w.deployments, w.err = w.store.Deployments(ctx)
		}
	}},
	{"e", func(w *world) { w.define("e", "1", "y", nil) }},
	{"w", func(w *world) { // waits for an event and has produced one
		w.instance("w", "1", store.Commit{Subscribe: []store.Subscription{waitFor(1, "k", "1")}, Emits: []store.Emit{{Definition: "d", Event: eventOf("out", "v")}}})
		if w.err == nil {
			w.emits, w.err = w.store.Emits(ctx, 10)
		}
	}},
	{"o", func(w *world) { // does not wait for an event that is kept for it
		w.instance("o", "2", store.Commit{Subscribe: []store.Subscription{waitFor(9, "k", "none")}}) // such waits are known
		w.ingest(eventOf("kept", "t", "k", "2"), nil)
	}},
	{"m", func(w *world) { // an event is in its inbox
		w.instance("m", "3", store.Commit{Subscribe: []store.Subscription{waitFor(1, "k", "3")}})
		w.ingest(eventOf("got", "t", "k", "3"), nil)
		w.read("m")
	}},
	{"n", func(w *world) { // the same, and the event is to be routed again
		w.instance("n", "7", store.Commit{Subscribe: []store.Subscription{waitFor(1, "k", "7")}})
		w.ingest(eventOf("seven", "t", "k", "7"), func(r *store.Routing, seq int64) { r.Again = []int64{seq} })
		w.read("n")
	}},
	{"u", func(w *world) { // its wait was not compared yet with an event that is kept for it
		w.instance("u", "5", store.Commit{})
		w.ingest(eventOf("five", "t", "k", "5"), nil)
		row := w.rows["u"]
		w.check(w.store.Commit(ctx, store.Commit{Instance: row, Subscribe: []store.Subscription{waitFor(1, "k", "5")}}))
		row.Rev++
		w.rows["u"] = row
	}},
	{"v", func(w *world) { // its standing wait was not compared yet with an event that is kept for it, and has another one on its way
		w.instance("v", "8", store.Commit{Subscribe: []store.Subscription{waitFor(standing(1), "k", "8")}})
		w.ingest(eventOf("eight", "t", "k", "8"), nil)
		w.ingest(eventOf("nine", "t", "k", "9"), func(r *store.Routing, _ int64) { r.Start = nil })
		row := w.rows["v"]
		w.check(w.store.Commit(ctx, store.Commit{Instance: row, Subscribe: []store.Subscription{waitFor(standing(2), "k", "9")}}))
		row.Rev++
		w.rows["v"] = row
		w.read("v")
	}},
	{"f", func(w *world) { // is over
		w.instance("f", "6", store.Commit{})
		row := w.rows["f"]
		row.Status, row.Ended, row.Updated = core.Completed, 50, 50
		w.check(w.store.Commit(ctx, store.Commit{Instance: row}))
		row.Rev++
		w.rows["f"] = row
	}},
	{"cursor", func(w *world) { w.check(w.store.SetCursor(ctx, "a", 6)) }},
	{"tally", func(w *world) {
		w.check(w.store.AddTallies(ctx, []store.Hour{{At: 0, Tallies: []store.Tally{{Definition: "d", Started: 1}}}}, 0))
	}},
	{"late", func(w *world) { // an event whose time is up
		_, err := w.store.Ingest(ctx, store.Event{Event: eventOf("late", "x"), Received: 10, Until: 90}, 0, route(nil))
		w.check(err)
	}},
}

// build makes the world in a store.
func build(s nodeStore, needs []string) (*world, error) {
	w := &world{store: s, events: map[string]int64{}, rows: map[string]store.Instance{}, inbox: map[string][]store.Message{}}
	for _, p := range pieces {
		if slices.Contains(needs, p.name) && w.err == nil {
			p.build(w)
		}
	}
	return w, w.err
}

func (w *world) check(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *world) define(id, version, digest string, sched *store.Schedule) {
	_, err := store.PutDefinition(ctx, w.store, store.Definition{ID: id, Version: version, Digest: digest, Program: storetest.Program(digest), Deployed: 10}, sched, false)
	w.check(err)
}

func (w *world) instance(id, key string, c store.Commit) {
	c.Instance = store.Instance{ID: id, Definition: "d", Version: "1", Status: core.Waiting, Created: 10, Updated: 10, Keys: keyed(key)}
	w.check(w.store.Commit(ctx, c))
	c.Instance.Rev = 1
	w.rows[id] = c.Instance
}

func (w *world) ingest(e event.Event, change func(*store.Routing, int64)) {
	out, err := w.store.Ingest(ctx, store.Event{Event: e, Received: 20, Until: future}, 0, route(change))
	w.check(err)
	w.events[e.ID] = out.Seq
}

func (w *world) read(id string) {
	list, err := w.store.Messages(ctx, id)
	w.check(err)
	w.inbox[id] = list
}

func keyed(value string) []core.Key { return []core.Key{{Name: "k", Value: value, Fixed: true}} }

func eventOf(id, typ string, attributes ...string) event.Event {
	e := event.Event{ID: id, Source: "s", Type: typ}
	for i := 0; i < len(attributes); i += 2 {
		e.Put(attributes[i], expr.String(attributes[i+1]))
	}
	return e
}

// standing is a ticket that stays open.
func standing(n int) core.Ticket {
	t, err := core.ParseTicket(fmt.Sprintf("1.%d+", n))
	if err != nil {
		panic(err)
	}
	return t
}

func waitFor(t core.Ticket, name, value string) store.Subscription {
	return store.Subscription{Ticket: t, Name: "e", Filter: event.Filter{Type: "t", Keys: []event.Key{{Name: name, Value: value, Fixed: true}}}}
}

// The router does what the engine's does: it gives an event to whoever waits for it; one of type t starts an
// instance of d, or belongs to the one that has its key, and one of type s starts one of e; two of type g
// start one together.

func route(change func(*store.Routing, int64)) func(store.Event, store.View) (store.Routing, error) {
	return func(e store.Event, v store.View) (store.Routing, error) {
		out := routeEvent(e, v, false)
		if change != nil {
			change(&out, e.Seq)
		}
		return out, nil
	}
}

func routeEvent(e store.Event, v store.View, again bool) (out store.Routing) {
	for _, s := range v.Subscriptions(e.Event) {
		if ok, _ := s.Filter.Match(e.Event); !ok || s.Instance == e.Producer {
			continue
		}
		if s.Ticket.Standing() && s.Fresh && !slices.Contains(out.Checked, s.Instance) {
			check(v, s.Instance, &out)
		}
		if slices.ContainsFunc(out.Deliver, func(d store.Delivery) bool {
			return d.Instance == s.Instance && d.Event == e.Seq && d.Reply.Ticket == s.Ticket
		}) {
			continue
		}
		if again && !slices.ContainsFunc(v.Kept(s), func(k store.Event) bool { return k.Seq == e.Seq && mayGet(k, s) }) {
			continue
		}
		out.Deliver = append(out.Deliver, give(e, s))
	}
	e.Why = nil
	switch key, _ := e.Event.Attribute("k"); {
	case slices.Contains(e.Used, "d"), slices.Contains(e.Used, "e"):
	case e.Event.Type == "t":
		startByKey(&out, &e, v, keyed(key), again)
	case e.Event.Type == "s":
		e.Used = append(slices.Clone(e.Used), "e")
		out.Start = []store.NewInstance{{Instance: store.Instance{ID: "by " + e.Event.ID, Definition: "e", Version: "1", Digest: "y", Status: core.Running, Created: present}}}
	case e.Event.Type == "g":
		gatherByKey(&out, &e, v, key)
	}
	out.Events = append(out.Events, e)
	return out
}

func give(e store.Event, s store.Subscription) store.Delivery {
	return store.Delivery{Event: e.Seq, Instance: s.Instance, At: present, Reply: core.Reply{Ticket: s.Ticket, Value: e.Event.Value()}}
}

// mayGet is whether a wait may get an event that came before it began.
func mayGet(e store.Event, s store.Subscription) bool {
	return e.Until > present && (e.Seq > s.InstanceSeq || !e.Taken && s.Filter.Correlated())
}

func startByKey(out *store.Routing, e *store.Event, v store.View, keys []core.Key, again bool) {
	if again && e.Taken && v.Got(e.Seq, "d", keys) {
		return
	}
	owner, ok := v.Owner("d", keys)
	switch {
	case !ok:
		e.Used = append(slices.Clone(e.Used), "d")
		row := store.Instance{ID: "by " + e.Event.ID, Definition: "d", Version: "1", Status: core.Running, Created: present, Keys: keys}
		out.Start = append(out.Start, store.NewInstance{Instance: row, Start: core.Start{Seed: 1}})
	case slices.ContainsFunc(out.Deliver, func(d store.Delivery) bool { return d.Instance == owner.ID }), slices.Contains(e.For, owner.ID), owner.ID == e.Producer:
	default:
		e.For = append(slices.Clone(e.For), owner.ID)
		e.Why = []string{"it belongs to " + owner.ID}
	}
}

func gatherByKey(out *store.Routing, e *store.Event, v store.View, key string) {
	e.Used = append(slices.Clone(e.Used), "d")
	list := v.Gatherings("d", "x", key)
	if len(list) == 0 || list[0].Until == 0 {
		out.Gather = []store.Gathering{{Definition: "d", Digest: "x", Key: key, Keys: keyed(key), Events: []int64{e.Seq, 0}, Until: 500}}
		return
	}
	out.Drop = []int64{list[0].Seq}
	out.Start = []store.NewInstance{{Instance: store.Instance{ID: "by several " + key, Definition: "d", Version: "1", Digest: "x", Status: core.Running, Created: present}}}
}

// checkFresh compares new waits of an instance with kept events.
func checkFresh(id string) store.Router {
	return func(v store.View) (out store.Routing, err error) {
		check(v, id, &out)
		return out, nil
	}
}

func check(v store.View, id string, out *store.Routing) {
	out.Checked = append(out.Checked, id)
	for _, s := range v.Fresh(id) {
		for _, e := range v.Kept(s) {
			if ok, _ := s.Filter.Match(e.Event); ok && mayGet(e, s) {
				if out.Deliver = append(out.Deliver, give(e, s)); !s.Ticket.Standing() {
					break
				}
			}
		}
	}
}

// routeAgain routes a kept event once more.
func routeAgain(seq int64) store.Router {
	return func(v store.View) (out store.Routing, err error) {
		if e, ok := v.Event(seq); ok {
			out = routeEvent(e, v, true)
		}
		return out, nil
	}
}

// finish does what an engine does with what is left to be done about events, in the same order on every store.
func finish(s store.Store) (did bool, err error) {
	for range 8 {
		ids, err := s.Unchecked(ctx, 100)
		if err != nil {
			return did, err
		}
		seqs, err := s.Again(ctx, 100)
		if err != nil || len(ids)+len(seqs) == 0 {
			return did, err
		}
		did = true
		for _, id := range ids {
			if err := s.Route(ctx, checkFresh(id)); err != nil {
				return did, err
			}
		}
		page, err := s.Events(ctx, store.EventQuery{})
		if err != nil {
			return did, err
		}
		slices.SortFunc(page.Events, func(a, b store.Event) int { return compareText(a.Event.ID, b.Event.ID) })
		for _, e := range page.Events {
			if slices.Contains(seqs, e.Seq) {
				if err := s.Route(ctx, routeAgain(e.Seq)); err != nil {
					return did, err
				}
			}
		}
	}
	return did, fmt.Errorf("there is always more to route again")
}
