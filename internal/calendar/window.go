package calendar

import (
	"fmt"
	"time"
)

// maxWindow is the longest window that ParseWindow reads.
const maxWindow = 366 * 24 * time.Hour

// ParseWindow reads how far back a schedule catches up: an ISO 8601 duration from PT1S to P366D.
func ParseWindow(text string) (time.Duration, error) {
	d, err := ParseDuration(text)
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
