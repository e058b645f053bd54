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
	rules := e.rulesOf(d.prog.Start.Schedule.Rules, e.policyOf(s.Definition).Schedule)
	if d.schedule.after != nil {
		return e.fireAfter(ctx, d, deployed, s, now, rules)
	}
	f := readFires(s)
	paused := s.Next < rules.resumed
	at := &s.Next
	switch {
	case f.queued(s.Next): // it was due before any pause or outage
	case paused:
		at = d.schedule.next(rules.resumed - 1)
	default:
		at = rules.madeUp(d.schedule, s.Next, now)
	}
	if at != nil && *at == s.Next {
		return e.fireAt(ctx, d, deployed, s, f, *at, now, rules)
	}
	if id, there, err := e.fired(ctx, d, s.Next); err != nil {
		return err
	} else if there {
		return e.advance(ctx, s, d.schedule.next(s.Next), f.with(Fire{At: s.Next, Outcome: FireStarted, Instance: id}))
	}
	gap := Fire{At: s.Next, Until: endOfGap(at, now), Outcome: FireMissed}
	if paused {
		gap.Outcome = FirePaused
	}
	f = f.with(gap)
	if paused || at == nil || *at > now {
		return e.advance(ctx, s, at, f)
	}
	return e.fireAt(ctx, d, deployed, s, f, *at, now, rules)
}

// fired is the id of the instance of a fire time, and whether that exists. It may though the schedule has not moved on:
// its node ended, or an operator's change was stored, in between. The id is the plain one, unless a caller chose that
// for an instance of theirs, or a version before this one started the instance: then it is the one that nobody can
// choose, also after the other instance is deleted.
func (e *Engine) fired(ctx context.Context, d *definition, at core.Time) (id string, there bool, err error) {
	if d.startsByEvents() {
		return "", false, nil
	}
	long := scheduledID(d.row.ID, at)
	id = plain(long)
	row, err := e.store.Instance(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return "", false, err
	case row.Definition == d.row.ID && row.Parent == "" && row.Job.State == "" && !row.Reusable: // nobody chose it
		return id, true, nil
	default:
		id = long
	}
	switch _, err = e.store.Instance(ctx, long); {
	case err == nil:
		return long, true, nil
	case errors.Is(err, store.ErrNotFound):
		return id, false, nil
	}
	return "", false, err
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
	id, err := e.scheduledStart(ctx, d, deployed, at)
	if err != nil {
		if e.outdated(ctx, err) {
			return nil // and so is its schedule
		}
		return err
	}
	e.figures.ScheduleLag.Observe(time.Duration(now - at))
	f = f.with(Fire{At: at, Outcome: FireStarted, Instance: id})
	next := d.schedule.next(at)
	if queued && next != nil && *next < now { // at most one waits
		after := d.schedule.next(now - 1)
		gap := Fire{At: *next, Until: endOfGap(after, now), Outcome: FireSkipped}
		if *next < r.resumed {
			gap.Outcome = FirePaused
		}
		f = f.with(gap)
		next = after
	}
	return e.advance(ctx, s, next, f)
}

// overlaps reports whether an instance that the schedule started is not over, other than that of this fire time.
func (e *Engine) overlaps(ctx context.Context, d *definition, s store.Schedule, f fires, at, now core.Time) (bool, error) {
	if _, there, err := e.fired(ctx, d, at); err != nil || there {
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

// scheduledID is the id that the one of the instance of a fire time is made of.
func scheduledID(definition string, at core.Time) string {
	return deriveID("schedule", definition, at.String())
}

// scheduledStart creates the instance of one fire time; its id is derived from that,
// so there is one, ever. Where events start the definition, they are sent instead.
func (e *Engine) scheduledStart(ctx context.Context, d *definition, deployed int64, at core.Time) (id string, err error) {
	if d.startsByEvents() {
		return "", e.scheduledEvents(ctx, d, "schedule", at)
	}
	for range maxConflicts {
		var there bool
		if id, there, err = e.fired(ctx, d, at); there || err != nil {
			return id, err
		}
		err = e.undecided(func() error {
			if e.silent(d.row.ID) {
				return fmt.Errorf("start of %s: %w", at, store.ErrOutdated) // it was paused meanwhile
			}
			_, err := e.startAs(ctx, d, deployed, id)
			return err
		})
		if !errors.As(err, new(*ExistsError)) { // else another node's instance, or a caller's
			break
		}
	}
	return id, err
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
	return e.createNow(ctx, d, deployed, newRow(d, id, e.now()), core.Start{Data: e.startInput(d.row.ID)}, nil)
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
