package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// In a shared store every node still handles all of its requests itself: it commits, and the
// revision decides. The differences are in this file. Reads are not answered from memory, because
// another node may have changed the instance; commits may start from it (applyUnread). A call is
// made by the node that holds its shard, at first the one that committed it. Definitions are
// those that any node deployed. And commits of other nodes wake the callers that wait here.

const (
	// shortestLook and longestLook bound how long a node waits before it looks for work that
	// others made, if no hint comes: the longer, the longer there was none.
	shortestLook = 5 * time.Millisecond
	longestLook  = 250 * time.Millisecond
	// followLook is how often a node looks what others did that callers here wait for, if no hint comes.
	followLook = 100 * time.Millisecond
	// followPause is how long a node gathers hints before it reads what others did.
	followPause = 5 * time.Millisecond
	// purgePause is how often a node forgets events whose time is up.
	purgePause = core.Time(time.Second)
	// auditPause is how often a node compares calls that wait here with the store: another
	// one may have ended the wait.
	auditPause = core.Time(2 * time.Second)
	// auditSize is of how many instances at a time.
	auditSize = 64
	// maxTold is how many changes of other nodes wake their waiters one by one; with more, all wake.
	maxTold = 10_000
)

// cluster is what an engine knows of other nodes.
type cluster struct {
	deployments int64 // that the definitions in memory are of; under Engine.mu
	known       bool  // likewise: they are of some

	joined atomic.Bool

	// Under Poll's lock.
	shardChanges int64
	read         bool // calls
	purged       core.Time
	audited      core.Time
	policies     core.Time // when policies were last compared
	look         time.Duration
	work         store.Glance // by the last look
}

// sharedClock is the store's clock: what one node calls now, another does.
type sharedClock struct {
	RealClock
	store store.Shared
}

// Now is the time of the store's clock.
func (c sharedClock) Now() time.Time { return c.store.Now() }

// callShard is the shard for calls of an instance; 0: the store is not shared.
func (e *Engine) callShard(instance string) int {
	if e.shared == nil {
		return 0
	}
	return e.shared.CallShard(instance)
}

// mayTell reports whether large values may be stored once.
func (e *Engine) mayTell() bool { return e.shared == nil || e.shared.Chunks() }

// has reports whether this node does the work of an instance.
func (e *Engine) has(instance string) bool { return e.shared == nil || e.shared.Has(instance) }

// idHere draws ids until this node has the shard of one: then no other node is needed for the calls and
// timers of the instance. A node with few shards may not find one soon.
func (e *Engine) idHere(draw func() string) string {
	id := draw()
	if e.shared == nil || e.givenIDs {
		return id
	}
	for range 64 {
		if e.shared.Has(id) {
			break
		}
		id = draw()
	}
	return id
}

// upToDate sees that the definitions in memory are those that are deployed, by whichever
// node: what was acknowledged before this is called counts.
func (e *Engine) upToDate(ctx context.Context) error {
	if e.shared == nil {
		return nil
	}
	n, err := e.shared.Deployments(ctx)
	if err != nil {
		return fmt.Errorf("read definitions: %w", err)
	}
	if e.deployedAt(n) {
		return nil
	}
	e.cfg.Probe.lock(&e.deploys)
	defer e.deploys.Unlock()
	if e.deployedAt(n) {
		return nil
	}
	return e.readDefinitions(ctx, n)
}

// readOutdated reads the definitions after a commit found that others are deployed. Where the
// database lost the last deployments, their count is smaller than what is known.
func (e *Engine) readOutdated(ctx context.Context) error {
	if e.shared == nil {
		return nil // a decision was made here, and is known
	}
	e.cfg.Probe.lock(&e.deploys)
	defer e.deploys.Unlock()
	n, err := e.shared.Deployments(ctx)
	if err != nil {
		return fmt.Errorf("read definitions: %w", err)
	}
	e.mu.Lock()
	same := e.cluster.known && e.cluster.deployments == n
	e.mu.Unlock()
	if same {
		return nil
	}
	return e.readDefinitions(ctx, n)
}

func (e *Engine) deployedAt(n int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cluster.known && e.cluster.deployments >= n
}

// readDefinitions reads the current definitions; n is how often they had changed before.
func (e *Engine) readDefinitions(ctx context.Context, n int64) error {
	rows, err := e.store.ListDefinitions(ctx)
	if err = e.withoutDamage(ctx, err); err != nil {
		return fmt.Errorf("read definitions: %w", err)
	}
	policies, err := e.readPolicies(ctx)
	if err != nil {
		return err
	}
	byID := map[aliasKey]*definition{}
	for _, row := range rows {
		if !row.Current {
			continue // loaded when an instance needs it
		}
		d, err := e.define(row)
		if err != nil {
			e.report(fmt.Errorf("definition %s: %w", row.ID, err)) // the others can still run
			continue
		}
		byID[aliasKey{row.ID, row.Version}], byID[aliasKey{row.ID, ""}] = d, d
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.byID = byID
	e.setPolicies(policies)
	e.aliases++
	e.cluster.deployments, e.cluster.known = n, true
	return nil
}

// mayPurge says whether it is time to forget events.
func (e *Engine) mayPurge(now core.Time) bool {
	c := &e.cluster
	if e.shared != nil && now >= c.purged && now < c.purged+purgePause {
		return false
	}
	c.purged = now
	return true
}

// glance sees which lists of work may have something; without a shared store all may.
func (e *Engine) glance(ctx context.Context, now core.Time) (store.Glance, error) {
	e.cluster.work = store.Anything
	if e.shared == nil {
		return e.cluster.work, nil
	}
	work, err := e.shared.Glance(ctx, now)
	if err != nil {
		return store.Anything, fmt.Errorf("look for work: %w", err)
	}
	e.cluster.work = work
	return work, nil
}

// laterHere is later after a poll that found nothing. What was committed here since ends the pause that follows.
func (e *Engine) laterHere(ctx context.Context) (time.Time, bool) {
	if w := e.cluster.work; w.None() {
		return e.sooner(e.now(), w.Next, w.Later)
	}
	return e.later(ctx, e.now())
}

// idlePause is how long a node rests before it polls again: longer each time it found nothing to do.
func (e *Engine) idlePause(did bool) time.Duration {
	c := &e.cluster
	c.look = min(2*c.look, longestLook)
	if did || c.look == 0 {
		c.look = shortestLook
	}
	return c.look
}

// readyTime is how long a store may take to answer before it counts as away.
const readyTime = 2 * time.Second

// Reason says why a node should get no requests.
type Reason struct {
	Code string // stable, for programs
	Text string // for people; it names no file, host or user
	Err  error  // for the log
}

// Ready lists why this node cannot do what it is asked for; none: it can.
func (e *Engine) Ready(ctx context.Context) (reasons []Reason) {
	if why := e.Stuck(); why != "" {
		reasons = append(reasons, Reason{"no-progress", why, errors.New(why)})
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	if err := e.readable(ctx); err != nil {
		return append(reasons, Reason{"store-read", "the store cannot be read", err})
	}
	err := e.store.Writable(ctx)
	switch {
	case err == nil:
		return reasons
	case errors.Is(err, store.ErrFull):
		return append(reasons, Reason{"storage-full", "there is no space left in the store", err})
	case errors.Is(err, store.ErrMoved):
		return append(reasons, Reason{"store-moved", store.ErrMoved.Error(), err})
	}
	return append(reasons, Reason{"store-write", "writes to the store fail", err})
}

func (e *Engine) readable(ctx context.Context) error {
	if e.shared != nil {
		_, err := e.shared.Deployments(ctx)
		return err
	}
	_, err := e.store.Definition(ctx, "\x00", "") // nothing has that id
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Nodes lists those that use the store. One that does not share it is alone.
func (e *Engine) Nodes(ctx context.Context) ([]store.Node, error) {
	if e.shared != nil {
		return e.shared.Nodes(ctx)
	}
	m := e.cfg.Node
	return []store.Node{{
		Name: m.Name, Address: m.Address, Version: m.Version, Since: e.began.Std(), Seen: e.now().Std(),
		Shards: 1, Of: 1, InFlight: e.InFlight(),
	}}, nil
}

// Join makes this process a node of a shared store until leave is called; with other stores it does
// nothing. Run joins by itself: this is for callers of Poll.
func (e *Engine) Join(ctx context.Context) (leave func(context.Context) error, err error) {
	if e.shared == nil {
		return func(context.Context) error { return nil }, nil
	}
	m := e.cfg.Node
	m.Calls = e.flights
	m.Stuck = func() bool { return e.Stuck() != "" }
	leave, err = e.shared.Join(ctx, m)
	e.cluster.joined.Store(err == nil)
	return leave, err
}

// join joins, however long that takes. What is returned gives everything back, at once where
// no call is in flight.
func (e *Engine) join(ctx context.Context) (leave func()) {
	for {
		left, err := e.Join(ctx)
		if err == nil {
			return func() { e.report(left(context.WithoutCancel(ctx))) }
		}
		if ctx.Err() != nil {
			return func() {}
		}
		e.report(err)
		wait(ctx, errorPause)
	}
}

// background runs what an engine does besides polling while it runs.
func (e *Engine) background(ctx context.Context) (done *sync.WaitGroup) {
	done = &sync.WaitGroup{}
	if e.shared != nil {
		done.Go(func() { e.follow(ctx) })
	}
	if e.quotas.Quotas != (Quotas{}) {
		done.Go(func() { e.keepQuotas(ctx) })
	}
	done.Go(func() { e.keepTallies(ctx) })
	for _, r := range e.relays() {
		done.Go(func() { e.runRelay(ctx, r) })
	}
	return done
}
