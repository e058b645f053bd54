package calendar

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// IntervalForm is one of the four ways to write an interval (0.5 §Schedule
// Definition).
type IntervalForm int

const (
	StartEnd      IntervalForm = iota // <start>/<end>
	StartDuration                     // <start>/<duration>
	DurationEnd                       // <duration>/<end>
	DurationOnly                      // <duration>, counted from deployment
)

// Interval is the window in which a start state is active. Only the fields
// that its Form names are set; Window works out the others.
type Interval struct {
	Start, End time.Time
	For        Duration
	Form       IntervalForm
}

const intervalHint = "an interval is <start>/<end>, <start>/<duration>, <duration>/<end> or <duration>, " +
	"such as 2020-03-20T13:00:00Z/PT6H"

// ParseInterval reads an ISO 8601 time interval in one of its four forms. An
// interval that is never active (no length, or an end before its start) is an
// error.
func ParseInterval(s string) (Interval, error) {
	left, right, two := strings.Cut(s, "/")
	if err := intervalShape(s, left, right, two); err != nil {
		return Interval{}, err
	}
	rightAt := len(left) + 1
	iv := Interval{Form: StartEnd}
	switch {
	case !two:
		iv.Form = DurationOnly
	case looksLikeDuration(left):
		iv.Form = DurationEnd
	case looksLikeDuration(right):
		iv.Form = StartDuration
	}
	var err error
	if iv.Form == DurationEnd || iv.Form == DurationOnly {
		iv.For, err = intervalDuration(left, 0)
	} else {
		iv.Start, err = ParseInstant(left)
	}
	if err != nil {
		return Interval{}, err
	}
	switch iv.Form {
	case StartDuration:
		iv.For, err = intervalDuration(right, rightAt)
	case StartEnd, DurationEnd:
		iv.End, err = ParseInstant(right)
		err = within(err, rightAt)
	case DurationOnly:
	}
	if err != nil {
		return Interval{}, err
	}
	if iv.Form == StartEnd && !iv.Start.Before(iv.End) {
		return Interval{}, fail(rightAt, "swap start and end", "the interval does not end after its start")
	}
	return iv, nil
}

// intervalShape checks the parts before they are parsed.
func intervalShape(s, left, right string, two bool) error {
	switch {
	case s == "":
		return fail(0, intervalHint, "the interval is empty")
	case s[0] == 'R':
		return fail(0, intervalHint, "a repeating interval is not a window")
	case !two && !looksLikeDuration(left):
		return fail(len(s), intervalHint, "one instant is not an interval: its end is missing")
	case two && left == "":
		return fail(0, intervalHint, "there is nothing before the slash")
	case two && right == "":
		return fail(len(s), intervalHint, "there is nothing after the slash")
	case strings.Contains(right, "/"):
		return fail(len(left)+1+strings.IndexByte(right, '/'), intervalHint, "a second slash")
	case two && looksLikeDuration(left) && looksLikeDuration(right):
		return fail(len(left)+1, intervalHint, "both sides of the slash are durations")
	}
	return nil
}

// looksLikeDuration also accepts misspelt durations, so that the error is about a
// duration and not about an instant.
func looksLikeDuration(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return s != "" && (s[0] == 'P' || s[0] == 'p')
}

func intervalDuration(s string, at int) (Duration, error) {
	d, err := ParseDuration(s)
	if err != nil {
		return Duration{}, within(err, at)
	}
	if d.IsZero() {
		return Duration{}, fail(at, intervalHint, "an interval of no length is never active")
	}
	return d, nil
}

// Window returns the half-open window [from, to). Only a bare duration needs
// the time of deployment. 0.5 calls <duration>/<end> active "for the duration
// or until the end, whichever comes first"; that is [end − duration, end).
func (iv Interval) Window(deployed time.Time) (from, to time.Time) {
	switch iv.Form {
	case StartEnd:
		return iv.Start, iv.End
	case StartDuration:
		return iv.Start, iv.For.AddTo(iv.Start)
	case DurationEnd:
		return iv.For.SubFrom(iv.End), iv.End
	default: // DurationOnly
		return deployed.UTC(), iv.For.AddTo(deployed)
	}
}

// Contains reports whether t lies in the window.
func (iv Interval) Contains(t, deployed time.Time) bool {
	from, to := iv.Window(deployed)
	return !t.Before(from) && t.Before(to)
}

// Repeat says how often something repeats and how far apart.
type Repeat struct {
	Times int // −1 without a limit
	Every Duration
}

const repeatHint = "R5/PT15M is 5 times, 15 minutes apart; R/PT15M has no limit"

// ParseRepeat reads an ISO 8601 repeating interval of the form R<n>/<duration>
// or R/<duration>. The forms with a start or an end are refused.
func ParseRepeat(s string) (Repeat, error) {
	if s == "" || s[0] != 'R' {
		return Repeat{}, fail(0, repeatHint, "a repeating interval starts with R")
	}
	count, every, ok := strings.Cut(s[1:], "/")
	at := 1 + len(count) + 1
	if end := digitsFrom(count, 0); end < len(count) {
		return Repeat{}, fail(1+end, repeatHint, "%s is not a number of times", quote(count))
	}
	if !ok {
		return Repeat{}, fail(len(s), repeatHint, "the slash and the duration are missing")
	}
	if slash := strings.IndexByte(every, '/'); slash >= 0 {
		return Repeat{}, fail(at+slash, repeatHint, "a repeating interval with a start or an end is not supported")
	}
	r := Repeat{Times: -1}
	if count != "" {
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil || n > math.MaxInt32 {
			return Repeat{}, fail(1, "R/ has no limit", "%s repetitions are more than %d", quote(count), math.MaxInt32)
		}
		r.Times = int(n)
	}
	var err error
	if r.Every, err = ParseDuration(every); err != nil {
		return Repeat{}, within(err, at)
	}
	return r, nil
}
