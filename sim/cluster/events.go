package cluster

import (
	"fmt"
	"maps"
	"slices"
)

// eachOnce: an event of a pair is consumed by one instance, and each instance takes two of an order while there are
// two.
func (w *world) eachOnce(got map[string][]string, pairs int) error {
	orders := map[string]int{}
	for _, id := range slices.Sorted(maps.Keys(w.ledger.events)) {
		e := w.ledger.events[id].Event
		if e.Source != source || e.Type != "message" {
			continue
		}
		w.check(OneConsumer)
		key, _ := e.Value().Get("order")
		orders[key.Str()]++
		switch list := got[id]; {
		case len(list) == 0:
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
