package storetest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// ingest takes an event and routes it by chance.
func (p *pair) ingest(t *rapid.T) {
	e := store.Event{Event: p.event(t), Received: p.now, Until: p.now + core.Time(rapid.IntRange(0, 20).Draw(t, "window")), Producer: pick(t, "producer", "", "a")}
	r, look := p.drawRoute(t), p.drawLooks(t)
	emits, _ := p.model.Emits(ctx, 10)
	emit := -1
	if len(emits) > 0 && rapid.Bool().Draw(t, "of an emit") {
		emit = rapid.IntRange(0, len(emits)-1).Draw(t, "emit")
		e.Event, e.Producer = emits[emit].Event, emits[emit].Instance
	}
	p.both("ingest", func(s store.Store) (string, error) {
		seq := int64(0)
		if emit >= 0 {
			own, err := s.Emits(ctx, 10)
			if err != nil {
				return "", err
			}
			seq = own[emit].Seq
		}
		seen := ""
		got, err := look(s).Ingest(ctx, e, seq, func(ev store.Event, v store.View) (store.Routing, error) {
			out, text := r.route(ev, v)
			seen = text
			if r.fail {
				return out, errRouter
			}
			return out, nil
		})
		if r.fail { // what is over may be forgotten or not
			if err := s.Purge(ctx, p.now); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%s, seen %s", eventText(got), seen), err
	})
}

// route is what a router does, drawn before it runs.
type route struct {
	p       *pair
	fail    bool
	deliver []bool
	keep    []string
	use     bool
	start   []store.NewInstance
	why     []string
}

func (p *pair) drawRoute(t *rapid.T) route {
	r := route{p: p, fail: chance(t, "fails", 8), use: chance(t, "uses", 4), why: []string{"w"}}
	r.deliver = rapid.SliceOfN(rapid.Bool(), 8, 8).Draw(t, "deliver")
	if chance(t, "keeps", 3) {
		r.keep = []string{p.id(t)}
	}
	if chance(t, "starts", 4) {
		r.start = []store.NewInstance{{Instance: p.newRow(t, p.id(t)), Start: core.Start{Seed: 4}}}
	}
	return r
}

// drawLooks has the routers of the store look once, or several times.
func (p *pair) drawLooks(t *rapid.T) func(store.Store) store.Store {
	looks := pick(t, "looks", 1, 1, 2, 3, maxLooks)
	return func(s store.Store) store.Store {
		if s == p.model || looks == 1 {
			return s
		}
		return Looking(p.T, s, looks)
	}
}

// route gives an event to some of those that wait for it, and tells what it saw.
func (r route) route(e store.Event, v store.View) (out store.Routing, seen string) {
	subs := v.Subscriptions(e.Event)
	seen = fmt.Sprint(eventText(e), matching(subs, e.Event))
	n := 0
	for _, s := range subs {
		if ok, _ := s.Filter.Match(e.Event); !ok {
			continue
		}
		if n++; r.deliver[n%len(r.deliver)] {
			out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: s.Instance, At: r.p.now, Reply: core.Reply{Ticket: s.Ticket}})
		}
	}
	key := []core.Key{{Name: "k", Value: "1", Fixed: true}}
	if in, ok := v.Owner("d", key); ok {
		seen += " owner " + in.ID
	}
	seen += fmt.Sprint(" got ", v.Got(e.Seq, "d", key), " again ", e.Again)
	e.For = slices.Clone(r.keep)
	e.Why = r.why
	if r.use {
		e.Used = []string{"d"}
	}
	out.Events = []store.Event{e}
	out.Start = r.start
	return out, seen
}

// checkFresh compares new subscriptions with kept events.
func (p *pair) checkFresh(t *rapid.T) {
	id := p.id(t)
	if list, _ := p.model.Unchecked(ctx, 1); len(list) > 0 {
		id = list[0]
	}
	take, looking := rapid.Bool().Draw(t, "take"), p.drawLooks(t)
	p.both("check "+id, func(s store.Store) (string, error) {
		seen := ""
		err := looking(s).Route(ctx, func(v store.View) (store.Routing, error) {
			out := store.Routing{Checked: []string{id}}
			seen = ""
			for _, sub := range v.Fresh(id) {
				for _, e := range visible(v, sub) { // where none is, the subscription need not be fresh
					seen += fmt.Sprintf("%d: %s ", sub.Ticket, eventText(e))
					if take && len(out.Deliver) == 0 {
						out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: id, At: p.now, Reply: core.Reply{Ticket: sub.Ticket}})
					}
				}
			}
			return out, nil
		})
		return seen, err
	})
}

// visible lists the kept events that a subscription may get.
func visible(v store.View, s store.Subscription) []store.Event {
	return slices.DeleteFunc(v.Kept(s), func(e store.Event) bool {
		ok, _ := s.Filter.Match(e.Event)
		return !ok || e.Seq < s.InstanceSeq && !s.Filter.Correlated()
	})
}

// levelFresh is called after a commit. Where only one side has compared its new
// subscriptions with kept events, nothing was there to find; then both have.
func (p *pair) levelFresh(id string) {
	look := func(s store.Store) (tickets []core.Ticket, found map[core.Ticket]int) {
		found = map[core.Ticket]int{}
		err := s.Route(ctx, func(v store.View) (store.Routing, error) {
			tickets = nil
			for _, sub := range v.Fresh(id) {
				tickets = append(tickets, sub.Ticket)
				found[sub.Ticket] = len(visible(v, sub))
			}
			return store.Routing{}, nil
		})
		if err != nil {
			p.Fatal(err)
		}
		return tickets, found
	}
	real, inReal := look(p.real)
	model, inModel := look(p.model)
	if slices.Equal(real, model) {
		return
	}
	all := slices.Concat(real, model)
	for _, t := range all {
		if slices.ContainsFunc(all, func(o core.Ticket) bool { return o != t && o.Standing() && t.Standing() && o.Wait() == t.Wait() }) {
			continue // it may be listed for the sake of the other
		}
		if slices.Contains(real, t) != slices.Contains(model, t) && inReal[t]+inModel[t] > 0 {
			p.Fatalf("subscription %d of %s is fresh in the store: %v, in the model: %v, and events are kept for it", t, id, real, model)
		}
	}
	for _, s := range []store.Store{p.real, p.model} {
		err := s.Route(ctx, func(store.View) (store.Routing, error) {
			return store.Routing{Checked: []string{id}}, nil
		})
		if err != nil {
			p.Fatal(err)
		}
	}
}

// routeAgain routes events again, or any that is kept.
func (p *pair) routeAgain(t *rapid.T) {
	r, look := p.drawRoute(t), p.drawLooks(t)
	all, _ := allEvents(p.model)
	if len(all) == 0 {
		return
	}
	at := rapid.IntRange(0, len(all)-1).Draw(t, "which")
	until := p.now + core.Time(rapid.IntRange(0, 20).Draw(t, "until"))
	p.both("route again", func(s store.Store) (string, error) {
		own, err := allEvents(s)
		if err != nil {
			return "", err
		}
		seen := ""
		err = look(s).Route(ctx, func(v store.View) (store.Routing, error) {
			e, ok := v.Event(own[at].Seq)
			if !ok {
				return store.Routing{}, fmt.Errorf("event %d is not there", own[at].Seq)
			}
			e.Until = until
			out, text := r.route(e, v)
			seen = text
			if r.fail {
				return out, errRouter
			}
			return out, nil
		})
		return seen, err
	})
}

// gather makes, changes and drops gatherings.
func (p *pair) gather(t *rapid.T) {
	verb := pick(t, "verb", "new", "change", "drop")
	until := p.now + core.Time(rapid.IntRange(-3, 9).Draw(t, "until"))
	digest := pick(t, "digest", "x", "y")
	key := pick(t, "key", "", "k", "l")
	which := rapid.IntRange(0, 5).Draw(t, "which")
	look := p.drawLooks(t)
	p.both("gather", func(s store.Store) (string, error) {
		seen := ""
		err := look(s).Route(ctx, func(v store.View) (out store.Routing, err error) {
			list := v.Gatherings("d", digest, key)
			seen = ""
			for _, g := range list {
				seen += fmt.Sprint(g.Until, g.Key, g.Events, " ")
			}
			switch {
			case verb == "new":
				out.Gather = []store.Gathering{{Definition: "d", Digest: digest, Key: key, Events: []int64{1, 0}, Until: until}}
			case which >= len(list):
			case verb == "change":
				g := list[which]
				g.Until, g.Events, g.Key = until, []int64{1, 2}, key
				out.Gather = []store.Gathering{g}
			default:
				out.Drop = []int64{list[which].Seq}
			}
			return out, nil
		})
		return seen, err
	})
}

func eventText(e store.Event) string {
	return fmt.Sprintf("%s %d-%d by %q taken %t for %v used %v why %v", e.Event.Value(), e.Received, e.Until, e.Producer, e.Taken, e.For, e.Used, e.Why)
}
