package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
)

// Duration is a flag: 1m30s, 30d, 2w or an ISO 8601 duration such as P1M.
type Duration struct {
	Text string // "": the flag is not given
	span calendar.Duration
}

func (d *Duration) String() string { return d.Text }

// Type is the kind of the flag.
func (d *Duration) Type() string { return "duration" }

// Set reads a duration, which must be positive.
func (d *Duration) Set(text string) error {
	span, err := parseDuration(text)
	if err != nil || span.IsZero() {
		return errors.New("must be a duration such as 1m30s, 30d or P1M")
	}
	d.Text, d.span = text, span
	return nil
}

func parseDuration(text string) (calendar.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return calendar.Duration{Nanos: int64(d)}, nil
	}
	if n := len(text); n > 1 && (text[n-1] == 'd' || text[n-1] == 'w') {
		text = "P" + strings.ToUpper(text)
	}
	return calendar.ParseDuration(text)
}

// ISO is the flag as an ISO 8601 duration.
func (d *Duration) ISO() string { return d.span.String() }

// Deadline is the instant this long after start, if the flag is given.
func (d *Duration) Deadline(start time.Time) (time.Time, bool) {
	if d.Text == "" {
		return time.Time{}, false
	}
	return d.span.AddTo(start), true
}

// Before is the instant this long ago; the zero time if the flag is not given.
func (d *Duration) Before(now time.Time) time.Time {
	if d.Text == "" {
		return time.Time{}
	}
	return d.span.SubFrom(now)
}

// Bound is a context with this timeout, if the flag is given.
func (d *Duration) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := d.Deadline(time.Now()); ok {
		return context.WithDeadline(ctx, deadline)
	}
	return context.WithCancel(ctx)
}
