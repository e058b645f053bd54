package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Schedule is the schedule of a definition's current version, as operators see it.
type Schedule struct {
	Definition, Version string
	When                ir.Schedule // with the zone that it has
	Paused              *Mark       // the schedule
	DefinitionPaused    *Mark
	Retired             *Mark
	Over                bool // it has no fire time any more
	Overlap             Overlap
	Missed              MissedFires
	Window              time.Duration // 0: no limit
	Rules               ScheduleRules // what operators set of these; the rest is the definition's, or the server's
	Next                []core.Time   // empty where nothing fires, or an instance must end first
	Fires               []Fire        // newest first
}

// ScheduleRules change how a schedule fires. "": the rule of the definition, or of the server.
type ScheduleRules struct {
	Overlap Overlap
	Missed  MissedFires
	Window  string // an ISO 8601 duration
}

// NoScheduleError says that a definition has no schedule that starts instances.
type NoScheduleError struct{ Definition string }

func (e *NoScheduleError) Error() string {
	return fmt.Sprintf("definition %q has no schedule that starts instances", e.Definition)
}

// Schedules lists the schedules of the current versions by definition, after one and at most limit, each with its
// next fire time and the last one.
func (e *Engine) Schedules(ctx context.Context, after string, limit int) ([]Schedule, error) {
	if err := e.upToDate(ctx); err != nil {
		return nil, err
	}
	e.mu.Lock()
	var list []*definition
	for key, d := range e.byID {
		if key.version == "" && key.id > after && d.schedule.fires() {
			list = append(list, d)
		}
	}
	e.mu.Unlock()
	slices.SortFunc(list, func(a, b *definition) int { return cmp.Compare(a.row.ID, b.row.ID) })
	rows, err := e.scheduleRows(ctx)
	if err != nil {
		return nil, err
	}
	var out []Schedule
	for _, d := range list[:min(limit, len(list))] {
		s, err := e.viewSchedule(ctx, d, rows[d.row.ID], 1, 1)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Scheduled reports whether the current version of a definition has a schedule that starts instances.
func (e *Engine) Scheduled(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.byID[aliasKey{id: id}]
	return d != nil && d.schedule.fires()
}

// Schedule returns the schedule of a definition with its next fire times.
func (e *Engine) Schedule(ctx context.Context, id string, next int) (Schedule, error) {
	d, row, err := e.scheduleOf(ctx, id)
	if err != nil {
		return Schedule{}, err
	}
	return e.viewSchedule(ctx, d, row, next, keptFires)
}

func (e *Engine) scheduleRows(ctx context.Context) (map[string]store.Schedule, error) {
	list, err := e.store.ListSchedules(ctx)
	if err != nil {
		return nil, fmt.Errorf("read schedules: %w", err)
	}
	out := make(map[string]store.Schedule, len(list))
	for _, s := range list {
		out[s.Definition] = s
	}
	return out, nil
}

// scheduleOf finds a definition that has a schedule, and its row: none where the schedule is over.
func (e *Engine) scheduleOf(ctx context.Context, id string) (*definition, store.Schedule, error) {
	d, err := e.find(ctx, id, "")
	if err != nil {
		return nil, store.Schedule{}, err
	}
	if !d.schedule.fires() {
		return nil, store.Schedule{}, &NoScheduleError{id}
	}
	rows, err := e.scheduleRows(ctx)
	return d, rows[id], err
}

func (e *Engine) viewSchedule(ctx context.Context, d *definition, row store.Schedule, next, last int) (Schedule, error) {
	p := e.policyOf(d.row.ID)
	r := e.rulesOf(d.prog.Start.Schedule.Rules, p.Schedule)
	s := Schedule{
		Definition: d.row.ID, Version: d.row.Version, When: *d.prog.Start.Schedule, Paused: p.Schedule.Paused, DefinitionPaused: p.Paused,
		Retired: e.retired(d.row.ID), Overlap: r.overlap, Missed: r.missed, Window: r.window,
		Rules: ScheduleRules{p.Schedule.Overlap, p.Schedule.Missed, p.Schedule.Window},
	}
	s.When.Zone = d.schedule.zone.String()
	f := readFires(row)
	queued := f.queued(row.Next)
	f = f[max(0, len(f)-last):]
	if _, err := e.settle(ctx, d, f, last); err != nil {
		return s, fmt.Errorf("schedule of %s: %w", d.row.ID, err)
	}
	for i := range f {
		f[i].Instance = f[i].instanceOf(d)
	}
	slices.SortStableFunc(f, func(a, b Fire) int { return cmp.Compare(b.At, a.At) })
	s.Fires = f
	s.Over = row.Digest != d.row.Digest
	if s.Over || e.silent(d.row.ID) {
		return s, nil
	}
	if d.schedule.after != nil {
		if _, there, err := e.fired(ctx, d, row.Next); err != nil {
			return s, fmt.Errorf("schedule of %s: %w", d.row.ID, err)
		} else if !there {
			s.Next = []core.Time{row.Next}
		}
		return s, nil
	}
	at := &row.Next
	switch {
	case queued: // those that come before it starts are left out
		s.Next = append(s.Next, *at)
		at = d.schedule.next(max(*at, e.now()))
	case *at < r.resumed:
		at = d.schedule.next(r.resumed - 1)
	}
	for ; at != nil && len(s.Next) < next; at = d.schedule.next(*at) {
		s.Next = append(s.Next, *at)
	}
	return s, nil
}

// PauseSchedule keeps the schedule of a definition from firing until it is resumed, in new versions, too. Pausing it
// again changes nothing.
func (e *Engine) PauseSchedule(ctx context.Context, id, by, reason string) error {
	mark := e.mark(by, reason)
	return e.decideSchedule(ctx, id, func(s *scheduleRules) bool {
		if s.Paused != nil {
			return false
		}
		s.Paused = mark
		return true
	})
}

// ResumeSchedule lets a schedule go on with the next fire time.
func (e *Engine) ResumeSchedule(ctx context.Context, id string) error {
	return e.decideSchedule(ctx, id, func(s *scheduleRules) bool {
		if s.Paused == nil {
			return false
		}
		s.Paused, s.Resumed = nil, e.now()
		return true
	})
}

// SetSchedule changes how a schedule fires, in new versions, too.
func (e *Engine) SetSchedule(ctx context.Context, id string, change func(*ScheduleRules)) error {
	d, _, err := e.scheduleOf(ctx, id)
	if err != nil {
		return err
	}
	return e.decide(ctx, id, func(p *policy) (bool, error) {
		r := ScheduleRules{p.Schedule.Overlap, p.Schedule.Missed, p.Schedule.Window}
		before := r
		change(&r)
		if r.Overlap != "" {
			if err := r.Overlap.Check(); err != nil {
				return false, &InvalidError{"overlap", err.Error()}
			}
		}
		if r.Overlap != "" && r.Overlap != OverlapAllow && (d.startsByEvents() || d.schedule.after != nil) {
			why := "its fire times send events, and other events may start instances too"
			if d.schedule.after != nil {
				why = "it starts an instance after the end of the one before, so none overlap"
			}
			return false, &InvalidError{"overlap", fmt.Sprintf("the schedule of %q can only be %s: %s", id, OverlapAllow, why)}
		}
		if r.Missed != "" {
			if err := r.Missed.Check(); err != nil {
				return false, &InvalidError{"catchUp", err.Error()}
			}
		}
		if _, err := calendar.ParseWindow(r.Window); err != nil && r.Window != "" {
			return false, &InvalidError{"catchUpWindow", err.Error()}
		}
		p.Schedule.Overlap, p.Schedule.Missed, p.Schedule.Window = r.Overlap, r.Missed, r.Window
		return r != before, nil
	})
}

func (e *Engine) decideSchedule(ctx context.Context, id string, change func(*scheduleRules) bool) error {
	if _, _, err := e.scheduleOf(ctx, id); err != nil {
		return err
	}
	return e.decide(ctx, id, func(p *policy) (bool, error) { return change(&p.Schedule), nil })
}

// DueSchedules lists the schedules in a store that fire once an engine runs with it: those that are due, without what
// operators keep from firing.
func DueSchedules(ctx context.Context, s store.Store, now core.Time) ([]store.Schedule, error) {
	rows, err := s.Policies(ctx)
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	policies := make(map[string]storedPolicy, len(rows))
	for _, row := range rows {
		policies[row.Definition], _ = parsePolicy(row) // a damaged one is told of when an engine runs
	}
	due, err := s.Schedules(ctx, now)
	if err != nil {
		return nil, fmt.Errorf("read schedules: %w", err)
	}
	var out []store.Schedule
	for _, x := range due {
		p := policies[x.Definition]
		if p.Paused != nil || p.Schedule.Paused != nil {
			continue
		}
		if p.Retired != nil {
			d, err := s.Definition(ctx, x.Definition, "")
			if err != nil {
				return nil, err
			}
			if p.retiredAt(d.Deployed) != nil {
				continue
			}
		}
		out = append(out, x)
	}
	return out, nil
}
