package admit

import (
	"math"
	"runtime/debug"
	"testing"
)

// TestTuneCollector: garbage may grow where a limit bounds it, and where GOGC does not say otherwise.
func TestTuneCollector(t *testing.T) {
	const usual = 100
	percent, limit := debug.SetGCPercent(usual), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) })
	for _, x := range []struct {
		name        string
		limit       int64
		gogc        string
		wantPercent int
		wantLimit   int64
	}{
		{"no limit", 0, "", usual, math.MaxInt64},
		{"a limit", 1 << 40, "", collectorPercent, 1 << 40},
		{"GOGC", 1 << 40, "50", usual, 1 << 40},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Setenv("GOGC", x.gogc)
			debug.SetGCPercent(usual)
			debug.SetMemoryLimit(math.MaxInt64)
			TuneCollector(x.limit)
			if got := debug.SetGCPercent(usual); got != x.wantPercent {
				t.Errorf("garbage may be %d %% of what is live, want %d", got, x.wantPercent)
			}
			if got := debug.SetMemoryLimit(-1); got != x.wantLimit {
				t.Errorf("the limit is %d, want %d", got, x.wantLimit)
			}
		})
	}
}
