package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// MaxBackfill is how many fire times one request starts ("backfill-fires").
const MaxBackfill = 1000

// Trigger starts an instance as the schedule of a definition would, now, also where the schedule is paused, the
// definition does not allow other starts, or another instance is not over. The id is "" where the schedule sends events.
func (e *Engine) Trigger(ctx context.Context, id string) (instance string, err error) {
	at := e.now()
	for range maxConflicts {
		var d *definition
		var row store.Schedule
		if d, row, err = e.scheduleOf(ctx, id); err != nil {
			return "", err
		}
		deployed := e.generation()
		if err = e.startable(id); err != nil {
			return "", err
		}
		if d.startsByEvents() {
			err = e.scheduledEvents(ctx, d, "trigger", at)
		} else {
			instance, err = e.startNow(ctx, d, deployed, plain(deriveID("trigger", id, at.String())))
		}
		switch {
		case errors.As(err, new(*ExistsError)): // two at one instant
			at++
		case e.outdated(ctx, err):
		case err != nil:
			return "", err
		default:
			e.noteTrigger(ctx, d, row, Fire{At: at, Outcome: FireTriggered, Instance: instance})
			return instance, nil
		}
	}
	return "", err
}

// startNow is startAs, unless the definition is paused or retired.
func (e *Engine) startNow(ctx context.Context, d *definition, deployed int64, id string) (instance string, err error) {
	err = e.undecided(func() (err error) {
		if err = e.startable(d.row.ID); err == nil {
			instance, err = e.startAs(ctx, d, deployed, id)
		}
		return err
	})
	return instance, err
}

// maxNotes is how often a node tries to note a trigger. Only other nodes are in its way.
const maxNotes = 100

// noteTrigger adds a start to the last fire times. The instance is started: where that fails, it is reported, and fire
// times do not wait for the instance. A node notes one trigger at a time, else many at once would keep each other from it.
func (e *Engine) noteTrigger(ctx context.Context, d *definition, row store.Schedule, x Fire) {
	e.noting <- struct{}{}
	defer func() { <-e.noting }()
	for range maxNotes {
		if row.Digest == "" {
			return // the schedule is over
		}
		f := readFires(row)
		if len(f) == keptFires { // what is over is given up first
			if _, err := e.settle(ctx, d, f, keptFires); err != nil {
				e.report(err)
			}
		}
		err := e.store.Advance(ctx, row, &row.Next, f.with(x).text())
		if !errors.Is(err, store.ErrConflict) {
			e.report(err)
			return
		}
		rows, err := e.scheduleRows(ctx)
		if err != nil {
			e.report(err)
			return
		}
		row = rows[row.Definition]
	}
	e.report(fmt.Errorf("schedule of %s: a trigger could not be noted: %w", row.Definition, store.ErrConflict))
}

// Backfilled is a fire time of a backfill.
type Backfilled struct {
	At       core.Time
	Instance string // "": events are sent
	Existing bool   // its instance was there already
}

// Backfill starts the instances of the fire times from one instant until another, which is not after now, whatever the
// schedule says about overlaps. An instance that is there already is not started again. With dry nothing is started.
func (e *Engine) Backfill(ctx context.Context, id string, from, to core.Time, dry bool) ([]Backfilled, error) {
	d, _, err := e.scheduleOf(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := e.startable(id); err != nil {
		return nil, err
	}
	list, err := d.fireTimes(from, to, e.now())
	if err != nil {
		return nil, err
	}
	tasks := make([]task, len(list))
	for i := range list {
		x := &list[i]
		tasks[i].do = func(ctx context.Context) (err error) {
			x.Instance, x.Existing, err = e.backfill(ctx, d, x.At, dry)
			return err
		}
	}
	return list, errors.Join(e.each(ctx, tasks)...)
}

// fireTimes lists the fire times of a range.
func (d *definition) fireTimes(from, to, now core.Time) (out []Backfilled, err error) {
	switch {
	case d.schedule.after != nil:
		return nil, &InvalidError{"from", fmt.Sprintf("the schedule of %q has no fire times of its own: each start follows the end of the one before", d.row.ID)}
	case to > now:
		return nil, &InvalidError{"to", fmt.Sprintf("%s is in the future: only fire times that have passed can be started", to)}
	case from >= to:
		return nil, &InvalidError{"from", fmt.Sprintf("%s is not before %s", from, to)}
	}
	if s := d.schedule; s.from.IsZero() && !s.every.IsZero() {
		from = max(from, core.TimeOf(s.deployed)+1) // it counts from there, and does not fire then
	}
	for at := d.schedule.next(from - 1); at != nil && *at < to; at = d.schedule.next(*at) {
		if len(out) == MaxBackfill {
			return nil, &InvalidError{"to", fmt.Sprintf("from %s until %s there are more than %d fire times (limit backfill-fires); "+
				"the first %d end before %s", from, to, MaxBackfill, MaxBackfill, *at)}
		}
		out = append(out, Backfilled{At: *at})
	}
	return out, nil
}

// backfill starts the instance of one fire time, unless it exists.
func (e *Engine) backfill(ctx context.Context, d *definition, at core.Time, dry bool) (id string, existing bool, err error) {
	if d.startsByEvents() {
		if !dry {
			err = e.scheduledEvents(ctx, d, "schedule", at)
		}
		return "", false, err
	}
	for range maxConflicts {
		if id, existing, err = e.fired(ctx, d, at); existing || dry || err != nil {
			break
		}
		deployed := e.generation()
		if err := e.startable(d.row.ID); err != nil {
			return id, false, err
		}
		_, err = e.startNow(ctx, d, deployed, id)
		if !e.outdated(ctx, err) && !errors.As(err, new(*ExistsError)) {
			break
		}
	}
	return id, existing, err
}
