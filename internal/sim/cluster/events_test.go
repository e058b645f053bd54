package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// eachOnce: an event is consumed at most once, those of a pair by one instance, and each instance takes two of an
// order while there are two.
func (w *world) eachOnce(got map[string][]string, pairs int) error {
	orders := map[string]int{}
	for _, id := range slices.Sorted(maps.Keys(w.ledger.events)) {
		e := w.ledger.events[id].Event
		if e.Source != source {
			continue
		}
		w.check(OneConsumer)
		if e.Type == "message" {
			key, _ := e.Value().Get("order")
			orders[key.Str()]++
		}
		switch list := got[id]; {
		case len(list) == 0 && e.Type == "message":
			return fmt.Errorf("event %s was acknowledged, and no instance consumed it", id)
		case len(list) > 1:
			return fmt.Errorf("event %s was consumed by %v", id, list)
		}
	}
	want := 0
	for _, n := range orders {
		want += (n + 1) / 2
	}
	if pairs != want {
		return fmt.Errorf("%d instances took pairs of messages, not %d", pairs, want)
	}
	return nil
}

// released: an event that nobody consumed is not taken, also where the instance ended that it was delivered to.
func (w *world) released(ctx context.Context, got map[string][]string) error {
	page, err := w.db.Store.Events(ctx, store.EventQuery{Limit: store.MaxEventScan})
	if err != nil {
		return err
	}
	for _, e := range page.Events {
		if e.Event.Source != source || e.Event.Type != "nudge" || len(got[e.Event.ID]) > 0 {
			continue
		}
		if w.check(Released); e.Taken {
			return fmt.Errorf("event %s is taken, and no instance consumed it", e.Event.ID)
		}
	}
	return nil
}
