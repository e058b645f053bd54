package cluster

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// Database is what the nodes share. It has the concurrency of the PostgreSQL store: each write is
// atomic, a router looks without a lock and looks again where something was written since.
type Database struct {
	store.Store // what is in it; nobody fails here
	now         func() time.Time

	writes      int64 // counts them
	deployments int64 // likewise, those that change what is deployed

	looks   int // how often a router looks without a lock
	lease   time.Duration
	parts   [partCount]part
	members map[string]*member
	epochs  map[callID]int64 // of the part under which a call was handed to its node
	parked  map[callID]bool

	committed func(node string, before *store.Instance, c *store.Commit) // told of every step that is stored
	overtaken func(instance string, waiting int, looked bool)            // likewise, of one whose instance has messages
	deletes   func(row *store.Instance)                                  // told of a deletion before it is made
	deleted   func(me life)                                              // and of one that is
	forgets   func(ctx context.Context, before core.Time) func()         // told of what the feed forgets, before and after
	purged    func(ctx context.Context, before core.Time)                // told that what ended before is gone
}

// partCount is of how many parts the instances are.
const partCount = 6

// callID names a call for ever.
type callID struct {
	instance string
	created  core.Time
	ticket   core.Ticket
}

// NewDatabase returns an empty one with a clock.
func NewDatabase(now func() time.Time, lease time.Duration) *Database {
	return &Database{
		Store: memory.New(), now: now, looks: maxLooks, lease: lease,
		members: map[string]*member{}, epochs: map[callID]int64{}, parked: map[callID]bool{},
	}
}

// Connect returns a session for a node.
func (db *Database) Connect(node string, l link) *Session {
	return &Session{db: db, node: node, link: l, looked: inboxes{}}
}

// partOf is the part of an instance, from 0.
func partOf(instance string) int {
	h := fnv.New32a()
	h.Write([]byte(instance))
	return int(h.Sum32() % partCount)
}

// numberPart is the part of what belongs to no instance.
func numberPart(seq int64) int { return int(seq % partCount) }

// partOfCall is the part that a call was put into.
func partOfCall(c *store.Call) int {
	if c.Shard == 0 {
		return partOf(c.Instance)
	}
	return c.Shard - 1
}

func idOf(c *store.Call) callID { return callID{c.Instance, c.Created, c.Ticket} }

// maxLooks is how often a router looks without a lock.
const maxLooks = 6

var errLook = errors.New("only a look")

// view is the database as a router sees it that has no lock.
func (db *Database) view(ctx context.Context) (v store.View, err error) {
	err = db.Store.Route(ctx, func(in store.View) (store.Routing, error) {
		v = in
		return store.Routing{}, errLook
	})
	if errors.Is(err, errLook) {
		err = nil
	}
	return v, err
}

// pendingView is a view with an event that is being taken.
type pendingView struct {
	store.View
	event store.Event
}

func (v pendingView) Event(seq int64) (store.Event, bool) {
	if seq == v.event.Seq {
		return v.event, true
	}
	return v.View.Event(seq)
}

// pending is the event as its router will see it.
func (db *Database) pending(ctx context.Context, e store.Event) (got store.Event, known bool, err error) {
	_, err = db.Store.Ingest(ctx, e, 0, func(as store.Event, _ store.View) (store.Routing, error) {
		got = as
		return store.Routing{}, errLook
	})
	switch {
	case errors.Is(err, errLook):
		return got, false, nil
	case errors.Is(err, store.ErrDuplicate):
		return got, true, nil
	}
	return got, false, err
}

// commit writes the outcome of a step of a node; epoch is that of a part as the node knows it.
func (db *Database) commit(ctx context.Context, node string, c store.Commit, epoch func(part int) int64) error {
	if c.Deployed != 0 && c.Deployed != db.deployments {
		return fmt.Errorf("commit instance %s: %w", c.Instance.ID, store.ErrOutdated)
	}
	var before *store.Instance
	if row, err := db.Store.Instance(ctx, c.Instance.ID); err == nil {
		before = &row
	}
	if err := db.Store.Commit(ctx, c); err != nil {
		return err
	}
	if db.committed != nil {
		db.committed(node, before, &c)
	}
	for i := range c.Calls {
		call := c.Calls[i]
		call.Instance, call.Created = c.Instance.ID, c.Instance.Created
		db.epochs[idOf(&call)] = epoch(partOfCall(&call))
	}
	return nil
}
