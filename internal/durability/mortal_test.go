package durability

import (
	"context"
	"os"
	"slices"
	"sync/atomic"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// mortal is a store that ends its process at the n-th durable write: as soon as that is
// durable, before anybody is told, or just before it.
type mortal struct {
	store.Store
	n      int64 // 0: never
	before bool
	writes atomic.Int64
}

// write does a durable write.
func (m *mortal) write(do func() error) error {
	if m.before {
		m.count()
		return do()
	}
	err := do()
	if err == nil {
		m.count()
	}
	return err
}

func (m *mortal) count() {
	if m.writes.Add(1) == m.n {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {} // the signal comes; nothing goes on from here
	}
}

func (m *mortal) Commit(ctx context.Context, c store.Commit) error {
	return m.write(func() error { return m.Store.Commit(ctx, c) })
}

func (m *mortal) Ingest(ctx context.Context, e store.Event, emit int64, route func(store.Event, store.View) (store.Routing, error)) (out store.Event, err error) {
	err = m.write(func() error {
		out, err = m.Store.Ingest(ctx, e, emit, route)
		return err
	})
	return out, err
}

func (m *mortal) Route(ctx context.Context, route store.Router) error {
	return m.write(func() error { return m.Store.Route(ctx, route) })
}

// PutDefinitions is a write only where it changes something.
func (m *mortal) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) (out []store.Definition, err error) {
	changed := slices.ContainsFunc(ds, func(d store.Deployment) bool {
		known, err := m.Store.Definition(ctx, d.ID, d.Version)
		return err != nil || known.Digest != d.Digest
	})
	if !changed {
		return m.Store.PutDefinitions(ctx, ds, move)
	}
	err = m.write(func() error {
		out, err = m.Store.PutDefinitions(ctx, ds, move)
		return err
	})
	return out, err
}
