package postgres

import (
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestPrepared: what every step sends is prepared where the sessions are the pool's, and not behind a pooler.
func TestPrepared(t *testing.T) {
	url := pgtestURL(t)
	commit := func(db *DB, id string) error {
		return db.Namespace("x").Commit(ctx, store.Commit{Instance: store.Instance{ID: id, Status: core.Waiting}})
	}
	names := func(db *DB) (n int) {
		t.Helper()
		if err := db.one(ctx, "SELECT count(*) FROM pg_prepared_statements WHERE name = 'commit_one'", nil, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	direct := openURL(t, url, Options{Connections: 1})
	if err := commit(direct, "a"); err != nil || names(direct) != 1 {
		t.Errorf("%v, %d statements are prepared", err, names(direct))
	}
	pooled := openURL(t, behindPgBouncer(t, url), Options{Connections: 1})
	if err := commit(pooled, "b"); err != nil || pooled.prepares.Load() || names(pooled) != 0 {
		t.Errorf("behind a pooler: %v, %d statements are prepared", err, names(pooled))
	}
}

// TestPreparedElsewhere: where the session is another one than the one in which a statement was prepared, as behind a pooler
// that came in between later, it is run all the same, once, and nothing is prepared any more.
func TestPreparedElsewhere(t *testing.T) {
	db := openURL(t, behindPgBouncer(t, pgtestURL(t)), Options{Connections: 2 * poolSize})
	s := db.Namespace("x").(*Store)
	ns, err := s.ns(ctx)
	if err != nil {
		t.Fatal(err)
	}
	db.prepares.Store(true)
	draw := statement{"draw", "SELECT nextval('~.seqs')"}
	var drawn sync.Map
	var wg sync.WaitGroup
	for range 2 * poolSize {
		wg.Go(func() {
			for range 50 {
				n := int64(0)
				if err := db.first(ctx, draw, nil, &n); err != nil {
					t.Error(err)
					return
				}
				drawn.Store(n, true)
			}
		})
	}
	wg.Wait()
	if db.prepares.Load() {
		t.Error("it goes on to prepare statements")
	}
	// Each was run once: no number is left out.
	count, last := 0, int64(0)
	drawn.Range(func(any, any) bool { count++; return true })
	if err := db.one(ctx, "SELECT last_value FROM ~.seqs", nil, &last); err != nil || last != int64(count)*1024 {
		t.Errorf("%d numbers were drawn, the last is %d, %v", count, last, err)
	}
	if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}}); err != nil {
		t.Errorf("a commit in namespace %d: %v", ns, err)
	}
}
