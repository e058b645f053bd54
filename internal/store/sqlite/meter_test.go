package sqlite

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/pagestat"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestTraffic: what is written and read is counted, and whoever asks keeps no connection.
func TestTraffic(t *testing.T) {
	db := openTest(t)
	s := db.Namespace("default")
	before, err := pagestat.Of(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	count := db.Counters()
	if _, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
		t.Fatal(err)
	}
	if list, err := s.ListDefinitions(ctx); err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	after, err := pagestat.Of(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	if after.Written <= before.Written || after.Seen <= before.Seen || after.Bytes != 4096*after.Written || after.Missed > after.Seen {
		t.Errorf("after a write and a query %+v, before %+v", after, before)
	}
	if now := db.Counters(); now.Statements <= count.Statements || now.Queries <= count.Queries || now.Rows <= count.Rows {
		t.Errorf("after a write and a query %+v, before %+v", now, count)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := pagestat.Of(over, db); !errors.Is(err, context.Canceled) {
		t.Errorf("for nobody any more: %v", err)
	}
	var wg sync.WaitGroup // more than there are connections
	for range 20 {
		wg.Go(func() {
			if _, err := pagestat.Of(ctx, db); err != nil {
				t.Error(err)
			}
			if _, err := s.ListDefinitions(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
