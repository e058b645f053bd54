package storetest

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// DamagedNeighbours tests that a damaged row is reported and does not hold up the others. Every call of open
// returns an empty store.
func DamagedNeighbours(t *testing.T, open func(t *testing.T) (store.Store, Tables)) {
	for _, c := range []struct {
		name string
		run  func(*damagedKit)
	}{
		{"a subscription", damagedSubscription},
		{"a kept event", damagedEvent},
		{"what became of a kept event", damagedFate},
		{"an event that is kept for an instance that ends", damagedKeptFor},
		{"an event that an instance refuses", damagedRefused},
		{"the row of an instance that has a correlation key", damagedOwner},
		{"a gathering", damagedGathering},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, tables := open(t)
			k := &damagedKit{kit{s, t, 1}, tables}
			define(k.kit)
			c.run(k)
		})
	}
}

type damagedKit struct {
	kit
	tables Tables
}

// spoil flips a bit of the one value of a column that has these texts: in itself, or in its row.
func (k *damagedKit) spoil(column string, texts ...string) {
	k.t.Helper()
	list := slices.DeleteFunc(k.tables.Values(column), func(v Stored) bool {
		return slices.ContainsFunc(texts, func(s string) bool {
			return !bytes.Contains(v.Data, []byte(s)) && !strings.Contains(v.Where, "'"+s+"'")
		})
	})
	if len(list) != 1 {
		k.t.Fatalf("%d values of %s have %q", len(list), column, texts)
	}
	bad := bytes.Clone(list[0].Data)
	bad[len(bad)/2] ^= 1
	k.tables.Write(column, list[0], bad)
}

// names checks that an error names one damaged row: that of an instance, or with a number.
func (k *damagedKit) names(err error, instance string, seq int64) {
	k.t.Helper()
	var damaged *store.DamagedError
	if !errors.As(err, &damaged) || !errors.Is(err, store.ErrDamaged) || len(damaged.Rows) != 1 || damaged.Rows[0].Instance != instance || seq != 0 && damaged.Rows[0].Seq != seq {
		k.t.Errorf("it names %v, want that of %q, %d", err, instance, seq)
	}
}

// look has a router look and decide nothing.
func (k *damagedKit) look(f func(v store.View)) {
	k.t.Helper()
	k.check(k.Route(ctx, func(v store.View) (store.Routing, error) {
		f(v)
		return store.Routing{}, nil
	}))
}

func (k *damagedKit) waits(id string) {
	k.t.Helper()
	k.commit(store.Commit{
		Instance: store.Instance{ID: id, Definition: "d", Version: "1", Digest: "digest of d", Status: core.Waiting, Keys: keyOne},
		Subscribe: []store.Subscription{
			{Ticket: 1, Name: id, Filter: event.Filter{Type: "t", Keys: []event.Key{{Name: "k", Value: "1", Fixed: true}}}},
			{Ticket: 2, Name: "another of " + id, Filter: event.Filter{Type: "u"}},
		},
	})
}

var keyOne = []core.Key{{Name: "k", Value: "1", Fixed: true}}

// take ingests an event that has the key.
func (k *damagedKit) take(id string, decide func(store.Event, store.View) store.Routing) store.Event {
	k.t.Helper()
	e := event.Event{ID: id, Source: "s", Type: "t", HasData: true, Data: expr.String("the data of " + id)}
	e.Put("k", expr.String("1"))
	out, err := k.Ingest(ctx, store.Event{Event: e, Received: 1, Until: 100}, 0, func(e store.Event, v store.View) (store.Routing, error) {
		return decide(e, v), nil
	})
	k.check(err)
	return out
}

func to(id string) func(store.Event, store.View) store.Routing {
	return func(e store.Event, _ store.View) store.Routing {
		return store.Routing{Deliver: []store.Delivery{{Event: e.Seq, Instance: id, At: 2, Reply: core.Reply{Ticket: 1}}}}
	}
}

func keepFor(id string) func(store.Event, store.View) store.Routing {
	return func(e store.Event, _ store.View) store.Routing {
		e.For = []string{id}
		return store.Routing{Events: []store.Event{e}}
	}
}

// sound checks that nothing is left of what was damaged.
func (k *damagedKit) sound() {
	k.t.Helper()
	if problems, err := k.Check(ctx); err != nil || len(problems) > 0 {
		k.t.Errorf("there is left %v %v", problems, err)
	}
}

func damagedSubscription(k *damagedKit) {
	k.waits("sick")
	k.waits("well")
	k.spoil("subs.filter", "sick", `"k"`)
	k.take("1", func(e store.Event, v store.View) store.Routing {
		list := v.Subscriptions(e.Event)
		if len(list) != 1 || list[0].Instance != "well" {
			k.t.Errorf("the event is for %v", list)
		}
		k.names(v.Damaged(), "sick", 0)
		return to("well")(e, v)
	})
	k.want("the inbox of the other", len(k.inbox("well")), 1)
	k.look(func(v store.View) {
		if list := v.Near(event.Event{Type: "t"}, 10); len(list) > 0 { // that of well is busy
			k.t.Errorf("near is %v", list)
		}
		k.names(v.Damaged(), "sick", 0)
	})
	list, err := k.Subscriptions(ctx, "sick")
	k.names(err, "sick", 0)
	k.want("what else it waits for", len(list), 1)
	k.end("sick", 5)
	k.remove("sick")
	k.sound()
}

func damagedEvent(k *damagedKit) { k.damagedEvent("events.event") }
func damagedFate(k *damagedKit)  { k.damagedEvent("events.fate") }

func (k *damagedKit) damagedEvent(column string) {
	k.waits("well")
	why := func(text string) func(store.Event, store.View) store.Routing {
		return func(e store.Event, _ store.View) store.Routing {
			e.Why = []string{text}
			return store.Routing{Events: []store.Event{e}}
		}
	}
	sick := k.take("1", why("the data of 1"))
	well := k.take("2", why("the data of 2"))
	k.spoil(column, "the data of 1")
	k.look(func(v store.View) {
		subs := v.Subscriptions(sick.Event)
		k.want("the subscriptions", len(subs), 1)
		list := v.Kept(subs[0])
		if len(list) != 1 || list[0].Seq != well.Seq {
			k.t.Errorf("what is kept is %v", list)
		}
		k.names(v.Damaged(), "", sick.Seq)
	})
	k.look(func(v store.View) {
		if e, ok := v.Event(sick.Seq); ok {
			k.t.Errorf("it is %v", e)
		}
		k.names(v.Damaged(), "", sick.Seq)
	})
	for _, q := range []store.EventQuery{{}, {Type: "t"}, {Newest: true}, {Limit: 2}} {
		page, err := k.Events(ctx, q)
		k.names(err, "", sick.Seq)
		if len(page.Events) != 1 || page.Events[0].Seq != well.Seq {
			k.t.Errorf("the list is %v", page)
		}
	}
	if _, err := k.Ingest(ctx, store.Event{Event: sick.Event, Received: 2, Until: 100}, 0, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil }); !errors.Is(err, store.ErrDamaged) {
		k.t.Errorf("the same again: %v", err)
	}
	k.check(k.Purge(ctx, 200))
	k.sound()
}

func damagedKeptFor(k *damagedKit) {
	for _, id := range []string{"ends", "goes"} {
		k.waits(id)
		e := k.take(id, keepFor(id))
		k.spoil("events.event", "the data of "+id)
		if id == "ends" {
			k.end(id, 5)
		} else {
			k.check(k.DeleteInstance(ctx, id, store.Deletion{At: 5, Live: true}))
		}
		k.look(func(v store.View) {
			_, _ = v.Event(e.Seq)
			k.names(v.Damaged(), "", e.Seq)
		})
	}
	k.check(k.Purge(ctx, 200))
	k.sound()
}

func damagedRefused(k *damagedKit) {
	for _, id := range []string{"stays", "goes"} {
		k.waits(id)
		k.take(id, to(id))
		k.spoil("events.event", "the data of "+id)
		if id == "goes" {
			k.check(k.DeleteInstance(ctx, id, store.Deletion{At: 5, Live: true}))
			continue
		}
		seq := k.inbox(id)[0].Seq
		k.commit(store.Commit{Instance: k.row(id), Taken: []int64{seq}, Release: []int64{seq}})
		k.want("the inbox", len(k.inbox(id)), 0)
		k.opens(id)
	}
	k.check(k.Purge(ctx, 200))
	k.sound()
}

// opens sees that a wait is open again.
func (k *damagedKit) opens(id string) {
	k.t.Helper()
	k.take("next for "+id, func(e store.Event, v store.View) store.Routing {
		k.want("those who wait", len(v.Subscriptions(e.Event)), 1)
		return store.Routing{}
	})
}

func damagedOwner(k *damagedKit) {
	k.waits("sick")
	got := k.take("1", to("sick"))
	k.spoil("instances.rest", "sick")
	k.take("2", func(e store.Event, v store.View) store.Routing {
		in, ok := v.Owner("d", keyOne)
		if !ok || in.ID != "sick" || in.Status != core.Waiting {
			k.t.Errorf("the owner is %v %v", in, ok)
		}
		k.names(v.Damaged(), "sick", 0)
		if _, ok := v.Owner("e", keyOne); ok {
			k.t.Error("it is an instance of another definition, too")
		}
		return keepFor("sick")(e, v)
	})
	k.look(func(v store.View) {
		if !v.Got(got.Seq, "d", keyOne) || v.Got(got.Seq, "e", keyOne) {
			k.t.Error("it is not known who got the event")
		}
		k.names(v.Damaged(), "sick", 0)
	})
	k.check(k.DeleteInstance(ctx, "sick", store.Deletion{At: 5, Live: true}))
	k.want("events to be routed again", len(k.again()), 2)
	k.sound()
}

func damagedGathering(k *damagedKit) {
	gather := func(key string) func(store.Event, store.View) store.Routing {
		return func(e store.Event, _ store.View) store.Routing {
			return store.Routing{Gather: []store.Gathering{{Definition: "d", Digest: "digest of d", Events: []int64{e.Seq}, Keys: []core.Key{{Name: key}}, Until: 50}}}
		}
	}
	k.take("1", gather("the first"))
	k.take("2", gather("the second"))
	k.spoil("gatherings.rest", "the first")
	k.look(func(v store.View) {
		list := v.Gatherings("d", "digest of d", "")
		if len(list) != 1 || list[0].Keys[0].Name != "the second" {
			k.t.Errorf("there are %v", list)
		}
		k.names(v.Damaged(), "", 0)
	})
	list, err := k.Expired(ctx, 60, 10)
	k.want("those whose time is up", len(list), 1)
	k.names(err, "", 0)
}
