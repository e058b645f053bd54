package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// opened is a store that is measured.
type opened struct {
	store.Store
	close func()
	cost  func() cost
	cpu   func() time.Duration // that a server of its own used
}

// cost is what a store did so far.
type cost struct{ bytes, statements int64 }

func (c cost) minus(o cost) cost { return cost{c.bytes - o.bytes, c.statements - o.statements} }

func noCPU() time.Duration { return 0 }

func openStore(kind string) (opened, error) {
	switch kind {
	case "memory":
		return opened{Store: memory.New(), close: func() {}, cost: func() cost { return cost{} }, cpu: noCPU}, nil
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
			c := db.Counters()
			return cost{traffic.Bytes, c.Statements + c.Queries}
		},
		cpu: noCPU,
		close: func() {
			_ = db.Close()
			remove()
		},
	}, nil
}
