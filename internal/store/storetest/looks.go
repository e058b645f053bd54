package storetest

import (
	"context"
	"fmt"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// maxLooks is how often a router looks at most in these tests. A store that lets others commit
// between a look and the write locks them out at some time: it must do so by then.
const maxLooks = 7

// looking is a store whose routers are called several times for one decision. In a Shared
// store another commit changes what a router looked at before its decision is written, so that
// the store itself calls it again. In others nothing can come in between: the router is called
// several times in one transaction.
type looking struct {
	store.Store
	t interface {
		Errorf(format string, args ...any)
		Fatal(args ...any)
	}
	looks int
}

// Looking has every router of a store look so many times, as looking does.
func Looking(t interface {
	Errorf(format string, args ...any)
	Fatal(args ...any)
}, s store.Store, looks int,
) store.Store {
	return &looking{s, t, looks}
}

// disturbed is a definition that has gatherings only while a router is called again.
const disturbed = "looked at again"

func (l *looking) Ingest(ctx context.Context, e store.Event, emit int64, route func(store.Event, store.View) (store.Routing, error)) (store.Event, error) {
	var out store.Event
	err := l.again(ctx, func(look func(store.View, func() (store.Routing, error)) (store.Routing, error)) (err error) {
		out, err = l.Store.Ingest(ctx, e, emit, func(got store.Event, v store.View) (store.Routing, error) {
			came := e
			came.Seq = got.Seq
			if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", came); g != w {
				l.t.Errorf("the router gets the event %s, and it came as %s", g, w)
			}
			return look(v, func() (store.Routing, error) { return route(got, v) })
		})
		return err
	})
	return out, err
}

func (l *looking) Route(ctx context.Context, route store.Router) error {
	return l.again(ctx, func(look func(store.View, func() (store.Routing, error)) (store.Routing, error)) error {
		return l.Store.Route(ctx, func(v store.View) (store.Routing, error) {
			return look(v, func() (store.Routing, error) { return route(v) })
		})
	})
}

// again has what do does look several times.
func (l *looking) again(ctx context.Context, do func(look func(store.View, func() (store.Routing, error)) (store.Routing, error)) error) error {
	_, shared := l.Store.(store.Shared)
	looks := 0
	err := do(func(v store.View, route func() (store.Routing, error)) (out store.Routing, err error) {
		for {
			if shared {
				v.Gatherings(disturbed, "", "")
			}
			out, err = route()
			if looks++; err != nil || looks >= l.looks {
				return out, err
			}
			if shared {
				return out, l.disturb(ctx)
			}
		}
	})
	if err == nil && looks < l.looks {
		l.t.Errorf("the router looked %d times, not %d", looks, l.looks)
	}
	if shared && looks > 1 {
		l.calm(ctx)
	}
	return err
}

// disturb makes a commit of another.
func (l *looking) disturb(ctx context.Context) error {
	return l.Store.Route(ctx, func(store.View) (store.Routing, error) {
		return store.Routing{Gather: []store.Gathering{{Definition: disturbed, Events: []int64{0}, Until: 1 << 50}}}, nil
	})
}

// calm leaves nothing of that.
func (l *looking) calm(ctx context.Context) {
	err := l.Store.Route(ctx, func(v store.View) (out store.Routing, err error) {
		for _, g := range v.Gatherings(disturbed, "", "") {
			out.Drop = append(out.Drop, g.Seq)
		}
		return out, nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// asItCame: a router that is called again decides about the event as it came, whatever it decided before. Here
// the first look starts an instance and keeps the event for another, and later ones do neither.
func asItCame(k kit) {
	k.create(store.Instance{ID: "other"})
	looks := 0
	e := k.ingest(ev("1"), func(e store.Event, v store.View) store.Routing {
		seen, _ := v.Event(e.Seq)
		k.want("the event in the view", fmt.Sprintf("%+v", seen), fmt.Sprintf("%+v", e))
		k.want("used before", fmt.Sprint(e.Used, e.For, e.Why, e.Taken), "[] [] [] false")
		if looks++; looks > 1 {
			return store.Routing{}
		}
		e.Used, e.For, e.Why, e.Until = []string{"d"}, []string{"other"}, []string{"why"}, 300
		return store.Routing{
			Events: []store.Event{e},
			Start:  []store.NewInstance{{Instance: store.Instance{ID: fmt.Sprint("look ", looks), Status: core.Running}}},
			Gather: []store.Gathering{{Definition: "d", Events: []int64{e.Seq}, Until: 9}},
			Again:  []int64{e.Seq},
		}
	})
	if looks == 1 {
		return // that was all
	}
	k.want("the event", fmt.Sprintf("%+v", e), fmt.Sprintf("%+v", store.Event{Seq: e.Seq, Event: ev("1"), Until: 100}))
	k.want("as it is listed", fmt.Sprintf("%+v", k.events()[0]), fmt.Sprintf("%+v", e))
	rows, err := k.Instances(ctx, store.Query{})
	k.check(err)
	k.want("instances", idsOf(rows), "[other]")
	k.want("again", k.again(), "[]")
	over, err := k.Expired(ctx, 1000, 10)
	k.check(err)
	k.want("gatherings", len(over), 0)
}

// startedOnce: a router that starts what its event did not start before, starts it, however often it looks.
func startedOnce(k kit) {
	start := func(e store.Event, v store.View) (out store.Routing) {
		key := []core.Key{{Name: "k", Value: e.Event.Extensions[0].Value.Str(), Fixed: true}}
		if owner, ok := v.Owner("d", key); ok {
			e.For = append(e.For, owner.ID)
		} else if len(e.Used) == 0 {
			e.Used = append(e.Used, "d")
			out.Start = []store.NewInstance{{Instance: store.Instance{ID: "by " + e.Event.ID, Definition: "d", Status: core.Running, Keys: key}}}
		}
		e.Why = append(e.Why, "once")
		out.Events = []store.Event{e}
		return out
	}
	first, second := k.ingest(ev("1", "k", "v"), start), k.ingest(ev("2", "k", "v"), start)
	k.want("the first", fmt.Sprint(first.Taken, first.Used, first.For, first.Why), "true [d] [] [once]")
	k.want("the second", fmt.Sprint(second.Taken, second.Used, second.For, second.Why), "false [] [by 1] [once]")
	k.want("ready", k.ready(0, 10), "[by 1]")
	// A wait that begins later gets the second; it is routed again, and refused, as often as it takes.
	k.commit(store.Commit{Instance: k.row("by 1"), Subscribe: []store.Subscription{on(1, "k", "v")}})
	k.route(func(v store.View) (out store.Routing) {
		for _, s := range v.Fresh("by 1") {
			for _, e := range v.Kept(s) {
				if e.Seq == second.Seq {
					out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: "by 1", Reply: core.Reply{Ticket: s.Ticket, Value: event.Event{}.Value()}})
				}
			}
		}
		out.Checked = []string{"by 1"}
		return out
	})
	k.want("inbox", len(k.inbox("by 1")), 2)
	k.want("kept for", fmt.Sprint(k.events()[1].For, k.events()[1].Taken), "[] true")
}
