package cli

import (
	"testing"
	"time"
)

// TestAges: how long ago people say that something was.
func TestAges(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"12h": now.Add(-12 * time.Hour),
		"30d": now.AddDate(0, 0, -30),
		"12w": now.AddDate(0, 0, -12*7),
		"P1D": now.AddDate(0, 0, -1),
	} {
		var a Duration
		if err := a.Set(text); err != nil || !a.Before(now).Equal(want) {
			t.Errorf("%s: %v, %v, want %v", text, a.Before(now), err, want)
		}
	}
	for _, bad := range []string{"", "0h", "12", "w", "12y", "-1h"} {
		if new(Duration).Set(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
