package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// TestOutcomesGo: old outcomes go, whatever snapshots others have; those that may be asked for stay,
// and where somebody has locked them, nobody waits.
func TestOutcomesGo(t *testing.T) {
	url := pgtestURL(t)
	db := openURL(t, url, Options{})
	fresh, old := newToken(), tokenAt(time.Now().Add(-150*time.Minute)) // in another table
	for _, token := range []pgtype.UUID{fresh, old} {
		if _, err := db.pool.Exec(ctx, "INSERT INTO lockstep.outcomes VALUES ($1, '{0}')", token); err != nil {
			t.Fatal(err)
		}
	}
	there := func(token pgtype.UUID) (n int) {
		t.Helper()
		if err := db.one(ctx, "SELECT count(*) FROM ~.outcomes WHERE token = $1", []any{token}, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	other, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(ctx) }()
	for _, statement := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1 FROM lockstep.outcomes"} {
		if _, err := other.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.forgetOutcomes(ctx); err != nil || there(old) != 1 {
		t.Errorf("while somebody reads them: %d are there, %v", there(old), err)
	}
	for _, statement := range []string{"COMMIT", "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT 1 FROM lockstep.instances"} {
		if _, err := other.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.forgetOutcomes(ctx); err != nil || there(old) != 0 || there(fresh) != 1 {
		t.Errorf("old: %d, fresh: %d, %v", there(old), there(fresh), err)
	}
	if result, done, err := db.outcome(ctx, fresh); err != nil || !done || len(result) != 1 {
		t.Errorf("the fresh one: %v %v %v", result, done, err)
	}
	if _, done, err := db.outcome(ctx, newToken()); err != nil || done {
		t.Errorf("one that was never committed: %v %v", done, err)
	}
}
