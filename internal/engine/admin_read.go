package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// History is a part of an instance's history.
type History struct {
	First   int64 // the number of the first record; they count from 1
	Records []core.Record
	More    bool
}

// HistoryPage reads at most limit records of an instance that come after one.
func (e *Engine) HistoryPage(ctx context.Context, id string, after int64, limit int) (History, error) {
	after = max(after, 0)
	list, err := e.store.Records(ctx, id, after, limit+1)
	if err != nil {
		return History{}, notFound(err, id)
	}
	out := History{First: after + 1, Records: list}
	if len(out.Records) > limit {
		out.Records, out.More = out.Records[:limit], true
	}
	return out, nil
}

// HistoryBefore reads at most limit records of an instance that come just before one, in
// order; before 0 reads its newest. More says whether there are older ones.
func (e *Engine) HistoryBefore(ctx context.Context, id string, before int64, limit int) (History, error) {
	if before <= 0 {
		row, err := e.Get(ctx, id)
		if err != nil {
			return History{}, err
		}
		before = row.Records + 1
	}
	after := max(before-1-int64(limit), 0)
	list, err := e.store.Records(ctx, id, after, max(int(before-1-after), 1))
	if err != nil {
		return History{}, notFound(err, id)
	}
	list = list[:min(len(list), int(before-1-after))]
	return History{First: after + 1, Records: list, More: after > 0}, nil
}

// EventPage reads kept events; see [store.EventPage]. Those that are damaged are left out, and the log names them.
func (e *Engine) EventPage(ctx context.Context, q store.EventQuery) (store.EventPage, error) {
	page, err := e.store.Events(ctx, q)
	if err = e.withoutDamage(ctx, err); err != nil {
		return store.EventPage{}, fmt.Errorf("read events: %w", err)
	}
	return page, nil
}

// Definition reads a deployed definition; version "" is the current one.
func (e *Engine) Definition(ctx context.Context, id, version string) (store.Definition, error) {
	row, err := e.store.Definition(ctx, id, version)
	if errors.Is(err, store.ErrNotFound) {
		return row, &NotFoundError{"definition", id, version}
	}
	return row, err
}

// Content reads a definition by its digest, also one that no version leads to.
func (e *Engine) Content(ctx context.Context, id, digest string) (store.Definition, error) {
	row, err := e.store.Content(ctx, digest)
	if errors.Is(err, store.ErrNotFound) || err == nil && row.ID != id {
		return row, &NotFoundError{Kind: "definition", ID: id, Version: digest}
	}
	return row, err
}

// Query lists the instances that a query selects.
func (e *Engine) Query(ctx context.Context, q store.Query) ([]Instance, error) {
	return e.store.Instances(ctx, q)
}

// Count is how many instances a query selects.
func (e *Engine) Count(ctx context.Context, q store.Query) (int64, error) {
	return e.store.Count(ctx, q)
}

// Stats counts instances by definition, version and status.
func (e *Engine) Stats(ctx context.Context) ([]store.Stat, error) { return e.store.Stats(ctx) }

// Feed lists what commits did after a position; see [store.Queries].
func (e *Engine) Feed(ctx context.Context, after int64, limit int) (store.Feed, error) {
	return e.store.Feed(ctx, after, limit)
}

// DeleteInstance removes an instance that is over, at a revision if that is not 0. One whose row is
// damaged is over, too: nothing else can be done with it.
func (e *Engine) DeleteInstance(ctx context.Context, id string, rev int64) error {
	l, err := e.live.acquire(ctx, id, onRequest)
	if err != nil {
		return err
	}
	defer e.live.release(l)
	row, err := e.Get(ctx, id)
	d := store.Deletion{At: max(e.now(), row.Updated)}
	switch {
	case errors.Is(err, store.ErrDamaged):
		d = store.Deletion{At: e.now(), Rev: rev, Live: true}
	case err != nil:
		return err
	case rev != 0 && row.Rev != rev:
		return &RevisionError{id, rev, row.Rev}
	case !row.Status.Final():
		return &core.Rejected{Msg: fmt.Sprintf("the instance is %s; only one that is over can be deleted", row.Status)}
	}
	l.forget()
	err = e.store.DeleteInstance(ctx, id, d)
	if errors.Is(err, store.ErrLive) { // it was retried on another node
		return &core.Rejected{Msg: "the instance is not over; only one that is can be deleted"}
	}
	if err == nil {
		e.deleted(id, d)
	}
	return notFound(err, id)
}

// deleted tells that an instance is not there any more.
func (e *Engine) deleted(id string, d store.Deletion) {
	e.stored.Add(1)
	e.calls.dropAll(id) // another may get the id
	if e.cfg.OnRecord != nil {
		e.cfg.OnRecord(id, d.Record())
	}
	e.changed(id)
}

// DeleteDefinition removes a version of a definition; "" removes all of them. While
// instances refer to one it fails with *store.InUseError, and removes none that comes
// after it. Where the current version goes, the last deployed of the others becomes it.
func (e *Engine) DeleteDefinition(ctx context.Context, id, version string) error {
	e.cfg.Probe.lock(&e.deploys)
	defer e.deploys.Unlock()
	rows, err := e.Definitions(ctx)
	if err != nil {
		return fmt.Errorf("delete definition %s: %w", id, err)
	}
	rows = slices.DeleteFunc(rows, func(d store.Definition) bool { return d.ID != id || version != "" && d.Version != version })
	if len(rows) == 0 {
		return &NotFoundError{"definition", id, version}
	}
	if version == "" { // all or nothing, as far as that can be known
		if err := e.unused(ctx, id, rows); err != nil {
			return err
		}
	}
	for _, row := range rows {
		heir, err := e.store.DeleteDefinition(ctx, id, row.Version, e.inherited)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("delete definition: %w", err)
		}
		e.disown(row)
		if heir != nil {
			e.inherit(*heir)
		}
	}
	policies, err := e.readPolicies(ctx) // that of the last version is gone
	if err != nil {
		return fmt.Errorf("delete definition %s: %w", id, err)
	}
	e.mu.Lock()
	e.setPolicies(policies)
	e.mu.Unlock()
	e.wakeUp()
	return nil
}

func (e *Engine) unused(ctx context.Context, id string, rows []store.Definition) error {
	for _, row := range rows {
		n, err := e.store.Count(ctx, store.Query{Definition: id, Version: row.Version})
		if err != nil {
			return fmt.Errorf("delete definition %s: %w", id, err)
		}
		if n > 0 {
			return &store.InUseError{Definition: id, Version: row.Version, Instances: n}
		}
	}
	return nil
}

// disown forgets a definition that is not deployed any more.
func (e *Engine) disown(row store.Definition) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.byID, aliasKey{row.ID, row.Version})
	if d := e.byID[aliasKey{row.ID, ""}]; d != nil && d.row.Version == row.Version {
		delete(e.byID, aliasKey{row.ID, ""})
	}
	delete(e.linked, row.Digest) // linked again if another alias leads to it
	e.aliases++
	e.starts = nil
}

// changes wakes the followers of the feed. A commit only closes a channel, and only if there is a
// follower: a slow one costs nothing.
type changes struct {
	mu   sync.Mutex
	next chan struct{}
}

// Changes returns a channel that is closed with the next change. Ask for it before
// reading, so that none is missed between.
func (e *Engine) Changes() <-chan struct{} {
	e.changes.mu.Lock()
	defer e.changes.mu.Unlock()
	if e.changes.next == nil {
		e.changes.next = make(chan struct{})
	}
	return e.changes.next
}

func (c *changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// FeedEnd is the position of the newest item of the feed; nothing is behind it yet.
func (e *Engine) FeedEnd(ctx context.Context) (int64, error) {
	feed, err := e.store.Feed(ctx, 0, 0)
	if err != nil {
		return 0, fmt.Errorf("find the end of the feed: %w", err)
	}
	return feed.Last, nil
}
