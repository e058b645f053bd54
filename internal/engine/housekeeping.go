package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

const (
	// The time between two looks at all that is to be deleted after a time is a part of
	// that time, within these bounds.
	shortestSweep = time.Second
	longestSweep  = time.Hour
	sweepFraction = 32
)

// MaxRetention is the longest time after which something can be deleted ("retention"): with
// more, instants do not fit.
const MaxRetention = 100 * 365 * 24 * time.Hour

// housekeeper is no instance: of several nodes the one keeps house that would have it.
const housekeeper = "housekeeping"

// house is how far housekeeping is. Poll's lock is around what chores do; the instant of
// the next, and the figures, are read by others, too.
type house struct {
	chores []chore

	mu   sync.Mutex
	next core.Time

	jobs, instances, items atomic.Int64 // that were deleted
}

// chore is one thing that a house needs again and again. Each turn does a part of it, so
// that what instances wait for has its turn in between.
type chore interface {
	due(now core.Time) core.Time
	work(ctx context.Context, e *Engine, now core.Time, tell func(error)) error
	// putOff is for a turn that failed: it begins anew at an instant.
	putOff(until core.Time)
}

func (h *house) init(cfg *Config) {
	for _, r := range cfg.Housekeeping {
		h.addSweeps(r)
	}
	h.addPurges(cfg)
}

// checkRetention refuses times after which nothing can be deleted.
func checkRetention(cfg *Config) error {
	for _, r := range cfg.Housekeeping {
		if r.After <= 0 {
			return fmt.Errorf("engine: housekeeping of workflow %q: the time must be positive, not %s", r.Workflow, r.After)
		}
	}
	for i, after := range []time.Duration{cfg.Retention, cfg.FeedRetention} {
		if after < 0 || after > MaxRetention {
			of := []string{"instances", "the feed"}[i]
			return fmt.Errorf("engine: retention of %s: the time must be positive, and at most %s (limit retention), not %s", of, MaxRetention, after)
		}
	}
	return nil
}

// due is when there is something to look at next.
func (h *house) due() (core.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next, len(h.chores) > 0
}

// keepHouse deletes some of what has been there for its time. It reports whether there
// may be more to look at.
func (e *Engine) keepHouse(ctx context.Context, now core.Time, tell func(error)) (more bool, err error) {
	if len(e.house.chores) == 0 || !e.has(housekeeper) {
		return false, nil
	}
	var next core.Time
	var errs []error
	for i, c := range e.house.chores {
		if c.due(now) <= now {
			if err := c.work(ctx, e, now, tell); err != nil {
				errs = append(errs, fmt.Errorf("housekeeping: %w", err))
				c.putOff(now + core.Time(longestRest))
			}
		}
		if at := c.due(now); i == 0 || at < next {
			next = at
		}
	}
	e.house.mu.Lock()
	e.house.next = next
	e.house.mu.Unlock()
	return next <= now, errors.Join(errs...)
}

// sweepPause is the time between two looks at what is deleted after a time.
func sweepPause(after time.Duration) core.Time {
	return core.Time(min(max(after/sweepFraction, shortestSweep), longestSweep))
}

// HouseFigures tells what this engine's housekeeping deleted.
type HouseFigures struct {
	Jobs      int64 // by Config.Housekeeping
	Instances int64 // by Config.Retention, jobs among them
	FeedItems int64 // by Config.FeedRetention
}

// HouseFigures counts since the engine began; ok is false where nothing is ever deleted.
func (e *Engine) HouseFigures() (f HouseFigures, ok bool) {
	h := &e.house
	return HouseFigures{h.jobs.Load(), h.instances.Load(), h.items.Load()}, len(h.chores) > 0
}
