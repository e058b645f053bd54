package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// tallyPause is how often a node adds what it counted to the store ("tally-pause"): so much is lost when it is killed.
	tallyPause = 5 * time.Second
	// tallyTime is how long the last time may take, when the engine ends.
	tallyTime = 2 * time.Second
)

// tallies are what this node counted, by hour, and has not added to the store yet.
type tallies struct {
	// turn is taken to add to the store, and to read it: a reader finds each count either there or here.
	turn chan struct{}

	mu    sync.Mutex
	hours []store.Hour
}

func (t *tallies) init() { t.turn = make(chan struct{}, 1) }

// begin takes the turn; nil: it is to be given back.
func (t *tallies) begin(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *tallies) end() { <-t.turn }

// count counts what a commit did to an instance.
func (t *tallies) count(c *store.Commit) {
	for i := range c.Records {
		tally := store.Tally{Definition: c.Instance.Definition}
		switch r := &c.Records[i]; {
		case r.Type == core.RecStarted:
			tally.Started = 1
		case r.Type != core.RecFinished:
			continue
		case r.Status == core.Completed:
			tally.Completed = 1
			tally.Durations.Add(time.Duration(c.Instance.Ended - c.Instance.Created))
		case r.Status == core.Failed:
			tally.Failed = 1
		default:
			tally.Cancelled = 1
		}
		t.add(c.Records[i].Time, tally)
	}
}

func (t *tallies) add(at core.Time, tally store.Tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hours = store.AddTally(t.hours, at, tally)
	t.hours = t.hours[max(len(t.hours)-store.TallyHours, 0):] // nobody takes them where the engine does not run
}

// take empties it.
func (t *tallies) take() []store.Hour {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.hours
	t.hours = nil
	return out
}

// merge adds what is there to hours.
func (t *tallies) merge(hours []store.Hour, from, until core.Time) []store.Hour {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.hours {
		if h.At < from || h.At >= until {
			continue
		}
		for _, tally := range h.Tallies {
			hours = store.AddTally(hours, h.At, tally)
		}
	}
	return hours
}

// keepTallies adds what was counted to the store, again and again until ctx ends, and what is left then.
func (e *Engine) keepTallies(ctx context.Context) {
	for ctx.Err() == nil {
		alarm, stop := e.cfg.Clock.After(tallyPause)
		select {
		case <-ctx.Done():
		case <-alarm:
			if err := e.storeTallies(ctx); err != nil && ctx.Err() == nil {
				e.report(err)
			}
		}
		stop()
	}
}

// storeLastTallies adds what is left when the engine ends.
func (e *Engine) storeLastTallies(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tallyTime)
	defer cancel()
	e.report(e.storeTallies(ctx))
}

// storeTallies adds what was counted to the store. What the store did not take is added the next time, unless it may have
// taken it.
func (e *Engine) storeTallies(ctx context.Context) error {
	if err := e.tallies.begin(ctx); err != nil {
		return err
	}
	defer e.tallies.end()
	hours := e.tallies.take()
	if len(hours) == 0 {
		return nil
	}
	err := e.store.AddTallies(ctx, hours, oldestTally(e.now()))
	if err != nil && !errors.Is(err, store.ErrUncertain) {
		for _, h := range hours {
			for _, tally := range h.Tallies {
				e.tallies.add(h.At, tally)
			}
		}
	}
	return err
}

// oldestTally is the first hour that is kept.
func oldestTally(now core.Time) core.Time {
	return store.HourOf(now) - core.Time((store.TallyHours-1)*time.Hour)
}

// Tallies lists what happened in the hours from an instant until before another: of all nodes until a few seconds ago, of
// this one until now. Damaged hours are reported and left out.
func (e *Engine) Tallies(ctx context.Context, from, until core.Time) ([]store.Hour, error) {
	from = max(from, oldestTally(e.now()))
	if err := e.tallies.begin(ctx); err != nil {
		return nil, err
	}
	defer e.tallies.end()
	hours, err := e.store.ListTallies(ctx, from, until)
	if err = e.withoutDamage(ctx, err); err != nil {
		return nil, err
	}
	return e.tallies.merge(hours, from, until), nil
}
