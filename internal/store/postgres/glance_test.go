package postgres

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestGlance: each list of work says that it has something exactly while it does, and an idle look is one statement.
func TestGlance(t *testing.T) {
	c := &counter{}
	s := openTest(t, Options{configure: c.configure}).Namespace("x").(*Store)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	glance := func(now core.Time) store.Glance {
		t.Helper()
		g, err := s.Glance(ctx, now)
		check(err)
		return g
	}
	in := store.Instance{ID: "a", Status: core.Waiting}
	step := func(change func(*store.Commit)) {
		t.Helper()
		c := store.Commit{Instance: in}
		change(&c)
		check(s.Commit(ctx, c))
		in = c.Instance
		in.Rev++
	}
	step(func(*store.Commit) {})
	if g := glance(10); g != (store.Glance{}) {
		t.Errorf("there is nothing: %+v", g)
	}
	c.sent = nil
	if glance(10); len(c.sent) != 1 {
		t.Errorf("an idle look is %q", c.sent)
	}

	step(func(c *store.Commit) { c.Instance.HasWake, c.Instance.Wake = true, 50 })
	if g := glance(10); !g.None() || !g.Later || g.Next != 50 {
		t.Errorf("it will wake at 50: %+v", g)
	}
	if g := glance(50); !g.Instances {
		t.Errorf("it is time to wake: %+v", g)
	}
	if list, err := s.Ready(ctx, 50, newTurns); err != nil || len(list) != 1 {
		t.Errorf("ready: %q %v", list, err)
	}
	step(func(c *store.Commit) { c.Instance.HasWake, c.Instance.Wake = false, 0 })
	if g := glance(60); g != (store.Glance{}) {
		t.Errorf("it is over: %+v", g)
	}

	step(func(c *store.Commit) { c.Emits = []store.Emit{{Event: eventOf("inner", "v")}} })
	if g := glance(60); g != (store.Glance{Emits: true}) {
		t.Errorf("an event is produced: %+v", g)
	}
	emits, err := s.Emits(ctx, 10)
	check(err)
	check(s.emitted(ctx, emits[0].Seq))
	step(func(c *store.Commit) { c.Emits = []store.Emit{{Sink: true, Event: eventOf("outer", "v")}} })
	if g := glance(60); g != (store.Glance{Outbound: true}) {
		t.Errorf("an event goes out: %+v", g)
	}
	out, err := s.Outbound(ctx, 10)
	check(err)
	check(s.Sent(ctx, out[0].Seq))
	if g := glance(60); g != (store.Glance{}) {
		t.Errorf("it went out: %+v", g)
	}

	e, err := s.Ingest(ctx, store.Event{Event: eventOf("kept", "t", "k", "v1"), Received: 1, Until: 1000}, 0, func(e store.Event, _ store.View) (store.Routing, error) {
		return store.Routing{Gather: []store.Gathering{{Definition: "d", Key: "x", Until: 70, Events: []int64{e.Seq}}}}, nil
	})
	check(err)
	if g := glance(60); !g.None() || g.Next != 70 {
		t.Errorf("a gathering will be over at 70: %+v", g)
	}
	if g := glance(70); g != (store.Glance{Gatherings: true}) {
		t.Errorf("a gathering is over: %+v", g)
	}
	expired, err := s.Expired(ctx, 70, 10)
	check(err)
	check(s.Route(ctx, func(store.View) (store.Routing, error) {
		return store.Routing{Drop: []int64{expired[0].Seq}, Again: []int64{e.Seq}}, nil
	}))
	if g := glance(70); g != (store.Glance{Events: true}) {
		t.Errorf("an event is to be routed again: %+v", g)
	}
	check(s.Route(ctx, func(v store.View) (store.Routing, error) {
		e, _ := v.Event(e.Seq)
		return store.Routing{Events: []store.Event{e}}, nil
	}))
	step(func(c *store.Commit) {
		c.Subscribe = []store.Subscription{{Ticket: 7, Filter: event.Filter{Type: "t", Keys: []event.Key{{Name: "k", Value: "v1", Fixed: true}}}}}
	})
	if g := glance(70); g != (store.Glance{Subscriptions: true}) {
		t.Errorf("a subscription is new: %+v", g)
	}
}
