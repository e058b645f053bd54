package sqlite

import (
	"errors"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestAHeadThatIsOutdated: the head that a reader left for the commit may be of another revision by then, or of an
// instance that is gone. The commit conflicts, with all that it wrote before the row, and others of its
// transaction do not suffer.
func TestAHeadThatIsOutdated(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default").(*Store)
	create := func() store.Instance {
		t.Helper()
		first := store.Commit{
			Instance:  store.Instance{ID: "a", Definition: "d", Status: core.Waiting},
			Subscribe: []store.Subscription{{Ticket: 1, Name: "e", Filter: event.Filter{Type: "t"}}},
		}
		if err := s.Commit(ctx, first); err != nil {
			t.Fatal(err)
		}
		in, err := s.Instance(ctx, "a")
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	step := func(in store.Instance) store.Commit {
		return store.Commit{
			Instance: in, Unread: true, Records: []core.Record{{Type: core.RecConsumed}},
			Event: &store.Arrival{Event: store.Event{Event: event.Event{ID: "1", Source: "s", Type: "t"}, Until: 100}, Route: func(e store.Event, v store.View) (out store.Routing, err error) {
				for _, sub := range v.Subscriptions(e.Event) {
					out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: sub.Instance, Reply: core.Reply{Ticket: sub.Ticket}})
				}
				return out, nil
			}},
		}
	}
	conflicts := func(what string, in store.Instance, stale *head) {
		t.Helper()
		db.writer.heads.clear()
		db.offered.put(headKey{s.ns, "a"}, stale)
		refused, elsewhere := step(in), errors.New("for another one")
		refused.Event.Route = func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, elsewhere }
		if err := s.Commit(ctx, refused); !errors.Is(err, elsewhere) {
			t.Errorf("%s, and the event is for another one: %v", what, err)
		}
		if db.writer.heads.get(headKey{s.ns, "a"}) != nil {
			t.Errorf("%s: the head that nobody compared stays", what)
		}
		db.offered.put(headKey{s.ns, "a"}, stale)
		if err := s.Commit(ctx, step(in)); !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
		if events, err := s.Events(ctx, store.EventQuery{}); err != nil || len(events.Events) != 0 {
			t.Errorf("%s: the event is stored: %v, %v", what, events, err)
		}
		sound(t, s)
	}
	in := create()
	stale := *db.offered.take(headKey{s.ns, "a"})
	if err := s.Commit(ctx, store.Commit{Instance: in}); err != nil {
		t.Fatal(err)
	}
	outdated := stale
	conflicts("it went on", in, &outdated)
	in.Rev++
	if err := s.Commit(ctx, step(in)); err != nil {
		t.Errorf("at its revision: %v", err)
	}
	if err := s.DeleteInstance(ctx, "a", store.Deletion{Live: true}); err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(ctx, 1000); err != nil {
		t.Fatal(err)
	}
	in.Rev--
	outdated = stale
	conflicts("it is gone", in, &outdated)
	create()
	outdated = stale
	conflicts("another has its id", in, &outdated)
}
