package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// crowded is a store in which all that write to a schedule at the same moment have read the same of it.
type crowded struct {
	store.Store
	mu   sync.Mutex
	gate chan struct{} // closed to let them go on; nil: none waits
}

func (c *crowded) Advance(ctx context.Context, was store.Schedule, next *core.Time, fires string) error {
	c.mu.Lock()
	if c.gate == nil {
		c.gate = make(chan struct{})
	}
	gate := c.gate
	c.mu.Unlock()
	<-gate
	return c.Store.Advance(ctx, was, next, fires)
}

// round lets those that wait go on. It reports false where none does.
func (c *crowded) round() bool {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gate == nil {
		return false
	}
	close(c.gate)
	c.gate = nil
	return true
}

// TestTriggerStorm: triggers at the same moment on two nodes are all among the last fire times.
func TestTriggerStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := &crowded{Store: memory.New()}
		a := newHarness(t, nil, func(c *Config) { c.Store = over })
		cron := build("cron")
		cron.p.Start.Schedule = &ir.Schedule{Cron: "0 * * * *"}
		a.deploy(cron.main(delay(time.Hour)))
		b := a.again()
		d, row, err := a.scheduleOf(t.Context(), "cron")
		if err != nil {
			t.Fatal(err)
		}
		for i := range keptFires {
			e := []*harness{a, b}[i%2]
			go e.noteTrigger(t.Context(), d, row, Fire{At: core.Time(i + 1), Outcome: FireTriggered, Instance: "gone"})
		}
		for over.round() {
		}
		rows, err := a.scheduleRows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := len(readFires(rows["cron"])); got != keptFires {
			t.Errorf("%d of %d triggers are noted", got, keptFires)
		}
	})
}
