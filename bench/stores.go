package main

import (
	"context"
	"fmt"
	"os"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
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
	if isPostgres(kind) {
		return openPostgres(kind)
	}
	return opened{}, fmt.Errorf("-store: there is no %q; memory, sqlite, postgres, postgres://…", kind)
}

// workDir makes a folder below the current one: the usual one for temporary files may be
// in memory.
func workDir() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(".", "bench-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

func openSQLite() (opened, error) {
	dir, remove, err := workDir()
	if err != nil {
		return opened{}, err
	}
	db, err := openDatabase(dir)
	if err != nil {
		remove()
		return opened{}, err
	}
	return opened{
		Store: db.store,
		cost: func() cost {
			traffic, err := db.Traffic(context.Background())
			complain(err)
			return cost{traffic.Bytes, db.Counters().Statements}
		},
		close: func() {
			_ = db.Close()
			remove()
		},
	}, nil
}
