package storetest

import (
	"errors"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// previews: the router sees who waits, and that the event comes last; what it decides is not done.
func previews(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Definition: "d", Status: core.Waiting}, Subscribe: []store.Subscription{on(1, "k", "v"), on(2, "k", "w")}})
	e := store.Event{Event: ev("1", "k", "v"), Until: 100}
	called, created := 0, k.row("a").Seq
	preview := func(result error) error {
		return k.Preview(ctx, e, func(e store.Event, v store.View) (store.Routing, error) {
			called++
			list := v.Subscriptions(e.Event)
			list = slices.DeleteFunc(list, func(s store.Subscription) bool { ok, _ := s.Filter.Match(e.Event); return !ok })
			k.want("who waits", len(list), 1)
			k.want("its ticket", list[0].Ticket, core.Ticket(1))
			k.want("the event is last", e.Seq > created, true)
			back, ok := v.Event(e.Seq)
			k.want("it is there", ok && back.Event.ID == "1", true)
			return give(e, v), result
		})
	}
	k.check(preview(nil))
	if err := preview(errRouter); !errors.Is(err, errRouter) {
		k.t.Errorf("the router's error: %v", err)
	}
	k.want("calls of the router", called, 2)
	k.want("events", len(k.events()), 0)
	k.want("messages", len(k.inbox("a")), 0)
	k.check(k.Preview(ctx, store.Event{Event: ev("2", "k", "nobody's"), Until: 100}, func(e store.Event, v store.View) (store.Routing, error) {
		for _, s := range v.Subscriptions(e.Event) {
			if ok, _ := s.Filter.Match(e.Event); ok {
				k.t.Errorf("%s waits for the event of nobody", s.Instance)
			}
		}
		return store.Routing{}, nil
	}))
	k.ingest(e.Event, give)
	k.want("delivered", len(k.inbox("a")), 1)
}

// directly: the step is stored with the event, or neither is.
func directly(k kit) {
	k.commit(store.Commit{Instance: store.Instance{ID: "a", Definition: "d", Status: core.Waiting}, Subscribe: []store.Subscription{on(1, "k", "v")}})
	send := func(id string, step store.Commit) error {
		step.Event = &store.Arrival{
			Event: store.Event{Event: ev(id, "k", "v"), Until: 100},
			Route: func(e store.Event, v store.View) (store.Routing, error) { return give(e, v), nil },
		}
		return k.Commit(ctx, step)
	}
	step := func() store.Commit {
		return store.Commit{
			Instance: k.row("a"), Unread: true, Pages: []core.Page{{Data: []byte("state")}}, Records: []core.Record{{Type: core.RecConsumed}},
			Unsubscribe: []core.Ticket{1}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 2}}},
		}
	}
	late := step()
	late.Instance.Rev--
	if err := send("1", late); !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
		k.t.Errorf("at another revision: %v", err)
	}
	k.commit(store.Commit{Instance: store.Instance{ID: "b"}, Messages: []store.Message{{To: "a", Input: core.Continue{}}}})
	if err := send("1", step()); !errors.Is(err, store.ErrConflict) {
		k.t.Errorf("before a message: %v", err)
	}
	k.want("events", len(k.events()), 0)
	k.want("revision", k.row("a").Rev, 1)
	k.commit(store.Commit{Instance: k.row("a"), Taken: []int64{k.inbox("a")[0].Seq}})
	k.check(send("1", step()))
	row := k.row("a")
	k.want("revision", row.Rev, 3)
	k.want("records", row.Records, 1)
	k.want("messages", len(k.inbox("a")), 0)
	calls, err := k.Calls(ctx, "a")
	k.check(err)
	k.want("calls", len(calls), 1)
	subs, err := k.Subscriptions(ctx, "a")
	k.check(err)
	k.want("subscriptions", len(subs), 0)
	events := k.events()
	k.want("events", len(events), 1)
	k.want("taken", events[0].Taken, true)
	if err := send("1", step()); !errors.Is(err, store.ErrDuplicate) {
		k.t.Errorf("once more: %v", err)
	}
	// The instance has had the event: a later wait does not get it again.
	k.commit(store.Commit{Instance: k.row("a"), Subscribe: []store.Subscription{on(3, "k", "v")}})
	k.look(func(v store.View) {
		for _, s := range v.Fresh("a") {
			k.want("kept", len(v.Kept(s)), 0)
		}
	})
}
