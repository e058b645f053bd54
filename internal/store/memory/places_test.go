package memory

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Subscriptions whose key stands in the data are found by it, and the index forgets
// places that nobody looks at any more.
func TestIndexOfPlaces(t *testing.T) {
	var x index
	x.buckets, x.types = map[bucket]map[*subscription]struct{}{}, map[string]*sorted[*subscription]{}
	sub := func(ticket core.Ticket, f event.Filter) *subscription {
		s := &subscription{row: store.Subscription{Ticket: ticket, Filter: f}}
		x.add(s)
		return s
	}
	key := func(from, value string) []event.Key {
		return []event.Key{{Name: "token", From: from, Value: value, Fixed: true}}
	}
	all := []*subscription{
		sub(1, event.Filter{Type: "t", Keys: key("$.data.id", "1")}),
		sub(2, event.Filter{Type: "t", Keys: key("id", "1")}),
		sub(3, event.Filter{Type: "t", Keys: key("$.data.id", "2")}),
		sub(4, event.Filter{Either: "t", Keys: key("$.id", "e")}),
		sub(5, event.Filter{Type: "u", Keys: key("$.data.id", "1")}),
		sub(6, event.Filter{Type: "t"}),
	}
	e := event.Event{ID: "e", Source: "s", Type: "t", Data: expr.Object(expr.Member{Key: "id", Value: expr.Int(1)}), HasData: true}
	var got []core.Ticket
	for _, s := range x.candidates(e) {
		if ok, _ := s.Filter.Match(e); ok {
			got = append(got, s.Ticket)
		}
	}
	if len(got) != 3 || got[0] != 1 || got[1] != 4 || got[2] != 6 { // "id" is the event's own
		t.Errorf("found %v", got)
	}
	for _, s := range all {
		x.remove(s)
	}
	if len(x.places)+len(x.buckets) != 0 {
		t.Errorf("left: %v %v", x.places, x.buckets)
	}
}
