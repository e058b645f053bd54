package engine

import (
	"slices"
	"sync"
	"time"
)

// Clock is the engine's only source of time.
type Clock interface {
	Now() time.Time
	// After returns a channel that gets the time once d has passed, and a function
	// that gives up on it.
	After(d time.Duration) (<-chan time.Time, func())
}

// RealClock is the machine's clock.
type RealClock struct{}

// Now is the time of day.
func (RealClock) Now() time.Time { return time.Now() }

// After is a timer of package time.
func (RealClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// VirtualClock stands still until it is moved.
type VirtualClock struct {
	mu     sync.Mutex
	now    time.Time
	alarms []*alarm
}

type alarm struct {
	at time.Time
	ch chan time.Time
}

// NewVirtualClock returns a clock that shows start.
func NewVirtualClock(start time.Time) *VirtualClock { return &VirtualClock{now: start} }

// Now is what the clock shows.
func (c *VirtualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After is a timer of this clock.
func (c *VirtualClock) After(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &alarm{c.now.Add(d), make(chan time.Time, 1)}
	c.alarms = append(c.alarms, a)
	c.ring()
	return a.ch, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.alarms = slices.DeleteFunc(c.alarms, func(o *alarm) bool { return o == a })
	}
}

// Advance moves the clock to an instant; it never goes back.
func (c *VirtualClock) Advance(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to.After(c.now) {
		c.now = to
		c.ring()
	}
}

// ring fires what is due.
func (c *VirtualClock) ring() {
	c.alarms = slices.DeleteFunc(c.alarms, func(a *alarm) bool {
		if a.at.After(c.now) {
			return false
		}
		a.ch <- c.now
		return true
	})
}
