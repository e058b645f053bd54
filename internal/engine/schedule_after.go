package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// A schedule with after starts an instance when it is deployed, and the next one that long after the end of
// the one before, however that ended. Its row in the store stays at the time of a start until the instance of
// that start, whose id is derived from the time, has ended. Then it moves to the next one by a
// compare-and-swap. So a crash at any point loses no start and repeats none, and the row needs no more than
// other schedules do.

// fireAfter starts the instance of a schedule with after, or sets the time of the next start once it ended.
func (e *Engine) fireAfter(ctx context.Context, d *definition, deployed int64, s store.Schedule, now core.Time, r rules) error {
	f := readFires(s)
	id, there, err := e.fired(ctx, d, s.Next)
	if err != nil {
		return err
	}
	if !there {
		e.chains.drop(s.Definition)
		if s.Next < now-onTime && r.missed == MissedNone {
			return e.advance(ctx, s, d.schedule.again(now, s.Next), f.with(Fire{At: s.Next, Outcome: FireMissed}))
		}
		if _, err := e.scheduledStart(ctx, d, deployed, s.Next); err != nil && !e.outdated(ctx, err) {
			return err
		}
		e.figures.ScheduleLag.Observe(time.Duration(now - s.Next))
		return nil
	}
	e.chains.wait(s, id, e.nextLook(d.schedule, now)) // first: it may end before the row is read
	row, err := e.store.Instance(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound): // it was deleted meanwhile: it is started again
		e.chains.drop(s.Definition)
		return nil
	case err != nil:
		e.chains.drop(s.Definition)
		return err
	case !row.Status.Final():
		return nil
	}
	e.chains.drop(s.Definition)
	return e.advance(ctx, s, d.schedule.again(row.Ended, s.Next), f.with(Fire{At: s.Next, Outcome: FireStarted, Status: row.Status, Instance: id}))
}

// again is the start that follows the end of the instance of another one.
func (s *schedule) again(ended, at core.Time) *core.Time {
	next := s.after.AddTo(ended.Std())
	if next.Year() > lastYear {
		return nil
	}
	t := max(core.TimeOf(next), at+1) // each has an id of its own
	return &t
}

const (
	// chainLook is the shortest time between two looks at an instance that another node may end.
	chainLook = core.Time(time.Second)
	// chainLookAlone is the same where no other node is. Its end is seen, unless the store did not know
	// whether the commit was stored.
	chainLookAlone = core.Time(time.Minute)
)

// nextLook is when to look again at an instance that has not ended. Within the time of the schedule the end is
// found before the next start is due.
func (e *Engine) nextLook(s *schedule, now core.Time) core.Time {
	return e.lookAgain(now, core.TimeOf(s.after.AddTo(now.Std()))-now)
}

// lookAgain is when to look again at an instance that has not ended, not before after; 0: its end is always seen.
func (e *Engine) lookAgain(now, after core.Time) core.Time {
	switch {
	case !e.alone:
		return now + max(after, chainLook)
	case !e.cfg.Inline:
		return now + max(after, chainLookAlone)
	}
	return 0
}

// chains are the schedules whose next start waits for the end of an instance: those with after, and those with a
// queued fire time.
type chains struct {
	mu    sync.Mutex
	waits map[string]chainWait // by definition
}

type chainWait struct {
	row      store.Schedule
	instance string
	look     core.Time // look at the instance then, though its end was not seen; 0: never
}

func (c *chains) wait(s store.Schedule, instance string, look core.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits == nil {
		c.waits = map[string]chainWait{}
	}
	c.waits[s.Definition] = chainWait{s, instance, look}
}

func (c *chains) drop(definition string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waits, definition)
}

// rested leaves out the schedules whose instances are known to run.
func (c *chains) rested(due []store.Schedule, now core.Time) []store.Schedule {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waits) == 0 {
		return due
	}
	waits := make(map[string]chainWait, len(c.waits)) // without those that are not due here any more
	out := make([]store.Schedule, 0, len(due))
	for _, s := range due {
		if w, ok := c.waits[s.Definition]; ok && w.row == s && (w.look == 0 || now < w.look) {
			waits[s.Definition] = w
		} else {
			out = append(out, s)
		}
	}
	c.waits = waits
	return out
}

// ended lets the schedule of an instance go on, if one waits for it.
func (c *chains) ended(instance string) (waited bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for definition, w := range c.waits {
		if w.instance == instance {
			delete(c.waits, definition)
			waited = true
		}
	}
	return waited
}

// next is when the first instance is looked at again.
func (c *chains) next() (at core.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.waits {
		if w.look != 0 && (!ok || w.look < at) {
			at, ok = w.look, true
		}
	}
	return at, ok
}
