package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// TestNodesListStatements: a list over PostgreSQL is as many statements for a hundred as for ten.
func TestNodesListStatements(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.WithoutCancel(t.Context())) })
	if _, err := admin.Exec(t.Context(), "CREATE EXTENSION pg_stat_statements"); err != nil {
		t.Fatalf("the contributed module pg_stat_statements is needed: %v", err)
	}
	db := openPostgres(t, url, postgres.Options{})
	h := boardHarness(t, func(c *Config) { c.Store = db.Namespace("lists") })
	for i := range 101 { // there are more than are asked for
		h.newJob("dev", fmt.Sprint("tag", i%2))
		if _, err := h.Send(t.Context(), event.Event{ID: fmt.Sprint(i), Source: "s", Type: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	for what, list := range map[string]func(limit int) (int, error){
		"jobs": func(n int) (int, error) { l, err := h.Jobs(t.Context(), store.Query{Limit: n}); return len(l), err },
		"jobs of a device": func(n int) (int, error) {
			l, err := h.Jobs(t.Context(), store.Query{Client: "dev", Groups: []string{"OPEN"}, Limit: n})
			return len(l), err
		},
		"instances": func(n int) (int, error) { l, err := h.Query(t.Context(), store.Query{Limit: n}); return len(l), err },
		"events": func(n int) (int, error) {
			page, err := h.EventPage(t.Context(), store.EventQuery{Limit: n})
			return len(page.Events), err
		},
	} {
		statements := func(limit int) (calls int64) {
			t.Helper()
			if _, err := admin.Exec(t.Context(), "SELECT pg_stat_statements_reset()"); err != nil {
				t.Fatal(err)
			}
			if n, err := list(limit); err != nil || n != limit {
				t.Fatalf("%s: %d of %d: %v", what, n, limit, err)
			}
			err := admin.QueryRow(t.Context(), "SELECT sum(calls)::bigint FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query NOT LIKE '%pg_stat%'").Scan(&calls)
			if err != nil {
				t.Fatal(err)
			}
			return calls
		}
		statements(1) // what is remembered from then on
		few, many := statements(10), statements(100)
		if few != many || few == 0 || few > 5 {
			t.Errorf("%s: %d statements for 10, %d for 100", what, few, many)
		}
		t.Logf("%s: %d statements", what, many)
	}
}
