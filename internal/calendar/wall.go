package calendar

import "time"

// A wall time is what a local clock shows. Here it is a time.Time in UTC with
// the fields of the local clock, so that wall times can be compared and added
// to without a zone.

func wallTime(day date, at clock) time.Time {
	return time.Date(day.year, time.Month(day.month), day.day, at.hour, at.minute, at.second, 0, time.UTC)
}

// farthestOffset is more than any zone is ahead of or behind UTC.
const farthestOffset = 24 * time.Hour

// instantOf returns the first instant at which the clock of loc shows the wall
// time or a later one. It is the one place that decides what happens to wall
// times that are skipped or repeated.
func instantOf(wall time.Time, loc *time.Location) time.Time {
	// No local clock shows the wall time this early. Walk forward, one period of constant offset
	// at a time.
	at := wall.Add(-farthestOffset)
	for {
		local := at.In(loc)
		reached := wall.Add(-offsetOf(local))
		if reached.Before(at) {
			reached = at // the change of the clock jumped over the wall time
		}
		_, end := local.ZoneBounds()
		if end.IsZero() || !end.After(at) || reached.Before(end) {
			return reached
		}
		at = end.UTC()
	}
}

// firstWallAfter returns the first whole second of wall time that the clock of
// loc has not shown, or jumped over, up to the given instant. It is the inverse
// of instantOf: a wall time is at or after it exactly if its instant is after t.
func firstWallAfter(t time.Time, loc *time.Location) time.Time {
	local := t.In(loc)
	wall := t.UTC().Add(offsetOf(local)).Truncate(time.Second).Add(time.Second)
	// When the clock was set back, it has already shown what it shows again. It
	// had come as far as the end of the period before.
	for oldest := t.Add(-2 * farthestOffset); ; {
		start, _ := local.ZoneBounds()
		if start.IsZero() || start.Before(oldest) || start.After(t) {
			return wall
		}
		local = start.Add(-time.Nanosecond)
		if shown := start.UTC().Add(offsetOf(local)); shown.After(wall) {
			wall = shown
		}
	}
}

func offsetOf(local time.Time) time.Duration {
	_, seconds := local.Zone()
	return time.Duration(seconds) * time.Second
}
