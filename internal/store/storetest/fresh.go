package storetest

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func fresh(k kit) {
	k.ingest(ev("0", "k", "1"), nil) // else they need not be compared
	k.commit(store.Commit{Instance: store.Instance{ID: "b", Status: core.Waiting}, Subscribe: []store.Subscription{on(2, "k", "1"), on(1, "k", "1")}})
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{on(1, "k", "1")}})
	k.want("unchecked, oldest first", k.unchecked(), "[b a]")
	few, _ := k.Unchecked(ctx, 1)
	k.want("one of them", few, "[b]")
	k.route(func(v store.View) store.Routing {
		list := v.Fresh("b")
		if len(list) != 2 || list[0].Ticket != 1 || list[1].Name != "e2" {
			k.t.Errorf("fresh %+v", list)
		}
		return store.Routing{Checked: []string{"b"}}
	})
	k.want("after a check", k.unchecked(), "[a]")
	k.commit(store.Commit{Instance: k.row("b"), Subscribe: []store.Subscription{on(3, "k", "1")}})
	k.look(func(v store.View) { k.want("only the new one", len(v.Fresh("b")), 1) })
	k.commit(store.Commit{Instance: k.row("a"), Unsubscribe: []core.Ticket{1}})
	k.want("without subscriptions", k.unchecked(), "[b]")
	k.look(func(v store.View) { k.want("nobody's", len(v.Fresh("nobody")), 0) })
}

// nothingKept: a subscription that no kept event can match may be fresh or not; what
// comes later finds it, and what came before it and is there finds no way past it.
func nothingKept(k kit) {
	k.create(store.Instance{ID: "a"})
	k.ingest(ev("1", "k", "1"), nil)
	void := on(4)
	void.Filter.Keys = []event.Key{{Name: "k", Void: true}}
	typed := on(5)
	typed.Filter.Type = "u"
	for i, c := range []struct {
		sub  store.Subscription
		must bool // be fresh: the event is for it
	}{
		{on(1, "k", "1"), true},
		{on(2), true},
		{on(3, "k", "2"), false},
		{void, false},
		{typed, false},
		{on(6, "k", "2"), false},
		{store.Subscription{Ticket: 7, Filter: event.Filter{Keys: []event.Key{{Name: "k", Value: "1", Fixed: true}}}}, true},
		{store.Subscription{Ticket: 8, Filter: event.Filter{Type: "t", Keys: []event.Key{{Name: "k"}}}}, true}, // any value
		{store.Subscription{Ticket: 9, Filter: event.Filter{Either: "1"}}, true},
	} {
		k.commit(store.Commit{Instance: k.row("a"), Subscribe: []store.Subscription{c.sub}})
		listed := slices.Contains(k.unchecked(), "a")
		k.route(func(v store.View) store.Routing {
			is := slices.ContainsFunc(v.Fresh("a"), func(s store.Subscription) bool { return s.Ticket == c.sub.Ticket })
			if c.must && (!is || !listed) {
				k.t.Errorf("subscription %d: fresh %t, unchecked %t, and an event is kept for it", i, is, listed)
			}
			return store.Routing{Checked: []string{"a"}}
		})
	}
	two := ev("2", "k", "2")
	k.ingest(two, func(e store.Event, v store.View) store.Routing {
		k.want("who gets the next one", matching(v.Subscriptions(two), two), "[a/2 a/3 a/6 a/8]")
		return give(e, v)
	})
	// A ticket that asks for something else is compared anew.
	k.commit(store.Commit{Instance: k.row("a"), Subscribe: []store.Subscription{on(5, "k", "1")}})
	k.look(func(v store.View) { k.want("replaced", len(v.Fresh("a")), 1) })
	// One that came with the same commit as the refusal finds what was refused.
	inbox := k.inbox("a")
	k.route(func(store.View) store.Routing { return store.Routing{Checked: []string{"a"}} })
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{inbox[0].Seq}, Release: []int64{inbox[0].Seq}, Subscribe: []store.Subscription{on(10, "k", "2")}})
	k.look(func(v store.View) {
		is := slices.ContainsFunc(v.Fresh("a"), func(s store.Subscription) bool { return s.Ticket == 10 })
		k.want("with a refusal", is, true)
	})
}
