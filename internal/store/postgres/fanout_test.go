package postgres

import (
	"fmt"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// waits makes instances that wait for events of a type.
func waits(t *testing.T, s store.Store, typ string, n int) {
	t.Helper()
	parent := store.Commit{Instance: store.Instance{ID: "of " + typ, Status: core.Waiting}}
	for i := range n {
		parent.Children = append(parent.Children, store.NewInstance{Instance: store.Instance{ID: fmt.Sprint(typ, i), Status: core.Waiting}})
	}
	if err := s.Commit(ctx, parent); err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, n)
	for i := range n {
		go func() {
			sub := store.Subscription{Ticket: 1, Filter: event.Filter{Type: typ}}
			errs <- s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint(typ, i), Rev: 1, Status: core.Waiting}, Subscribe: []store.Subscription{sub}})
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

// TestFanOut: an event for many is delivered with as many statements as one for few, all of which
// run under the lock of the namespace. Whoever waits gets it once.
func TestFanOut(t *testing.T) {
	url := pgtestURL(t)
	pages, configure := watchPages(t, url)
	s := openURL(t, url, Options{configure: configure}).Namespace("n").(*Store)
	statements := func(typ string, n int) (calls int64) {
		waits(t, s, typ, n)
		if _, err := pages.admin.Exec(ctx, "SELECT pg_stat_statements_reset()"); err != nil {
			t.Fatal(err)
		}
		if e, err := s.ingestFor("to "+typ, typ); err != nil || !e.Taken {
			t.Fatalf("%+v, %v", e, err)
		}
		if err := pages.admin.QueryRow(ctx, "SELECT sum(calls)::bigint FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat%'").Scan(&calls); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if list, err := s.Messages(ctx, fmt.Sprint(typ, i)); err != nil || len(list) != 2 { // its start, and the event
				t.Fatalf("%s%d has %d messages, %v", typ, i, len(list), err)
			}
		}
		return calls
	}
	statements("warm", 2)
	few, many := statements("few", 3), statements("many", 300)
	if many != few || few == 0 {
		t.Errorf("%d statements for 3, %d for 300", few, many)
	}
	ready, err := s.Ready(ctx, 0, 1000)
	if err != nil || len(ready) != 305 {
		t.Errorf("%d are ready, %v", len(ready), err)
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}
