package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/core"
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
	Overlap Overlap     `json:"overlap,omitempty"` // "": OverlapAllow
	Missed  MissedFires `json:"missed,omitempty"`  // "": the engine's
	Window  string      `json:"window,omitempty"`  // an ISO 8601 duration; "": the engine's
}

// rules are how a schedule fires.
type rules struct {
	overlap Overlap
	missed  MissedFires
	window  time.Duration // missed fire times that are longer ago are not made up for; 0: no limit
	resumed core.Time     // fire times before it were during a pause, unless they were queued before
}

// rulesOf are those of operators, else those of the engine.
func (e *Engine) rulesOf(s scheduleRules) rules {
	out := rules{overlap: cmp.Or(s.Overlap, OverlapAllow), missed: cmp.Or(s.Missed, e.cfg.MissedFires), resumed: s.Resumed}
	if out.missed == MissedAll {
		out.window = e.cfg.EventWindow
	}
	if window, err := windowOf(s.Window); err == nil && s.Window != "" {
		out.window = window
	}
	return out
}

// maxWindow is the longest catch-up window.
const maxWindow = 366 * 24 * time.Hour

// windowOf reads a catch-up window.
func windowOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := calendar.ParseDuration(text)
	if err != nil {
		return 0, err
	}
	begin := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	switch span := d.AddTo(begin).Sub(begin); {
	case span < time.Second:
		return 0, fmt.Errorf("must be at least PT1S, not %s", text)
	case span > maxWindow:
		return 0, fmt.Errorf("must be at most P366D, not %s", text)
	default:
		return span, nil
	}
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
