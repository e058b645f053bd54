package calendar

import (
	"math/bits"
	"strconv"
	"strings"
)

const (
	nanosPerSecond int64 = 1_000_000_000
	nanosPerMinute       = 60 * nanosPerSecond
	nanosPerHour         = 60 * nanosPerMinute
	nanosPerDay          = 24 * nanosPerHour
	nanosPerWeek         = 7 * nanosPerDay
)

const durationHint = "PT15M is 15 minutes, P2DT3H4M is 2 days, 3 hours and 4 minutes"

// durationUnits are in the only order in which a duration may use them. A whole
// of one is so many months, days or nanos; its fraction is always nanos, but
// for years and months.
var durationUnits = [...]struct {
	letter   byte
	timePart bool
	name     string
	whole    Duration
	nanos    int64 // what a fraction is a fraction of; 0 for years and months
}{
	{'Y', false, "years", Duration{Months: 12}, 0},
	{'M', false, "months", Duration{Months: 1}, 0},
	{'W', false, "weeks", Duration{Days: 7}, nanosPerWeek},
	{'D', false, "days", Duration{Days: 1}, nanosPerDay},
	{'H', true, "hours", Duration{Nanos: nanosPerHour}, nanosPerHour},
	{'M', true, "minutes", Duration{Nanos: nanosPerMinute}, nanosPerMinute},
	{'S', true, "seconds", Duration{Nanos: nanosPerSecond}, nanosPerSecond},
}

// ParseDuration reads an ISO 8601 duration such as PT15M, P1Y2M10DT2H30M, P2W
// or PT0.5S. The last component may have a fraction, after a point or a comma.
// A fraction of a week or of a day becomes hours and less; one of a year must
// come to whole months (P0.5Y), and months have none. Digits finer than a
// nanosecond are dropped.
func ParseDuration(s string) (Duration, error) {
	if err := durationStart(s); err != nil {
		return Duration{}, err
	}
	var total Duration
	timePart, used := false, -1
	for at := 1; at < len(s); {
		if s[at] == 'T' && !timePart {
			timePart = true
			if at++; at == len(s) {
				return Duration{}, fail(at, durationHint, "nothing follows the T")
			}
			continue
		}
		n, err := scanNumber(s, at)
		if err != nil {
			return Duration{}, err
		}
		unit, err := durationUnit(s, n.end, timePart, used)
		if err != nil {
			return Duration{}, err
		}
		if n.fraction != "" && n.end+1 < len(s) {
			return Duration{}, fail(at, "move the fraction to the last component or write it in smaller units",
				"only the last component may have a fraction")
		}
		part, err := n.of(unit, s[at:n.end+1])
		if err != nil {
			return Duration{}, within(err, at)
		}
		var ok bool
		if total, ok = total.Plus(part); !ok {
			return Duration{}, fail(at, "", "the duration is too long at %s", quote(s[at:n.end+1]))
		}
		at, used = n.end+1, unit
	}
	return total, nil
}

// durationStart checks what comes before the first component.
func durationStart(s string) error {
	switch {
	case s == "":
		return fail(0, durationHint, "the duration is empty")
	case s[0] == '-':
		return fail(0, "durations are never negative here", "%s is negative", quote(s))
	case s[0] == 'p':
		return fail(0, upperHint(s), "a duration starts with an upper case P")
	case s[0] != 'P':
		return fail(0, durationHint, "%s is not an ISO 8601 duration: it does not start with P", quote(s))
	case s == "P":
		return fail(1, durationHint, "nothing follows the P")
	}
	return nil
}

// durationUnit finds the unit whose letter is at s[at]; used is the one before it.
func durationUnit(s string, at int, timePart bool, used int) (int, error) {
	if at == len(s) {
		return 0, fail(at, durationHint, "the number at the end has no unit")
	}
	unit, other := -1, -1
	for i, u := range durationUnits {
		switch {
		case u.letter != s[at]:
		case u.timePart == timePart:
			unit = i
		default:
			other = i
		}
	}
	letter := quote(s[at : at+1])
	switch {
	case unit > used:
		return unit, nil
	case unit == used && unit >= 0:
		return 0, fail(at, "", "%s are given twice", durationUnits[unit].name)
	case unit >= 0:
		return 0, fail(at, "the order is P years Y months M weeks W days D T hours H minutes M seconds S",
			"%s come before %s", durationUnits[unit].name, durationUnits[used].name)
	case other >= 0 && timePart:
		return 0, fail(at, "write it before the T", "%s belong before the T", durationUnits[other].name)
	case other >= 0:
		return 0, fail(at, "put a T before it: PT1"+s[at:at+1], "%s belong after a T", durationUnits[other].name)
	case isLower(s[at]):
		return 0, fail(at, upperHint(s), "the unit %s is in lower case", letter)
	case s[at] == 'T':
		return 0, fail(at, durationHint, "the number before the T has no unit")
	}
	return 0, fail(at, "the units are Y M W D, and after a T: H M S", "%s is not a unit", letter)
}

func upperHint(s string) string { return "write it in upper case: " + quote(upper(s)) }

// number is an unread decimal number in a text.
type number struct {
	whole, fraction string
	end             int // offset of what follows it
}

func scanNumber(s string, at int) (number, error) {
	end := digitsFrom(s, at)
	if end == at {
		switch c := s[at]; {
		case c == '-':
			return number{}, fail(at, "durations are never negative here", "negative component")
		case c == 'T':
			return number{}, fail(at, durationHint, "a second T")
		case isLower(c):
			return number{}, fail(at, upperHint(s), "a number is expected, not %s", quote(s[at:]))
		}
		return number{}, fail(at, durationHint, "a number is expected, not %s", quote(s[at:]))
	}
	n := number{whole: s[at:end], end: end}
	if end < len(s) && (s[end] == '.' || s[end] == ',') {
		n.end = digitsFrom(s, end+1)
		if n.fraction = s[end+1 : n.end]; n.fraction == "" {
			return number{}, fail(n.end, durationHint, "digits are expected after %s", quote(s[end:end+1]))
		}
	}
	return n, nil
}

func digitsFrom(s string, at int) int {
	for at < len(s) && isDigit(s[at]) {
		at++
	}
	return at
}

// of returns n of a unit. Offsets in its errors count from the number's start.
func (n number) of(unit int, text string) (Duration, error) {
	u := durationUnits[unit]
	whole, err := strconv.ParseInt(n.whole, 10, 64)
	part, ok := u.whole.Times(whole)
	if err != nil || !ok {
		return Duration{}, fail(0, "", "%s is more than a duration can hold", quote(text))
	}
	var rest Duration
	switch {
	case strings.Trim(n.fraction, "0") == "":
	case u.nanos > 0:
		rest.Nanos, _ = share(n.fraction, u.nanos)
	default:
		var exact bool
		if rest.Months, exact = share(n.fraction, u.whole.Months); !exact {
			return Duration{}, fail(0, "write months and days instead", "%s does not come to whole months", quote(text))
		}
	}
	if part, ok = part.Plus(rest); !ok {
		return Duration{}, fail(0, "", "%s is more than a duration can hold", quote(text))
	}
	return part, nil
}

// share returns 0.fraction of total, rounded down, and whether that is exact.
func share(fraction string, total int64) (int64, bool) {
	const digits, scale = 18, 1_000_000_000_000_000_000
	fraction = strings.TrimRight(fraction, "0")
	lost := len(fraction) > digits
	if lost {
		fraction = fraction[:digits]
	}
	var n uint64
	for i := range digits {
		n *= 10
		if i < len(fraction) {
			n += uint64(fraction[i] - '0')
		}
	}
	hi, lo := bits.Mul64(n, uint64(total))
	// n < scale, so the quotient is below total and cannot overflow.
	quotient, remainder := bits.Div64(hi, lo, scale)
	return int64(quotient), remainder == 0 && !lost
}
