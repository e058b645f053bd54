package server

import (
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// alarms tell requests that wait for an instance that their time is up. Requests whose time is up within the same
// alarmSpan share an alarm: thousands that wait cost a timer ten times a second, and nothing each.
type alarms struct {
	clock    engine.Clock
	stopping <-chan struct{}

	mu  sync.Mutex
	due map[int64]chan time.Time // by when they ring, in alarmSpans since 1970
}

// alarmSpan is how much longer than asked for a request may wait.
const alarmSpan = 100 * time.Millisecond

// after returns a channel that is closed once d has passed.
func (a *alarms) after(d time.Duration) <-chan time.Time {
	now := a.clock.Now()
	at := now.Add(d+alarmSpan-1).UnixNano() / int64(alarmSpan)
	a.mu.Lock()
	defer a.mu.Unlock()
	if late := a.due[at]; late != nil {
		return late
	}
	late := make(chan time.Time)
	a.due[at] = late
	rings, silence := a.clock.After(time.Unix(0, at*int64(alarmSpan)).Sub(now))
	go func() {
		defer silence()
		select {
		case <-rings:
		case <-a.stopping:
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.due, at)
		close(late)
	}()
	return late
}
