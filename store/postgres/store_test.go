package postgres

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/storetest"
)

var ctx = context.Background()

func TestMain(m *testing.M) { pgtest.Main(m) }

// openTest opens a new database.
func openTest(t testing.TB, opts Options) *DB {
	t.Helper()
	return openURL(t, pgtestURL(t), opts)
}

func openURL(t testing.TB, url string, opts Options) *DB {
	t.Helper()
	db, err := Open(ctx, url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestStore gives every case a namespace of its own: what another one has is not seen.
func TestStore(t *testing.T) {
	db := openTest(t, Options{})
	var last atomic.Int64
	storetest.Run(t, func(*testing.T) store.Store { return db.Namespace(fmt.Sprint(last.Add(1))) })
}

// pgtestURL is the address of a new database.
func pgtestURL(t testing.TB) string {
	t.Helper()
	return pgtest.Start(t).Database(t)
}
