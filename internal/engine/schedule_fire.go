package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// schedules are starts that are due.
func (e *Engine) schedules(ctx context.Context, now core.Time, _ int) ([]task, error) {
	due, err := e.store.Schedules(ctx, now)
	if err != nil {
		return nil, fmt.Errorf("read schedules: %w", err)
	}
	var out []task
	for _, s := range e.chains.rested(due, now) {
		if e.silent(s.Definition) {
			continue
		}
		out = append(out, task{key: taskKey{kind: "schedule", id: s.Definition}, do: func(ctx context.Context) error {
			if err := e.fire(ctx, s, now); err != nil {
				return fmt.Errorf("schedule of %s: %w", s.Definition, err)
			}
			return nil
		}})
	}
	return out, nil
}

// silent reports whether operators keep the schedule of a definition from firing. Its row in the store stays
// as it is meanwhile.
func (e *Engine) silent(definition string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.policies[definition]
	return p.Paused != nil || p.Schedule.Paused != nil || e.retiredNow(definition) != nil
}

func (e *Engine) fire(ctx context.Context, s store.Schedule, now core.Time) error {
	d, err := e.find(ctx, s.Definition, "")
	if err == nil && d.row.Digest != s.Digest {
		d, err = e.refresh(ctx, s.Definition)
	}
	if err != nil {
		return err
	}
	if d.row.Digest != s.Digest || !d.schedule.fires() {
		return e.advance(ctx, s, nil, nil) // not the current version's any more
	}
	deployed := e.generation()
	if e.silent(s.Definition) {
		return nil // another node was told so
	}
	decided := e.policyOf(s.Definition).Schedule
	rules := e.rulesOf(decided)
	if d.schedule.after != nil {
		return e.fireAfter(ctx, d, deployed, s, now, rules)
	}
	f := readFires(s.Fires)
	if s.Next < decided.Resumed {
		next := d.schedule.next(decided.Resumed - 1)
		return e.advance(ctx, s, next, f.with(Fire{At: s.Next, Until: endOfGap(next, now), Outcome: FirePaused}))
	}
	at := &s.Next
	queued := f.queued(s.Next)
	if !queued {
		if at = rules.madeUp(d.schedule, s.Next, now); at == nil || *at > s.Next {
			f = f.with(Fire{At: s.Next, Until: endOfGap(at, now), Outcome: FireMissed})
		}
	}
	if at == nil {
		return e.advance(ctx, s, d.schedule.next(now), f)
	}
	if *at > now {
		return e.advance(ctx, s, at, f)
	}
	return e.fireAt(ctx, d, deployed, s, f, *at, now, rules)
}

// endOfGap is the end of the fire times that are left out before the next one.
func endOfGap(next *core.Time, now core.Time) core.Time {
	if next == nil || *next > now {
		return now
	}
	return *next
}

// fireAt starts the instance of a fire time, unless another one is not over and the rules say otherwise.
func (e *Engine) fireAt(ctx context.Context, d *definition, deployed int64, s store.Schedule, f fires, at, now core.Time, r rules) error {
	queued := f.queued(at)
	if r.overlap == OverlapAllow || d.startsByEvents() {
		if _, err := e.settle(ctx, d, f, 1); err != nil {
			return err
		}
	} else if going, err := e.overlaps(ctx, d, s, f, at, now); err != nil {
		return err
	} else if going && r.overlap == OverlapSkip {
		e.chains.drop(s.Definition)
		return e.advance(ctx, s, d.schedule.next(at), f.with(Fire{At: at, Outcome: FireSkipped}))
	} else if going && !queued {
		e.chains.drop(s.Definition)
		return e.advance(ctx, s, &at, f.with(Fire{At: at, Outcome: FireQueued}))
	} else if going {
		return nil // chains tell when it is over
	}
	if err := e.scheduledStart(ctx, d, deployed, at); err != nil {
		if e.outdated(ctx, err) {
			return nil // and so is its schedule
		}
		return err
	}
	e.figures.ScheduleLag.Observe(time.Duration(now - at))
	f = f.with(Fire{At: at, Outcome: FireStarted})
	next := d.schedule.next(at)
	if queued && next != nil && *next < now { // at most one waits
		after := d.schedule.next(now - 1)
		f = f.with(Fire{At: *next, Until: endOfGap(after, now), Outcome: FireSkipped})
		next = after
	}
	return e.advance(ctx, s, next, f)
}

// overlaps reports whether an instance that the schedule started is not over, other than that of this fire time.
func (e *Engine) overlaps(ctx context.Context, d *definition, s store.Schedule, f fires, at, now core.Time) (bool, error) {
	_, err := e.store.Instance(ctx, scheduledID(d.row.ID, at))
	if err == nil {
		return false, nil // it was started before a crash
	}
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	running, err := e.settle(ctx, d, f, keptFires)
	if err != nil || running == "" {
		return false, err
	}
	e.chains.wait(s, running, e.lookAgain(now, 0)) // first: it may end before its row is read again
	if running, err = e.settle(ctx, d, f, keptFires); err != nil || running == "" {
		e.chains.drop(s.Definition)
	}
	return running != "", err
}

func (e *Engine) advance(ctx context.Context, s store.Schedule, next *core.Time, f fires) error {
	err := e.store.Advance(ctx, s, next, f.text())
	if errors.Is(err, store.ErrConflict) {
		return nil // another node, or a new deployment, was faster
	}
	return err
}

// scheduledID is the id of the instance of a fire time.
func scheduledID(definition string, at core.Time) string {
	return deriveID("schedule", definition, at.String())
}

// scheduledStart creates the instance of one fire time; its id is derived from that,
// so there is one, ever. Where events start the definition, they are sent instead.
func (e *Engine) scheduledStart(ctx context.Context, d *definition, deployed int64, at core.Time) error {
	if d.startsByEvents() {
		return e.scheduledEvents(ctx, d, "schedule", at)
	}
	_, err := e.startAs(ctx, d, deployed, scheduledID(d.row.ID, at))
	if errors.As(err, new(*ExistsError)) {
		return nil
	}
	return err
}

// generation is the one that the definitions and policies in memory are of; 0: nobody else changes them.
func (e *Engine) generation() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cluster.deployments
}

// startAs creates an instance with the input that the server gives to schedules, unless a policy changed since
// deployed.
func (e *Engine) startAs(ctx context.Context, d *definition, deployed int64, id string) (string, error) {
	if err := e.checkQuota(d.row.ID); err != nil {
		return "", err
	}
	return e.create(ctx, d, deployed, newRow(d, id, e.now()), core.Start{Data: e.startInput(d.row.ID)}, nil)
}

// scheduledEvents sends the events that start a definition.
func (e *Engine) scheduledEvents(ctx context.Context, d *definition, kind string, at core.Time) error {
	for i, id := range d.prog.Start.Events {
		if i > 0 && !d.prog.Start.All {
			break // any one is enough
		}
		def := &d.prog.Events[id]
		ev := event.Event{
			ID:     deriveID(kind, d.row.ID, at.String(), def.Name),
			Source: def.Source, Type: def.Type, Time: at.String(),
		}
		if ev.Source == "" {
			ev.Source = e.eventSource(d.row.ID)
		}
		ev.Type = cmp.Or(ev.Type, def.Name)
		for _, k := range d.prog.StartKeys(id, e.startInput(d.row.ID)) {
			if k.Fixed {
				ev.Put(k.Name, expr.String(k.Value))
			}
		}
		if _, err := e.ingest(ctx, store.Event{Event: ev}, 0); err != nil && !errors.Is(err, store.ErrDuplicate) {
			return err
		}
	}
	return nil
}
