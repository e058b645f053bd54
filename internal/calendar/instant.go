package calendar

import "time"

const instantHint = "2020-03-20T13:00:00Z is March 20th 2020, 1 PM UTC; 2020-03-20T13:00:00+02:00 is two hours earlier"

// ParseInstant reads a date and time of day: RFC 3339, its ISO 8601 forms
// without hyphens or colons (20200320T130000Z), and either without seconds. An
// instant without a zone is in UTC. The result is in UTC.
func ParseInstant(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, fail(0, instantHint, "the instant is empty")
	}
	sc := &instantScanner{text: s}
	year, month, day := sc.date()
	sc.separator()
	hour, minute, second, nanos := sc.clock()
	offset := sc.zone()
	if sc.err == nil && sc.at < len(s) {
		sc.fail(sc.at, "unexpected %s", quote(s[sc.at:]))
	}
	if sc.err != nil {
		return time.Time{}, sc.err
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC).Add(-offset)
	if t.Before(earliest) || t.After(latest) {
		return time.Time{}, fail(0, "", "%s is outside the years 0000 to 9999", quote(s))
	}
	return t, nil
}

// instantScanner walks through an instant. After the first error every step is
// a no-op, so that the grammar above reads in one piece.
type instantScanner struct {
	text string
	at   int
	err  error
}

func (sc *instantScanner) fail(at int, format string, args ...any) {
	if sc.err == nil {
		sc.err = fail(at, instantHint, format, args...)
	}
}

// peek returns the next byte, or 0 at the end and after an error.
func (sc *instantScanner) peek() byte {
	if sc.err != nil || sc.at >= len(sc.text) {
		return 0
	}
	return sc.text[sc.at]
}

func (sc *instantScanner) skip(c byte) bool {
	if sc.peek() != c {
		return false
	}
	sc.at++
	return true
}

func (sc *instantScanner) number(digits int, what string, lo, hi int) int {
	if sc.err != nil {
		return lo
	}
	start, n := sc.at, 0
	for range digits {
		c := sc.peek()
		if !isDigit(c) {
			sc.fail(sc.at, "the %s needs %d digits", what, digits)
			return lo
		}
		n = n*10 + int(c-'0')
		sc.at++
	}
	if n < lo || n > hi {
		sc.fail(start, "the %s %s is outside %0*d-%0*d", what, sc.text[start:sc.at], digits, lo, digits, hi)
		return lo
	}
	return n
}

func (sc *instantScanner) date() (year, month, day int) {
	year = sc.number(4, "year", 0, 9999)
	hyphens := sc.skip('-')
	month = sc.number(2, "month", 1, 12)
	if hyphens && !sc.skip('-') {
		sc.fail(sc.at, "a hyphen is expected after the month")
	}
	day = sc.number(2, "day", 1, daysIn(year, time.Month(month)))
	return year, month, day
}

func (sc *instantScanner) separator() {
	if sc.err != nil || sc.skip('T') {
		return
	}
	switch sc.peek() {
	case 0:
		sc.fail(sc.at, "the time of day is missing")
	case 't':
		sc.fail(sc.at, "the T between date and time is in lower case")
	default:
		sc.fail(sc.at, "a T is expected between date and time")
	}
}

func (sc *instantScanner) clock() (hour, minute, second, nanos int) {
	hour = sc.number(2, "hour", 0, 23)
	colons := sc.skip(':')
	minute = sc.number(2, "minute", 0, 59)
	// Seconds may be left out, and only seconds may have a fraction.
	if !(colons && sc.skip(':')) && (colons || !isDigit(sc.peek())) {
		return hour, minute, 0, 0
	}
	second = sc.number(2, "second", 0, 59)
	if sc.skip('.') || sc.skip(',') {
		end := digitsFrom(sc.text, sc.at)
		if end == sc.at {
			sc.fail(sc.at, "digits are expected after the decimal sign")
		}
		n, _ := share(sc.text[sc.at:end], nanosPerSecond)
		nanos, sc.at = int(n), end
	}
	return hour, minute, second, nanos
}

// zone returns how far the instant's zone is ahead of UTC.
func (sc *instantScanner) zone() time.Duration {
	sign := time.Duration(1)
	switch {
	case sc.skip('+'):
	case sc.skip('-'):
		sign = -1
	case sc.peek() == 'z':
		sc.fail(sc.at, "the zone Z is in lower case")
		return 0
	default:
		sc.skip('Z')
		return 0
	}
	offset := time.Duration(sc.number(2, "zone's hour", 0, 23)) * time.Hour
	if sc.skip(':') || isDigit(sc.peek()) {
		offset += time.Duration(sc.number(2, "zone's minute", 0, 59)) * time.Minute
	}
	return sign * offset
}
