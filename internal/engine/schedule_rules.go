package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// MissedFires says what to do about fire times that passed while no engine was running.
type MissedFires string

// The policies.
const (
	MissedLatest MissedFires = "latest" // only the last of them is made up for
	MissedAll    MissedFires = "all"    // each is, unless it is longer ago than the catch-up window
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

// Overlap says what to do at a fire time while an instance that the schedule started is not over.
type Overlap string

// The policies.
const (
	OverlapAllow Overlap = "allow" // start another one
	OverlapSkip  Overlap = "skip"  // leave the fire time out
	OverlapQueue Overlap = "queue" // start it when that instance ends, and leave out those that come meanwhile
)

// Check reports a policy that does not exist.
func (o Overlap) Check() error {
	switch o {
	case OverlapAllow, OverlapSkip, OverlapQueue:
		return nil
	}
	return fmt.Errorf("must be allow, skip or queue, not %q", o)
}

// scheduleRules is what operators decided about a schedule.
type scheduleRules struct {
	Paused  *Mark       `json:"paused,omitempty"`
	Resumed core.Time   `json:"resumed,omitempty"` // fire times before it, of the time of the pause, are left out
	Overlap Overlap     `json:"overlap,omitempty"` // "": the definition's, else OverlapAllow
	Missed  MissedFires `json:"missed,omitempty"`  // "": the definition's, else the engine's
	Window  string      `json:"window,omitempty"`  // an ISO 8601 duration; "": the definition's, else the engine's
}

// rules are how a schedule fires.
type rules struct {
	overlap Overlap
	missed  MissedFires
	window  time.Duration // missed fire times that are longer ago are not made up for; 0: no limit
	resumed core.Time     // fire times before it were during a pause, unless they were queued before
}

// rulesOf are those of operators, else those of the definition, else those of the engine.
func (e *Engine) rulesOf(own ir.ScheduleRules, s scheduleRules) rules {
	out := rules{
		overlap: cmp.Or(s.Overlap, Overlap(own.Overlap), OverlapAllow), missed: cmp.Or(s.Missed, MissedFires(own.CatchUp), e.cfg.MissedFires),
		resumed: s.Resumed,
	}
	if out.missed == MissedAll {
		out.window = e.cfg.EventWindow
	}
	if window, err := calendar.ParseWindow(cmp.Or(s.Window, own.Window)); err == nil {
		out.window = window
	}
	return out
}

// onTime is how late a start may be without being a missed one: clocks differ a little,
// and a busy engine is no outage.
const onTime = core.Time(10 * time.Second)

// madeUp is the first fire time, from due on, that is not left out by the rules.
func (r rules) madeUp(s *schedule, due, now core.Time) *core.Time {
	if due >= now-onTime {
		return &due
	}
	oldest := now - core.Time(r.window)
	switch {
	case r.missed == MissedNone:
		return s.next(now - onTime)
	case r.missed == MissedLatest:
		due = *s.latest(due, now)
	}
	if r.window > 0 && due < oldest {
		return s.next(oldest - 1)
	}
	return &due
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
