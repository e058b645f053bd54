package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

const (
	// purgePart is how many instances one turn deletes ("retention-batch").
	purgePart = 128
	// purgeItems is how many items of the feed one turn forgets ("feed-retention-batch").
	purgeItems = 1024
)

// purge has the store forget what is older than a time. The store finds it by its age:
// looking costs little, however much is kept.
type purge struct {
	what  string
	after time.Duration
	part  int
	drop  func(ctx context.Context, e *Engine, before, now core.Time, limit int) (int, error)
	next  core.Time
}

func (h *house) addPurges(cfg *Config) {
	if cfg.Retention > 0 {
		h.chores = append(h.chores, &purge{what: "instances", after: cfg.Retention, part: purgePart, drop: dropInstances})
	}
	if cfg.FeedRetention > 0 {
		h.chores = append(h.chores, &purge{what: "the feed", after: cfg.FeedRetention, part: purgeItems, drop: dropItems})
	}
}

// due is the next turn. One that is farther away than any pause was set by a clock that
// stepped back since.
func (p *purge) due(now core.Time) core.Time {
	if p.next-now > core.Time(longestSweep) {
		return now
	}
	return p.next
}

func (p *purge) putOff(until core.Time) { p.next = until }

// work deletes a part. Where there is more, as after the first start with the setting, the
// next part comes after as long a rest as this one took: stores make others wait while
// they delete, also those of other nodes.
func (p *purge) work(ctx context.Context, e *Engine, now core.Time, _ func(error)) error {
	p.next = now + sweepPause(p.after)
	before := now - core.Time(p.after)
	if before > now {
		return nil // before the first instant there is
	}
	began := e.now()
	n, err := p.drop(ctx, e, before, now, p.part)
	if err != nil {
		return fmt.Errorf("retention of %s: %w", p.what, err)
	}
	if n >= p.part {
		ended := e.now()
		p.next = ended + max(ended-began, 0)
	}
	return nil
}

// dropInstances deletes instances that are over. They are no longer needed: the commit that ended one
// sent a message to the instance that waits for it, and an instance that has messages itself is left
// for later. The first to end are deleted first, so that a child does not outlive its parent, where
// a new instance with the parent's id would find it.
func dropInstances(ctx context.Context, e *Engine, before, now core.Time, limit int) (int, error) {
	n, err := e.store.PurgeInstances(ctx, before, now, limit)
	if n > 0 {
		e.house.instances.Add(int64(n))
		e.stored.Add(int64(n))
		e.changes.tell() // the feed has their deletions
	}
	return n, err
}

// dropItems forgets old items of the feed. A follower from before them gets a reset.
func dropItems(ctx context.Context, e *Engine, before, _ core.Time, limit int) (int, error) {
	n, err := e.store.PurgeFeed(ctx, before, limit)
	if n > 0 {
		e.house.items.Add(int64(n))
		e.stored.Add(int64(n))
		e.changes.tell() // caches of the feed's end drop the items, too
	}
	return n, err
}
