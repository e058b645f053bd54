package memory

import (
	"context"
	"fmt"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var ctx = context.Background()

func commit(t *testing.T, s *Store, c store.Commit) {
	t.Helper()
	if err := s.Commit(ctx, c); err != nil {
		t.Fatal(err)
	}
}

func row(t *testing.T, s *Store, id string) store.Instance {
	t.Helper()
	r, err := s.Instance(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestIndexesGrowForEver: what an index held for a row goes with what the row was.
func TestIndexesGrowForEver(t *testing.T) {
	s := New()
	for i := range 100 {
		id := fmt.Sprint(i)
		in := store.Instance{ID: id, Definition: "d", Status: core.Waiting, Keys: []core.Key{{Name: "k", Value: id, Fixed: true}}, HasWake: true}
		sub := store.Subscription{Ticket: 1, Filter: event.Filter{Type: id}}
		commit(t, s, store.Commit{Instance: in, Subscribe: []store.Subscription{sub}})
		for k := range 10 {
			r := row(t, s, id)
			r.Wake = core.Time(k)
			commit(t, s, store.Commit{Instance: r})
		}
		if s.wakes.size != 1 {
			t.Fatalf("%d wake times of one instance", s.wakes.size)
		}
		r := row(t, s, id)
		r.Status, r.HasWake = core.Completed, false
		commit(t, s, store.Commit{Instance: r})
		e := store.Event{Event: event.Event{ID: id, Source: "s", Type: id}, Until: 1}
		if _, err := s.Ingest(ctx, e, 0, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Purge(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if n := len(s.owners) + s.wakes.size + s.ready.size + s.unchecked.size + len(s.subs.buckets) + len(s.subs.types) + len(s.calling) + len(s.eventsBy) + len(s.eventIDs); n != 0 {
		t.Errorf("%d entries are left", n)
	}
}

// BenchmarkReady is a batch of many that wait: it costs what it returns.
func BenchmarkReady(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := New()
			for i := range n {
				_ = s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint(i), HasWake: true}})
			}
			for b.Loop() {
				if ready, _ := s.Ready(ctx, 0, 100); len(ready) != 100 {
					b.Fatal(len(ready))
				}
			}
		})
	}
}

// BenchmarkNear is what an event that nobody gets costs beside many that wait.
func BenchmarkNear(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := New()
			for i := range n {
				f := event.Filter{Type: "t", Keys: []event.Key{{Name: "k", Value: fmt.Sprint(i), Fixed: true}}}
				_ = s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint(i)}, Subscribe: []store.Subscription{{Ticket: 1, Filter: f}}})
			}
			for b.Loop() {
				if near := (view{s}).Near(event.Event{ID: "1", Source: "s", Type: "t"}, 10); len(near) != 10 {
					b.Fatal(len(near))
				}
			}
		})
	}
}
