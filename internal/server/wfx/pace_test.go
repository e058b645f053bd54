package wfx_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// steppedClock goes on by a step whenever it is asked, and counts who waits for a short time.
type steppedClock struct {
	engine.RealClock
	now, step, waits atomic.Int64
}

func (c *steppedClock) Now() time.Time { return time.Unix(0, c.now.Add(c.step.Load())) }

func (c *steppedClock) After(d time.Duration) (<-chan time.Time, func()) {
	if d < time.Second {
		c.waits.Add(1)
		d = 0
	}
	return c.RealClock.After(d)
}

// TestEventsGoAtOnce: an event after a rest is sent without waiting for others; those that
// follow at once are gathered.
func TestEventsGoAtOnce(t *testing.T) {
	clock := &steppedClock{}
	clock.now.Store(time.Now().UnixNano())
	clock.step.Store(int64(time.Second))
	w := newWorld(t, func(c *server.Config, _ *engine.Config) { c.Clock = clock })
	w.kanban()
	s := w.south.follow("?actions=CREATE")
	for range 5 {
		w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
		s.next()
	}
	if n := clock.waits.Load(); n != 0 {
		t.Errorf("events that come one by one waited %d times", n)
	}
	clock.step.Store(0)
	for range 5 {
		w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
		s.next()
	}
	if clock.waits.Load() == 0 {
		t.Error("events that come all at once are not gathered")
	}
}
