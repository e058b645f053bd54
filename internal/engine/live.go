package engine

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/redact"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// liveCapacity is how many states of waiting instances stay in memory.
	liveCapacity = 4096
	// liveBytes is how large they are, as they are stored; in memory it is several times
	// as much.
	liveBytes = 32 << 20
)

// mode says who runs a step, and so when it ends early.
type mode int

const (
	// ordinary: a worker, the goroutine of a call, or a start. A step that turns out to be
	// expensive is left to the lane.
	ordinary mode = iota
	inLane
	// onRequest: a caller waits for the answer. It makes the others give the instance up.
	onRequest
)

// live is an instance in memory. Its lock makes inputs of one instance go one at a
// time; the revision keeps it right when another node writes too.
type live struct {
	lock   chan struct{} // full while it is locked: waiting for it can be given up
	gone   chan struct{} // closed when its step is given up: others use another live
	urgent atomic.Int32  // callers with onRequest that wait for the lock
	id     string

	// Under the lock.
	how    mode
	loaded bool
	// trusted says that memory was right when it was last compared with the store, where
	// others write to it too: then it is worth trying whether it still is.
	trusted bool
	row     store.Instance // as stored
	prog    *core.Program
	secrets *redact.Set // of the program; nil: it has none
	state   *core.State // nil: it has not taken its start yet
	large   pageSizes

	deployed int64 // for the commit that creates it, see store.Commit

	box    sync.Mutex
	posted []*posted // inputs for the holder of the lock

	refs int           // under the cache's lock; likewise:
	lost bool          // gone is closed
	idle *list.Element // likewise; nil while in use
	kept int           // likewise: the bytes that it counts for while it is idle
}

// smallPage is up to how many bytes pages are not worth counting.
const smallPage = 1024

// pageSizes are the sizes of the large pages of an instance, as they are stored.
type pageSizes struct {
	sizes map[pageID]int
	bytes int
}

type pageID struct {
	frame core.FrameID
	part  int32
}

// note takes notice of pages that are stored.
func (p *pageSizes) note(pages []core.Page) {
	for _, page := range pages {
		if page.Chunk != 0 {
			continue // the state counts them
		}
		id, n := pageID{page.Frame, page.Part}, len(page.Data)
		if n <= smallPage {
			n = 0
		}
		if p.bytes += n - p.sizes[id]; n == 0 {
			delete(p.sizes, id)
			continue
		}
		if p.sizes == nil {
			p.sizes = map[pageID]int{}
		}
		p.sizes[id] = n
	}
}

// cache keeps states of instances that are in use, and some that are not.
type cache struct {
	mu       sync.Mutex
	entries  map[string]*live
	idle     list.List // least recently used first
	capacity int
	bytes    int    // of those that are idle
	yield    func() // Probe.Yield
}

func (c *cache) init(capacity int) {
	c.entries, c.capacity = map[string]*live{}, capacity
}

// acquire locks an instance. Where that takes too long, the error is a *BusyError.
func (c *cache) acquire(ctx context.Context, id string, how mode) (*live, error) {
	for {
		l := c.enter(id)
		err := c.wait(ctx, l, how)
		if err == nil {
			return l, nil
		}
		if c.leave(l); err != errGone {
			return nil, err
		}
	}
}

// acquireIdle locks an instance; it returns nil if the instance is locked.
func (c *cache) acquireIdle(id string) *live {
	l := c.enter(id)
	select {
	case l.lock <- struct{}{}:
		if l.got(ordinary) == nil {
			return l
		}
	default:
	}
	c.leave(l)
	return nil
}

// errGone says that a step was given up: the instance is to be looked up again.
var errGone = errors.New("the step was given up")

// wait locks an instance that was entered.
func (c *cache) wait(ctx context.Context, l *live, how mode) error {
	select {
	case l.lock <- struct{}{}:
		return l.got(how)
	default:
	}
	if how == onRequest {
		l.urgent.Add(1)
		defer l.urgent.Add(-1)
	}
	for c.yield != nil && ctx.Err() == nil && len(l.lock) > 0 {
		c.yield()
	}
	late := time.NewTimer(controlTime)
	defer late.Stop()
	select {
	case l.lock <- struct{}{}:
		return l.got(how)
	case <-l.gone:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return &BusyError{l.id}
	}
}

// got is called after getting the lock. It fails if the step that held the lock before was given up:
// then others work on the instance already.
func (l *live) got(how mode) error {
	select {
	case <-l.gone:
		<-l.lock
		return errGone
	default:
		l.how = how
		return nil
	}
}

// enter says that someone is about to lock an instance.
func (c *cache) enter(id string) *live {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.entries[id]
	if l == nil {
		l = &live{id: id, lock: make(chan struct{}, 1), gone: make(chan struct{})}
		c.entries[id] = l
	}
	l.refs++
	if l.idle != nil {
		c.inUse(l)
	}
	return l
}

// leave undoes enter for a caller that did not get the lock. The instance may be in any state: the
// holder of the lock decides whether it stays in memory.
func (c *cache) leave(l *live) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.refs--; l.refs == 0 && !l.lost {
		delete(c.entries, l.id)
	}
}

// giveUp lets others work on an instance though a step of it has not returned.
func (c *cache) giveUp(l *live) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.lost {
		return
	}
	l.lost = true
	close(l.gone)
	if c.entries[l.id] == l {
		delete(c.entries, l.id)
	}
}

// inUse takes an instance out of those that are idle.
func (c *cache) inUse(l *live) {
	c.idle.Remove(l.idle)
	c.bytes -= l.kept
	l.idle, l.kept = nil, 0
}

// release unlocks an instance, and forgets it if it is not worth keeping.
func (c *cache) release(l *live) {
	worth, size := l.loaded && !l.row.Status.Final(), l.large.bytes
	if l.state != nil {
		size += l.state.ChunkSize()
	}
	<-l.lock
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.refs--; l.refs > 0 || l.lost {
		return
	}
	if !worth {
		delete(c.entries, l.id)
		return
	}
	l.idle, l.kept = c.idle.PushBack(l), size
	c.bytes += size
	for c.idle.Len() > c.capacity || c.bytes > liveBytes {
		old := c.idle.Front().Value.(*live)
		c.inUse(old)
		delete(c.entries, old.id)
	}
}

// busy reports whether an instance is locked or waited for.
func (c *cache) busy(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.entries[id]
	return l != nil && l.refs > 0
}

// has reports whether an instance is in memory.
func (c *cache) has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[id] != nil
}

// idleRow is the row of an instance that is in memory and not locked.
func (c *cache) idleRow(id string) (store.Instance, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.entries[id]; l != nil && l.idle != nil && l.loaded {
		return l.row, true
	}
	return store.Instance{}, false
}

// idleJob is the row and the data of a job that is in memory and not locked.
func (c *cache) idleJob(id string) (store.Instance, expr.Value, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.entries[id]; l != nil && l.idle != nil && l.loaded && l.state != nil {
		return l.row, l.state.Data(), true
	}
	return store.Instance{}, expr.Null, false
}

// cacheIsCurrent reports whether instances in memory are as they are stored. They are if only this
// process writes to the store; otherwise the stored revision must be compared first.
func (e *Engine) cacheIsCurrent() bool { return e.alone }

// forget drops what is in memory: the next use reads the store.
func (l *live) forget() { l.loaded, l.trusted, l.state, l.large = false, false, nil, pageSizes{} }

// load reads an instance unless it is in memory. A brokenError leaves the row.
func (e *Engine) load(ctx context.Context, l *live) error {
	e.renewSecrets(l)
	// One that is over may be deleted at any time, see dropInstances.
	if l.loaded && (e.cacheIsCurrent() && !l.row.Status.Final() || l.row.Rev == 0) {
		return nil
	}
	row, pages, err := e.read(ctx, l)
	var broken *brokenError
	switch {
	case errors.As(err, &broken):
		l.forget()
		l.row = row
		return err
	case errors.Is(err, store.ErrNotFound):
		return &NotFoundError{Kind: "instance", ID: l.id}
	case err != nil:
		return fmt.Errorf("load instance %s: %w", l.id, err)
	case l.loaded && l.isAt(&row):
		l.trusted = true
		return nil
	}
	l.forget()
	l.row, l.state = row, nil
	l.prog, err = e.program(ctx, row.Digest)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged):
		return &brokenError{err}
	case err != nil: // the store may answer later
		return fmt.Errorf("load instance %s: %w", l.id, err)
	}
	l.secrets = e.secretsOf(l.prog)
	if len(pages) > 0 {
		if l.state, err = decode(l.prog, pages, l.sealer()); err != nil {
			return err
		}
	}
	l.large.note(pages)
	l.loaded = true
	return nil
}

// read reads the row and the pages of an instance, which are of one revision. It leaves
// out the pages where those in memory are of that revision, too.
func (e *Engine) read(ctx context.Context, l *live) (row store.Instance, pages []core.Page, err error) {
	for range maxConflicts {
		if row, err = e.store.Instance(ctx, l.id); err != nil || l.loaded && l.isAt(&row) {
			return row, nil, err
		}
		pages, err = e.store.Pages(ctx, l.id)
		damaged := errors.Is(err, store.ErrDamaged)
		if damaged {
			err = &brokenError{err}
		}
		if err != nil && !damaged || e.cacheIsCurrent() {
			return row, pages, err
		}
		again, failed := e.store.Instance(ctx, l.id)
		if failed != nil {
			return row, nil, failed
		}
		if again.Rev == row.Rev {
			return row, pages, err
		}
	}
	return row, nil, store.ErrConflict
}

// isAt reports whether a row is of the revision that is in memory, and of the same
// instance: another may have got the id.
func (l *live) isAt(row *store.Instance) bool {
	return l.row.Rev == row.Rev && l.row.Created == row.Created
}

// decode reads a state; without seal it has references in the place of secrets. Bytes that are none,
// or that make it panic, are a brokenError.
func decode(p *core.Program, pages []core.Page, seal core.Sealer) (s *core.State, err error) {
	err = guard(func() (err error) {
		if s, err = core.DecodeState(p, pages, seal); err != nil && !isNoSecret(err) {
			return &brokenError{err}
		}
		return err
	})
	return s, err
}
