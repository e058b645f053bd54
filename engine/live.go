package engine

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
)

// liveCapacity is how many states of waiting instances stay in memory.
const liveCapacity = 4096

// live is an instance in memory. Its lock makes inputs of one instance go one at a
// time; the revision keeps it right when another node writes too.
type live struct {
	mu     sync.Mutex
	id     string
	loaded bool
	row    store.Instance // as stored
	prog   *core.Program
	state  *core.State // nil: it has not taken its start yet

	box    sync.Mutex
	posted []*posted // answers that wait for whoever has the lock

	refs int           // under the cache's lock
	idle *list.Element // likewise; nil while in use
}

// cache keeps states of instances that are in use, and some that are not.
type cache struct {
	mu       sync.Mutex
	entries  map[string]*live
	idle     list.List // least recently used first
	capacity int
}

func (c *cache) init(capacity int) {
	c.entries, c.capacity = map[string]*live{}, capacity
}

// acquire locks an instance.
func (c *cache) acquire(id string) *live {
	l := c.enter(id)
	l.mu.Lock()
	return l
}

// enter says that someone is about to lock an instance.
func (c *cache) enter(id string) *live {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.entries[id]
	if l == nil {
		l = &live{id: id}
		c.entries[id] = l
	}
	l.refs++
	if l.idle != nil {
		c.idle.Remove(l.idle)
		l.idle = nil
	}
	return l
}

// release unlocks an instance, and forgets it if it is not worth keeping.
func (c *cache) release(l *live) {
	worth := l.loaded && !l.row.Status.Final()
	l.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.refs--; l.refs > 0 {
		return
	}
	if !worth {
		delete(c.entries, l.id)
		return
	}
	l.idle = c.idle.PushBack(l)
	for c.idle.Len() > c.capacity {
		old := c.idle.Remove(c.idle.Front()).(*live)
		delete(c.entries, old.id)
	}
}

// idleRow is the row of an instance that is in memory and nobody works on.
func (c *cache) idleRow(id string) (store.Instance, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.entries[id]; l != nil && l.idle != nil && l.loaded {
		return l.row, true
	}
	return store.Instance{}, false
}

// forget drops what is in memory: the next use reads the store.
func (l *live) forget() { l.loaded, l.state = false, nil }

// load reads an instance unless it is in memory. A brokenError leaves the row.
func (e *Engine) load(ctx context.Context, l *live) error {
	if l.loaded {
		return nil
	}
	row, err := e.store.Instance(ctx, l.id)
	if errors.Is(err, store.ErrNotFound) {
		return &NotFoundError{Kind: "instance", ID: l.id}
	}
	if err != nil {
		return fmt.Errorf("load instance %s: %w", l.id, err)
	}
	pages, err := e.store.Pages(ctx, l.id)
	if err != nil {
		return fmt.Errorf("load instance %s: %w", l.id, err)
	}
	l.row, l.state = row, nil
	l.prog, err = e.program(ctx, row.Digest)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
		return &brokenError{err}
	case err != nil: // the store may answer later
		return fmt.Errorf("load instance %s: %w", l.id, err)
	}
	if len(pages) > 0 {
		if l.state, err = decode(l.prog, pages); err != nil {
			return err
		}
	}
	l.loaded = true
	return nil
}

// decode reads a state. Bytes that are none, or that make it panic, are a brokenError.
func decode(p *core.Program, pages []core.Page) (s *core.State, err error) {
	err = guard(func() (err error) {
		if s, err = core.DecodeState(p, pages); err != nil {
			return &brokenError{err}
		}
		return nil
	})
	return s, err
}
