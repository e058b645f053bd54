package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/memory"
	"github.com/lockstep-workflows/lockstep/store/sqlite"
)

// opened is a store that is measured.
type opened struct {
	store.Store
	close func()
	cost  func() cost
}

// cost is what a store did so far.
type cost struct{ bytes, statements int64 }

func (c cost) minus(o cost) cost { return cost{c.bytes - o.bytes, c.statements - o.statements} }

func (c cost) bytesPer(n int) string { return per(c.bytes, n) }

func (c cost) statementsPer(n int) string { return per(c.statements, n) }

func per(total int64, n int) string {
	if total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(total)/float64(n))
}

func openStore(kind string) (opened, error) {
	switch kind {
	case "memory":
		return opened{Store: memory.New(), close: func() {}, cost: func() cost { return cost{} }}, nil
	case "sqlite":
		return openSQLite()
	}
	return opened{}, fmt.Errorf("-store: there is no %q; memory, sqlite", kind)
}

// openSQLite makes a database in the current directory: the usual one for temporary
// files may be in memory.
func openSQLite() (opened, error) {
	dir, err := os.MkdirTemp(".", "bench-")
	if err != nil {
		return opened{}, err
	}
	db, err := sqlite.Open(filepath.Join(dir, "bench.db"), sqlite.Options{})
	if err != nil {
		_ = os.RemoveAll(dir)
		return opened{}, err
	}
	return opened{
		Store: db.Namespace("default"),
		cost:  func() cost { return cost{} },
		close: func() {
			_ = db.Close()
			_ = os.RemoveAll(dir)
		},
	}, nil
}
