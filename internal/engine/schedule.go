package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// schedule is when a definition may or should start (0.5 §Schedule Definition).
type schedule struct {
	interval *calendar.Interval
	cron     *calendar.Cron
	every    calendar.Duration // zero: not so often
	after    *calendar.Duration
	from     time.Time // the first time of every, and nothing before it; zero: every counts from the deployment
	until    time.Time // nothing at or after it
	back     bool      // every counts back from until
	zone     *time.Location
	direct   bool
	deployed time.Time
}

func (e *Engine) newSchedule(s *ir.Schedule, deployed core.Time) (*schedule, error) {
	if s == nil {
		return nil, nil
	}
	out := &schedule{zone: e.zone, direct: s.DirectInvoke, deployed: deployed.Std(), back: s.Back}
	if s.Zone != "" {
		zone, err := time.LoadLocation(s.Zone)
		if err != nil {
			return nil, fmt.Errorf("schedule: %w", err)
		}
		out.zone = zone
	}
	if s.Cron != "" {
		cron, err := calendar.ParseCron(s.Cron)
		if err != nil {
			return nil, fmt.Errorf("schedule: cron: %w", err)
		}
		out.cron = cron
	}
	if s.Every.Set {
		out.every = durationOf(s.Every)
	}
	for _, bound := range []struct {
		text string
		at   *time.Time
	}{{s.From, &out.from}, {s.Until, &out.until}} {
		if bound.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, bound.text)
		if err != nil {
			return nil, fmt.Errorf("schedule: %w", err)
		}
		*bound.at = at
	}
	if s.After.Set {
		if out.fires() {
			return nil, errors.New("schedule: after cannot be combined with cron or every")
		}
		after := durationOf(s.After)
		out.after = &after
	}
	if out.fires() {
		return out, nil
	}
	interval, err := calendar.ParseInterval(s.Interval)
	if err != nil {
		return nil, fmt.Errorf("schedule: interval: %w", err)
	}
	out.interval = &interval
	return out, nil
}

func durationOf(s ir.Span) calendar.Duration {
	return calendar.Duration{Months: s.Months, Days: s.Days, Nanos: s.Nanos}
}

// fires reports whether the schedule starts instances.
func (s *schedule) fires() bool {
	return s != nil && (s.cron != nil || !s.every.IsZero() || s.after != nil)
}

// first is the first fire time of a schedule that begins at an instant.
func (s *schedule) first(now core.Time) *core.Time {
	if s.after == nil {
		return s.next(now)
	}
	return &now
}

// allows reports whether an instance may be created at a time that its schedule did
// not choose. A cron schedule is active at its fire times only.
func (s *schedule) allows(now core.Time) bool {
	if s == nil || s.direct {
		return true
	}
	return s.interval != nil && s.interval.Contains(now.Std(), s.deployed)
}

// listens reports whether events may start instances: only while an interval is
// active. A cron schedule sends the events itself.
func (s *schedule) listens(now core.Time) bool {
	return s == nil || s.interval == nil || s.interval.Contains(now.Std(), s.deployed)
}

func (s *schedule) refusal(definition string, now core.Time) error {
	out := &ScheduleError{Definition: definition, Now: now.Std()}
	if s.cron != nil {
		out.Cron = s.cron.String()
	} else {
		out.From, out.To = s.interval.Window(s.deployed)
	}
	return out
}

// next is the first fire time after an instant.
func (s *schedule) next(now core.Time) *core.Time {
	var first time.Time
	after := now.Std()
	if after.Before(s.from) {
		after = s.from.Add(-1)
	}
	if s.cron != nil {
		if at, ok := s.cron.Next(after, s.zone); ok {
			first = at
		}
	}
	if !s.every.IsZero() {
		if at := s.nextOf(s.every, after); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	if first.IsZero() || first.Year() > lastYear || !s.until.IsZero() && !first.Before(s.until) {
		return nil
	}
	t := core.TimeOf(first)
	return &t
}

// nextOf is the first time after an instant that is a whole number of spans after the begin, or before the end.
// Spans differ in length by months, so the number is found by halving.
func (s *schedule) nextOf(span calendar.Duration, after time.Time) time.Time {
	begin := s.deployed
	if !s.from.IsZero() {
		begin = s.from
	}
	at := func(n int64) time.Time {
		sum, ok := span.Times(n)
		switch {
		case s.back && ok:
			return sum.SubFrom(s.until)
		case s.back:
			return time.Time{}
		case ok:
			return sum.AddTo(begin)
		}
		return farFuture
	}
	if s.back { // the last one is not after it any more; none is left where that is the end
		return at(int64(sort.Search(math.MaxInt, func(n int) bool { return !at(int64(n) + 1).After(after) })))
	}
	n := sort.Search(math.MaxInt, func(n int) bool { return at(int64(n)).After(after) })
	return at(int64(n))
}

// farFuture is after every time that is asked for.
var farFuture = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// lastYear is the last one that core.Time holds in full; the core's timers end there too
// ("timer-horizon").
const lastYear = 2261

// firstFire is the schedule row of a definition that is deployed now.
func (e *Engine) firstFire(p *ir.Program, row store.Definition) (*store.Schedule, error) {
	s, err := e.newSchedule(p.Start.Schedule, row.Deployed)
	if err != nil || !s.fires() {
		return nil, err
	}
	at := s.first(row.Deployed)
	if at == nil {
		return nil, nil
	}
	return &store.Schedule{Definition: row.ID, Digest: row.Digest, Next: *at}, nil
}

// MissedFires says what to do about fire times that passed while no engine was running.
type MissedFires string

// The policies.
const (
	MissedLatest MissedFires = "latest" // only the last of them is made up for
	MissedAll    MissedFires = "all"    // each is, unless it is longer ago than events are kept
	MissedNone   MissedFires = "none"   // none is: the next one is in the future
)

// Check reports a policy that does not exist.
func (m MissedFires) Check() error {
	switch m {
	case MissedLatest, MissedAll, MissedNone:
		return nil
	}
	return fmt.Errorf("must be latest, all or none, not %q", m)
}

// onTime is how late a start may be without being a missed one: clocks differ a little,
// and a busy engine is no outage.
const onTime = core.Time(10 * time.Second)

// schedules are starts that are due.
func (e *Engine) schedules(ctx context.Context, now core.Time, _ int) ([]task, error) {
	due, err := e.store.Schedules(ctx, now)
	if err != nil {
		return nil, fmt.Errorf("read schedules: %w", err)
	}
	var out []task
	for _, s := range e.chains.rested(due, now) {
		out = append(out, task{key: taskKey{kind: "schedule", id: s.Definition}, do: func(ctx context.Context) error {
			if err := e.fire(ctx, s, now); err != nil {
				return fmt.Errorf("schedule of %s: %w", s.Definition, err)
			}
			return nil
		}})
	}
	return out, nil
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
		return e.advance(ctx, s, nil) // not the current version's any more
	}
	if d.schedule.after != nil {
		return e.fireAfter(ctx, d, s, now)
	}
	at := e.madeUp(d.schedule, s.Next, now)
	if at == nil {
		return e.advance(ctx, s, d.schedule.next(now))
	}
	if *at > now {
		return e.advance(ctx, s, at)
	}
	if err := e.scheduledStart(ctx, d, *at); err != nil {
		if e.outdated(ctx, err) {
			return nil // and so is its schedule
		}
		return err
	}
	return e.advance(ctx, s, d.schedule.next(*at))
}

// madeUp is the first fire time, from due on, that is not left out by the policy.
func (e *Engine) madeUp(s *schedule, due, now core.Time) *core.Time {
	if due >= now-onTime {
		return &due
	}
	switch e.cfg.MissedFires {
	case MissedAll:
		if oldest := now - core.Time(e.cfg.EventWindow); due < oldest {
			return s.next(oldest - 1)
		}
		return &due
	case MissedNone:
		return s.next(now - onTime)
	}
	return s.latest(due, now)
}

// latest is the last fire time of those from due to now.
func (s *schedule) latest(due, now core.Time) *core.Time {
	// Dense schedules are looked at from nearby, so that a year of seconds is not walked through.
	for _, ago := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour, 366 * 24 * time.Hour} {
		from := now - core.Time(ago)
		if from <= due {
			break
		}
		if at := s.next(from - 1); at != nil && *at <= now {
			due = *at
			break
		}
	}
	for {
		at := s.next(due)
		if at == nil || *at > now {
			return &due
		}
		due = *at
	}
}

func (e *Engine) advance(ctx context.Context, s store.Schedule, next *core.Time) error {
	err := e.store.Advance(ctx, s.Definition, s.Next, next)
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
func (e *Engine) scheduledStart(ctx context.Context, d *definition, at core.Time) error {
	if len(d.prog.Start.Events) == 0 || d.prog.Start.AsInput {
		_, err := e.create(ctx, d, 0, newRow(d, scheduledID(d.row.ID, at), e.now()), core.Start{Data: e.startInput(d.row.ID)}, nil)
		var exists *ExistsError
		if errors.As(err, &exists) {
			return nil
		}
		return err
	}
	for i, id := range d.prog.Start.Events {
		if i > 0 && !d.prog.Start.All {
			break // any one is enough
		}
		def := &d.prog.Events[id]
		ev := event.Event{
			ID:     deriveID("schedule", d.row.ID, at.String(), def.Name),
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
