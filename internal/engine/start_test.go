package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
)

// TestClockStepsBackBeforeAChildStarts: an intervention comes after the start.
func TestClockStepsBackBeforeAChildStarts(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("p").main(spawn("c", true)), build("c").main(delay(time.Hour)))
	child := h.start("p", `{}`) + ":1.1"
	h.clock.mu.Lock()
	h.clock.now = t0.Add(-time.Second)
	h.clock.mu.Unlock()
	if err := h.Control(context.Background(), child, core.Control{Verb: core.VerbSuspend}); err != nil {
		t.Error(err)
	}
	h.want(child, core.Paused, "")
}

// TestClockStepsBackWhileTimersAreDue: nothing turns round and round until it has caught up.
func TestClockStepsBackWhileTimersAreDue(t *testing.T) {
	h := newHarness(t, nil)
	h.maxPasses = 100
	h.deploy(build("w").main(delay(time.Minute)))
	id := h.start("w", `{}`)
	if ready, _ := h.store.Ready(context.Background(), core.TimeOf(t0.Add(time.Minute)), 1); len(ready) != 1 {
		t.Fatalf("ready %v", ready)
	}
	h.poll()
	if next, ok := h.Next(); !ok || !next.Equal(t0.Add(time.Minute)) {
		t.Errorf("next is %v %t", next, ok)
	}
	h.run(time.Hour)
	h.want(id, core.Completed, "")
}

// TestInstanceIDs: a chosen id is plain, and not one that the engine makes.
func TestInstanceIDs(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, mock.Mocks{"f": {gives(`{}`)}})
	c := build("c")
	h.deploy(build("p").main(spawn("c", true)), c.main(c.call("f")), build("x").main(delay(time.Hour)))
	start := func(definition, id string) error {
		_, err := h.Start(ctx, StartRequest{Definition: definition, ID: id})
		return err
	}
	for _, id := range []string{"a\r\nX: y", "order:1.1", "a b", "ä", "-a", ".", "a/b", strings.Repeat("a", 129), "schedule:x"} {
		var bad *IDError
		if err := start("x", id); !errors.As(err, &bad) || !strings.Contains(err.Error(), "1 to 128 characters") {
			t.Errorf("%.20q: %v", id, err)
		}
	}
	for _, id := range []string{"a", "7", "order-1.1", "A.b_c~d-e", strings.Repeat("a", 128)} {
		if err := start("x", id); err != nil {
			t.Error(err)
		}
	}
	if err := start("p", "order"); err != nil {
		t.Fatal(err)
	}
	h.poll()
	h.want("order", core.Completed, "")
	for _, in := range h.list() {
		if in.Definition == "c" && !strings.HasPrefix(in.ID, "order~") { // another "order" has other children
			t.Errorf("the child is %s", in.ID)
		}
	}
}
