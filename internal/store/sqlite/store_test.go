package sqlite

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		db := openTest(t)
		return &closing{db.Namespace("default"), db}
	})
}

// TestInline: a store without a goroutine does the same.
func TestInline(t *testing.T) {
	storetest.Cases(t, func(t *testing.T) store.Store {
		db, err := Open(filepath.Join(t.TempDir(), "test.db"), Options{Inline: true, Readers: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return &closing{db.Namespace("default"), db}
	})
}

// TestReopened has random calls close the store and open it again.
func TestReopened(t *testing.T) {
	storetest.Random(t, func(t *testing.T) store.Store {
		db := openTest(t)
		return &reopening{closing{db.Namespace("default"), db}}
	})
}

type closing struct {
	store.Store
	db *DB
}

func (c *closing) Close() error { return c.db.Close() }

type reopening struct{ closing }

func (r *reopening) Reopen() (storetest.Reopener, error) {
	if err := r.db.Close(); err != nil {
		return nil, err
	}
	db, err := Open(r.db.path, r.db.opts)
	if err != nil {
		return nil, err
	}
	return &reopening{closing{db.Namespace("default"), db}}, nil
}

// openTest opens a new database.
func openTest(t testing.TB) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "test.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		waitsAreRight(t, db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// waitsAreRight compares the open subscriptions in memory with those in the file.
func waitsAreRight(t testing.TB, db *DB) {
	t.Helper()
	err := db.writer.submit(ctx, 0, func(tr *tx) error {
		for _, sp := range db.spaces {
			stored := newSpace(sp.ns, sp.name)
			if err := stored.recoverWaits(tr.conn); err != nil {
				return err
			}
			types := map[string]bool{}
			for _, of := range []*space{sp, stored} {
				for typ := range of.waits {
					types[typ] = true
				}
			}
			for typ := range types {
				have, want := sp.waits[typ].some(1<<30), stored.waits[typ].some(1<<30)
				if !slices.Equal(have, want) {
					t.Errorf("for events of type %q there wait %v in memory, and %v in the file", typ, have, want)
				}
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errClosed) {
		t.Log("waits are not compared:", err) // it was broken on purpose
	}
}
