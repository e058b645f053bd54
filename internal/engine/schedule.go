package engine

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

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
