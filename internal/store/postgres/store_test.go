package postgres

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

var ctx = context.Background()

// randomChecks is how many random runs a property has here, unless -rapid.checks says otherwise: each asks a
// database thousands of times. Where stores are compared, those of SQLite and memory have the usual number.
const randomChecks = "30"

func TestMain(m *testing.M) {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if !chosen {
		if err := flag.Set("rapid.checks", randomChecks); err != nil {
			log.Fatal(err)
		}
	}
	pgtest.Main(m)
}

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

// TestGathered has all cases again with commits that are written as those that share a transaction.
func TestGathered(t *testing.T) {
	db := openTest(t, Options{gather: true})
	var last atomic.Int64
	storetest.Cases(t, func(*testing.T) store.Store { return db.Namespace(fmt.Sprint(last.Add(1))) })
}

// TestSpoiled repeats attempts that went well: reads, transactions that are rolled back for it, and
// writes whose answer is lost. No attempt may leave anything behind for the next.
func TestSpoiled(t *testing.T) {
	var attempts, last atomic.Int64
	db := openTest(t, Options{spoil: func() error {
		if attempts.Add(1)%3 != 1 { // neither always the first nor always the one that asks how it ended
			return nil
		}
		return io.ErrUnexpectedEOF // as where a connection is lost
	}})
	storetest.Cases(t, func(*testing.T) store.Store { return db.Namespace(fmt.Sprint(last.Add(1))) })
	if attempts.Load() == 0 {
		t.Error("nothing was repeated")
	}
}

// pgtestURL is the address of a new database.
func pgtestURL(t testing.TB) string {
	t.Helper()
	return pgtest.Start(t).Database(t)
}
