package calendar

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Duration is an ISO 8601 duration kept in calendar units: years are folded
// into Months, weeks into Days, hours, minutes and seconds into Nanos. The
// units are not folded further, because a month has no fixed number of days.
// No field of a Duration made by this package is negative.
type Duration struct {
	Months, Days int64
	Nanos        int64
}

// Instants stay within what RFC 3339 can write; arithmetic saturates here.
var (
	earliest = time.Date(0, time.January, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, time.December, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// AddTo returns t + d in UTC: months first, clamped to the end of the month,
// then days, then nanoseconds. The result saturates at the end of year 9999.
func (d Duration) AddTo(t time.Time) time.Time { return d.shift(t, 1) }

// SubFrom returns t − d in UTC, in the same order of units as AddTo. Because
// months are clamped it is not always the inverse of AddTo: Mar 31 − P1M is the
// last day of February, and a month later than that is Mar 28 or 29.
func (d Duration) SubFrom(t time.Time) time.Time { return d.shift(t, -1) }

func (d Duration) shift(t time.Time, sign int64) time.Time {
	// Longer steps than this leave the years 0 to 9999 from anywhere in them.
	const farMonths, farDays = 12 * 10_000, 366 * 10_000
	t = clampTime(t.UTC().Round(0)) // Round(0) drops a monotonic reading
	t = addMonths(t, int(sign*clampInt(d.Months, farMonths)))
	t = t.AddDate(0, 0, int(sign*clampInt(d.Days, farDays)))
	t = t.Add(time.Duration(sign * clampInt(d.Nanos, math.MaxInt64)))
	return clampTime(t)
}

// addMonths differs from time.AddDate in that it never spills into the month
// after the one meant.
func addMonths(t time.Time, months int) time.Time {
	year, month, day := t.Date()
	first := time.Date(year, month+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	day = min(day, daysIn(first.Year(), first.Month()))
	hour, minute, second := t.Clock()
	return time.Date(first.Year(), first.Month(), day, hour, minute, second, t.Nanosecond(), time.UTC)
}

// daysIn is the number of days in a month: day 0 of the next month is its last.
func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func clampTime(t time.Time) time.Time {
	if t.Before(earliest) {
		return earliest
	}
	if t.After(latest) {
		return latest
	}
	return t
}

func clampInt(n, most int64) int64 { return max(-most, min(n, most)) }

// IsZero reports whether d has no length at all.
func (d Duration) IsZero() bool { return d == Duration{} }

// DurationOf is a span of time in days and what is left of one.
func DurationOf(d time.Duration) Duration {
	const day = 24 * time.Hour
	return Duration{Days: int64(d / day), Nanos: int64(d % day)}
}

// String returns the canonical ISO 8601 form, which parses back to the same
// Duration: months as years and months, days as they are, the rest as hours,
// minutes and seconds. The zero duration is PT0S.
func (d Duration) String() string {
	if d.IsZero() {
		return "PT0S"
	}
	var b strings.Builder
	put := func(n int64, unit byte) {
		if n != 0 {
			b.WriteString(strconv.FormatInt(n, 10))
			b.WriteByte(unit)
		}
	}
	b.WriteByte('P')
	put(d.Months/12, 'Y')
	put(d.Months%12, 'M')
	put(d.Days, 'D')
	if d.Nanos == 0 {
		return b.String()
	}
	b.WriteByte('T')
	put(d.Nanos/nanosPerHour, 'H')
	put(d.Nanos%nanosPerHour/nanosPerMinute, 'M')
	seconds, fraction := d.Nanos%nanosPerMinute/nanosPerSecond, d.Nanos%nanosPerSecond
	if fraction == 0 {
		put(seconds, 'S')
		return b.String()
	}
	digits := strconv.FormatInt(nanosPerSecond+fraction, 10)[1:] // keeps the leading zeros
	b.WriteString(strconv.FormatInt(seconds, 10))
	b.WriteByte('.')
	b.WriteString(strings.TrimRight(digits, "0"))
	b.WriteByte('S')
	return b.String()
}

// Times returns d taken n times; false if n is negative or a unit overflows.
func (d Duration) Times(n int64) (Duration, bool) {
	months, ok1 := mul(d.Months, n)
	days, ok2 := mul(d.Days, n)
	nanos, ok3 := mul(d.Nanos, n)
	if !ok1 || !ok2 || !ok3 {
		return Duration{}, false
	}
	return Duration{Months: months, Days: days, Nanos: nanos}, true
}

// Plus returns d and o together, unit by unit; false if a unit overflows.
func (d Duration) Plus(o Duration) (Duration, bool) {
	months, ok1 := add(d.Months, o.Months)
	days, ok2 := add(d.Days, o.Days)
	nanos, ok3 := add(d.Nanos, o.Nanos)
	if !ok1 || !ok2 || !ok3 {
		return Duration{}, false
	}
	return Duration{Months: months, Days: days, Nanos: nanos}, true
}

// mul and add are for numbers that are not negative; others are refused.

func mul(a, b int64) (int64, bool) {
	if a < 0 || b < 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	return int64(lo), true
}

func add(a, b int64) (int64, bool) {
	if a < 0 || b < 0 || a > math.MaxInt64-b {
		return 0, false
	}
	return a + b, true
}
