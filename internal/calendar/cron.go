package calendar

import (
	"math/bits"
	"time"
)

// Cron is a parsed cron expression. It is immutable and safe to share.
type Cron struct {
	text string

	// One bit per allowed value.
	second, minute, hour uint64
	month                uint64 // 1 to 12

	// A day field written *, or ?, says nothing about the day.
	anyDayOfMonth, anyDayOfWeek bool
	dayOfMonth                  uint64 // 1 to 31
	dayOfWeek                   uint64 // 0 to 6, Sunday is 0 in both dialects
	monthRules                  []monthRule
	weekRules                   []weekRule

	anyYear bool
	years   [3]uint64 // firstYear to lastYear
}

// String returns the expression as it was written.
func (c *Cron) String() string { return c.text }

const (
	firstYear, lastYear = 1970, 2099 // what the year field of Quartz can hold

	// The Gregorian calendar, weekdays included, repeats every 400 years: an
	// expression that does not fire within them never does.
	cycleYears  = 400
	horizonYear = 9999
)

// date and clock are a wall time in two halves. They carry no zone.
type (
	date  struct{ year, month, day int }
	clock struct{ hour, minute, second int }
)

// Next returns the first fire time strictly after the given instant, in loc
// (nil means UTC), and false if there is none up to the year 9999.
//
// A wall time fires at the first instant at which the clock of loc shows it or
// a later time. Hence a skipped time fires once, at the instant the clock
// resumes, together with all others in the gap; a repeated time fires once, at
// its first occurrence (semantics.md §Time).
func (c *Cron) Next(after time.Time, loc *time.Location) (time.Time, bool) {
	if loc == nil {
		loc = time.UTC
	}
	if y := after.Year(); y < earliest.Year()-1 || y > latest.Year()+1 {
		after = clampTime(after) // so that zone arithmetic cannot overflow
	}
	day, at, ok := c.search(firstWallAfter(after, loc))
	if !ok {
		return time.Time{}, false
	}
	return instantOf(wallTime(day, at), loc).In(loc), true
}

// Fires reports whether there is any fire time from the first year that an expression can name on.
func (c *Cron) Fires() bool {
	_, _, ok := c.search(time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC))
	return ok
}

// search returns the first wall time that matches, at or after the given one.
func (c *Cron) search(from time.Time) (date, clock, bool) {
	year, month, d := from.Date()
	start := date{year, int(month), d}
	hour, minute, second := from.Clock()
	limit := min(year+cycleYears, horizonYear)

	day, ok := c.dayFrom(start, limit)
	if ok && day == start {
		if at, today := c.clockFrom(clock{hour, minute, second}); today {
			return day, at, true
		}
		start.day++
		day, ok = c.dayFrom(start, limit)
	}
	first, _ := c.clockFrom(clock{}) // every field has at least one value
	return day, first, ok
}

// dayFrom returns the first matching day at or after from. The day of from may
// be one past the end of its month.
func (c *Cron) dayFrom(from date, limit int) (date, bool) {
	for year := from.year; year <= limit; year++ {
		if !c.hasYear(year) {
			continue
		}
		month := 1
		if year == from.year {
			month = from.month
		}
		for month = next(c.month, month); month <= 12; month = next(c.month, month+1) {
			day := 1
			if year == from.year && month == from.month {
				day = from.day
			}
			if day = next(c.days(year, time.Month(month)), day); day <= 31 {
				return date{year, month, day}, true
			}
		}
	}
	return date{}, false
}

// clockFrom returns the first matching time of day at or after from.
func (c *Cron) clockFrom(from clock) (clock, bool) {
	hour := next(c.hour, from.hour)
	if hour == from.hour {
		minute := next(c.minute, from.minute)
		if minute == from.minute {
			if second := next(c.second, from.second); second < 60 {
				return clock{hour, minute, second}, true
			}
			minute = next(c.minute, from.minute+1)
		}
		if minute < 60 {
			return clock{hour, minute, next(c.second, 0)}, true
		}
		hour = next(c.hour, from.hour+1)
	}
	return clock{hour, next(c.minute, 0), next(c.second, 0)}, hour < 24
}

func (c *Cron) hasYear(year int) bool {
	if c.anyYear {
		return true
	}
	i := year - firstYear
	return year >= firstYear && year <= lastYear && c.years[i/64]&(1<<(i%64)) != 0
}

// next returns the lowest value of a set that is at least from; 64 if none is.
func next(set uint64, from int) int {
	return bits.TrailingZeros64(set >> from << from)
}
