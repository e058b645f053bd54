package postgres

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestReadOnly: a database that can only be read, as a standby, is not writable, whether somebody
// tried or not; when it can be written again, so it is.
func TestReadOnly(t *testing.T) {
	url := pgtestURL(t)
	first := openURL(t, url, Options{})
	admin := first.pool
	name := first.pool.Config().ConnConfig.Database
	readOnly := func(on string) {
		t.Helper()
		change := "BEGIN READ WRITE; ALTER DATABASE " + name + " SET default_transaction_read_only = " + on + "; COMMIT"
		if _, err := admin.Exec(ctx, change, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Namespace("n").Writable(ctx); err != nil {
		t.Errorf("at first: %v", err)
	}
	readOnly("on")
	second := openURL(t, url, Options{KeepSchema: true, Patience: time.Millisecond})
	s := second.Namespace("n")
	if err := s.Writable(ctx); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("idle: %v", err)
	}
	second.health = store.WriteHealth{}
	if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}}); err == nil {
		t.Fatal("a commit to a database that can only be read")
	}
	if err := second.health.Ask(ctx, func(context.Context) error { return nil }); err == nil {
		t.Error("nobody remembers that a write has just failed")
	}
	readOnly("off")
	second.pool.Reset() // connections begin with it
	second.health = store.WriteHealth{}
	if err := s.Writable(ctx); err != nil {
		t.Errorf("when it can be written again: %v", err)
	}
}
