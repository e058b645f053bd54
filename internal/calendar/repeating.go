package calendar

import (
	"errors"
	"strings"
	"time"
)

// Repeating is a repeating interval without a number of times. Its times are From + k·Every with k ≥ 0; with
// Back they are Until − k·Every with k ≥ 1; without both they count from the deployment.
type Repeating struct {
	From, Until time.Time
	Every       Duration
	Back        bool
}

const repeatingHint = "a repeating interval is R/<start>/<duration>, R/<duration>/<end> or R/<duration>, " +
	"such as R/2020-03-20T13:00:00Z/PT6H"

// ParseRepeating reads an ISO 8601 repeating interval that has a duration and no number of times. One from a
// start to an end says only how long it is by subtraction, which is refused, too.
func ParseRepeating(s string) (Repeating, error) {
	switch {
	case s == "" || s[0] != 'R':
		return Repeating{}, fail(0, repeatingHint, "a repeating interval starts with R/")
	case len(s) > 1 && isDigit(s[1]):
		return Repeating{}, fail(1, repeatingHint, "a number of times is not supported")
	case !strings.HasPrefix(s, "R/"):
		return Repeating{}, fail(1, repeatingHint, "the slash after R is missing")
	}
	iv, err := ParseInterval(s[2:])
	if err != nil {
		err = within(err, 2)
		if bad := (*SyntaxError)(nil); errors.As(err, &bad) && bad.Hint == intervalHint {
			bad.Hint = repeatingHint
		}
		return Repeating{}, err
	}
	if iv.Form == StartEnd {
		return Repeating{}, fail(2, repeatingHint, "an interval from a start to an end does not say how often it repeats")
	}
	return Repeating{From: iv.Start, Until: iv.End, Every: iv.For, Back: iv.Form == DurationEnd}, nil
}
