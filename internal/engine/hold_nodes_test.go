package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// TestNodesPause: what one node pauses, another refuses to start at once, and holds. Resumed by the other, everything goes
// on, and no call is made twice.
func TestNodesPause(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	s.block = make(chan struct{})
	a, b := runNode(t, url, "a", postgres.Options{}, s), runNode(t, url, "b", postgres.Options{}, s)
	settle(a, b)
	w := build("w")
	program := w.main(w.call("f"), delay(time.Millisecond), w.call("g"))
	if err := a.Deploy(t.Context(), program); err != nil {
		t.Fatal(err)
	}
	const many = 20
	for i := range many {
		n := []*testNode{a, b}[i%2]
		if _, err := n.Start(t.Context(), StartRequest{Definition: "w"}); err != nil {
			t.Fatal(err)
		}
	}
	until(func() bool { keys, _ := s.count(); return keys == many }) // the first calls are in flight
	if err := a.PauseDefinition(t.Context(), "w", "ada", ""); err != nil {
		t.Fatal(err)
	}
	var refused *PausedError
	if _, err := b.Start(t.Context(), StartRequest{Definition: "w"}); !errors.As(err, &refused) {
		t.Errorf("the other node starts it: %v", err)
	}
	until(func() bool { return b.holds("w") })
	close(s.block) // the calls answer
	held := func() int {
		list, err := a.store.Held(t.Context(), "w", 2*many)
		if err != nil {
			t.Error(err)
		}
		return len(list)
	}
	until(func() bool { return held() == many })
	a.stop() // what it had goes over to the other one
	if keys, calls := s.count(); keys != many || calls != many {
		t.Errorf("%d calls of %d", calls, keys)
	}
	if err := b.ResumeDefinition(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	until(func() bool {
		n, err := b.store.Count(t.Context(), store.Query{Status: []core.Status{core.Completed}})
		return err != nil || n == many
	})
	if keys, calls := s.count(); keys != 2*many || calls != 2*many {
		t.Errorf("%d calls of %d", calls, keys)
	}
	until(func() bool { return b.releases.Load() == 0 })
}

// TestNodesPausedSchedule: a schedule that one node paused fires at none.
func TestNodesPausedSchedule(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	a, b := runNode(t, url, "a", postgres.Options{}, s), runNode(t, url, "b", postgres.Options{}, s)
	settle(a, b)
	if err := a.Deploy(t.Context(), scheduled("w", ir.Schedule{Every: span(20 * time.Millisecond)})); err != nil {
		t.Fatal(err)
	}
	count := func() int64 {
		n, err := a.store.Count(t.Context(), store.Query{})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	until(func() bool { return count() >= 3 })
	for _, n := range []*testNode{a, b} { // whichever has the schedule
		if err := n.PauseSchedule(t.Context(), "w", "", ""); err != nil {
			t.Fatal(err)
		}
	}
	until(func() bool { return a.silent("w") && b.silent("w") })
	x, err := b.Schedule(t.Context(), "w", 1)
	if err != nil || x.Paused == nil {
		t.Fatalf("%+v %v", x, err)
	}
	// One that was being started when the pause came may be stored after it.
	until(func() bool { return a.Working()+b.Working() == 0 })
	before := count()
	if _, err := b.Trigger(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != before+1 {
		t.Errorf("%d instances, and %d before", n, before)
	}
	if err := b.ResumeSchedule(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	until(func() bool { return count() >= before+4 })
}
