package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pagestat"
	"github.com/lockstep-workflows/lockstep/internal/query"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// TestQueriesAreBounded: no question of the page and of the command line reads more than 500 rows and 200 pages, however
// many instances there are; a count of 10,000 looks at so many entries of an index.
func TestQueriesAreBounded(t *testing.T) {
	n := 20_000
	if raceDetector {
		n = 12_000
	}
	db, err := Open(filepath.Join(t.TempDir(), "bounded.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := db.Namespace("default")
	now := core.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	fillMixed(t, db, n, now)
	type cost struct{ rows, pages int64 }
	spend := func(do func() error) cost {
		t.Helper()
		if err := pagestat.Forget(ctx, db); err != nil {
			t.Fatal(err)
		}
		before, rows := traffic(t, db), db.Counters().Rows
		if err := do(); err != nil {
			t.Fatal(err)
		}
		return cost{db.Counters().Rows - rows, traffic(t, db).Missed - before.Missed}
	}
	filters, err := storetest.Filters("../../query")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range filters {
		for _, way := range []string{"newest", "oldest", "newest fold", "count"} {
			f, err := query.Parse(c.Text, now)
			if err != nil {
				t.Fatal(err)
			}
			f.Query.Newest = way != "oldest"
			f.Query.Root = f.Query.Root || strings.Contains(way, "fold") && f.Browses()
			q, whole := f.Query.Indexed()
			fits := 0
			var counted int64
			got := spend(func() error {
				if way == "count" && whole && f.Exact {
					q.Limit = storetest.MostCounted
					counted, err = s.Count(ctx, q)
					return err
				}
				q.Limit = storetest.MostFound
				list, err := s.Instances(ctx, q)
				for i := range list {
					if f.Selects(&list[i]) {
						fits++
					}
				}
				return err
			})
			if got.rows > 500 || got.pages > 200 || got.pages == 0 && way != "count" {
				t.Errorf("%s, %s: %d rows, %d pages (%d and %d found)", c.Text, way, got.rows, got.pages, fits, counted)
			}
			if (way == "newest" || way == "oldest") && c.Finds >= 0 && fits != c.Finds {
				t.Errorf("%s, %s: %d found, want %d", c.Text, way, fits, c.Finds)
			}
		}
	}
}

func traffic(t *testing.T, db *DB) pagestat.Traffic {
	t.Helper()
	out, err := pagestat.Of(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fillMixed makes n instances of all kinds, the last one now.
func fillMixed(t *testing.T, db *DB, n int, now core.Time) {
	t.Helper()
	sp := db.Namespace("default").(*Store).space
	if _, err := store.PutDefinition(ctx, db.Namespace("default"), store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
		t.Fatal(err)
	}
	for from := 0; from < n; from += 1000 {
		err := db.writer.submit(ctx, 0, func(tr *tx) error {
			for i := from; i < min(n, from+1000); i++ {
				e, err := encode(&store.Commit{Instance: storetest.Mixed(i, n, now)})
				if err == nil {
					err = tr.commit(sp, e)
				}
				if err != nil {
					return fmt.Errorf("instance %d: %w", i, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
