package cluster

import (
	"fmt"
	"time"
)

// fires are the times between which a schedule was deployed: from the first to the last that is sure, and from
// the first to the last that is possible.
type fires struct {
	asked, began, ending, ended time.Time
	up                          time.Time // when a node came up last before it went
}

// outage is how long a node is down at most.
func (w *world) outage() (longest time.Duration) {
	for _, f := range w.c.Faults {
		longest = max(longest, f.For)
	}
	return longest
}

func (f *fires) begin(what string, now time.Time) {
	switch {
	case what == "cron" && f.asked.IsZero():
		f.asked = now
	case what == "uncron" && f.ending.IsZero():
		f.ending = now
	}
}

func (f *fires) end(what string, now time.Time) {
	switch {
	case what == "cron" && f.began.IsZero():
		f.began = now
	case what == "uncron" && f.ended.IsZero():
		f.ended = now
	}
}

// check: a schedule starts one instance at each of its times.
func (f *fires) check(w *world, n int, late time.Duration) error {
	if f.ended.IsZero() || f.began.IsZero() || n < 0 || f.ending.Before(f.began) {
		return nil
	}
	w.check(EachFire)
	const every = 20 * time.Second
	ticks := func(from, to time.Time) int { return int(to.Truncate(every).Sub(from.Truncate(every)) / every) }
	if least, most := ticks(f.began, f.ending.Add(-late)), ticks(f.asked.Add(-time.Second), f.ended); n < least || n > most {
		return fmt.Errorf("a schedule was deployed between %s and %s, and undeployed between %s and %s: it started %d instances, not %d to %d", f.asked, f.began, f.ending, f.ended, n, least, most)
	}
	return nil
}
