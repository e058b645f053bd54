package sqlite

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestWaitsCostOneTransaction: where no event is kept for a wait, nothing compares it again.
func TestWaitsCostOneTransaction(t *testing.T) {
	s := openTest(t).Namespace("default")
	for _, id := range []string{"1", "2"} { // neither other values nor what came before count
		e := event.Event{ID: id, Source: "s", Type: "t", Subject: "other"}
		_, err := s.Ingest(ctx, store.Event{Event: e, Until: 100}, 0, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	fixed := event.Filter{Type: "t", Keys: []event.Key{{Name: "subject", Value: "mine", Fixed: true}}}
	err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{
		{Ticket: 1, Filter: fixed}, {Ticket: 2, Filter: event.Filter{Type: "t"}}, {Ticket: 3, Filter: event.Filter{Type: "u"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.Unchecked(ctx, 10); err != nil || len(list) != 0 {
		t.Errorf("unchecked: %v, %v", list, err)
	}
}
