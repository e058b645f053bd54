package engine

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// TestNodesIdleStatements: a node that has nothing to do sends at most ten statements a second: its pauses bound them,
// and a slow machine only sends fewer.
func TestNodesIdleStatements(t *testing.T) {
	const most = 10 // a second
	url := pgtest.Start(t).Database(t)
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.WithoutCancel(t.Context())) })
	if _, err := admin.Exec(t.Context(), "CREATE EXTENSION pg_stat_statements"); err != nil {
		t.Fatalf("the contributed module pg_stat_statements is needed: %v", err)
	}
	e, err := New(Config{Store: openPostgres(t, url, postgres.Options{}).Namespace("idle"), OnError: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = e.Run(ctx) }()
	defer func() { cancel(); <-done }()
	during := func(beats int64) (statements int64) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), "SELECT pg_stat_statements_reset()"); err != nil {
			t.Fatal(err)
		}
		const query = "SELECT coalesce(sum(calls), 0)::bigint, coalesce(sum(calls) FILTER (WHERE query LIKE '%heartbeat(%'), 0)::bigint FROM pg_stat_statements " +
			"WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND query NOT LIKE '%pg_stat%'"
		until(func() bool {
			sent := int64(0)
			if err := admin.QueryRow(t.Context(), query).Scan(&statements, &sent); err != nil {
				t.Fatal(err)
			}
			return sent >= beats
		})
		return statements
	}
	during(5) // it looks less and less often
	began := time.Now()
	n, took := during(10), time.Since(began)
	if allowed := most * took.Seconds(); float64(n) > allowed {
		t.Errorf("%d statements in %v, want at most %.0f", n, took, allowed)
	}
	t.Logf("%d statements in %v", n, took)
}
