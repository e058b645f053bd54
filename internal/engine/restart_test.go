package engine

import (
	"context"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestRestartNeedsNoRecords: what an instance was started with comes from its state, also after it consumed
// its events, ended, or was given up in quarantine; and from the inbox before its first step.
func TestRestartNeedsNoRecords(t *testing.T) {
	b := build("tea")
	x := b.event("x")
	b.p.Start = ir.Start{Events: []ir.EventID{x}}
	h := newHarness(t, nil)
	// The records before the event would hide it from whoever looks at the first few.
	h.deploy(b.main(delay(1), delay(1), delay(1), delay(1), delay(1), delay(1), await("X", 0, x)))
	sent := h.send(`x e1 {"x":1}`)
	h.run(time.Minute)
	restart := func(id string) string {
		t.Helper()
		again, _, err := h.Restart(t.Context(), id, RestartRequest{})
		if err != nil {
			t.Fatal(err)
		}
		h.run(time.Minute)
		return again
	}
	h.want(sent.Started[0], core.Completed, `{"x":1}`)
	h.want(restart(sent.Started[0]), core.Completed, `{"x":1}`)

	waits := build("waits")
	h.deploy(waits.main(await("Y", 0, waits.event("y"))))
	id := h.start("waits", `{"n":7}`)
	l, err := h.live.acquire(t.Context(), id, onRequest)
	if err != nil {
		t.Fatal(err)
	}
	err = h.setAside(t.Context(), l, &brokenError{core.ErrStopped}, nil)
	h.live.release(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Control(t.Context(), id, core.Control{Verb: core.VerbTerminate}); err != nil {
		t.Fatal(err)
	}
	h.want(id, core.Terminated, "")
	inputOf := func(id string) expr.Value {
		t.Helper()
		start, known, err := h.startOf(t.Context(), h.get(id))
		if err != nil || !known {
			t.Fatalf("known %v, %v", known, err)
		}
		return start.Data
	}
	if got := inputOf(restart(id)); !expr.Equal(got, parse(t, `{"n":7}`)) {
		t.Errorf("the input of the restarted one is %s", got)
	}
	d, err := h.find(t.Context(), "waits", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.createLater(t.Context(), newRow(d, "later", h.now()), 0, core.Start{Data: parse(t, `{"n":8}`)}); err != nil {
		t.Fatal(err)
	}
	if got := inputOf("later"); !expr.Equal(got, parse(t, `{"n":8}`)) {
		t.Errorf("before its first step the input is %s", got)
	}
}

// stepBeforeInbox lets time pass before an inbox is read.
type stepBeforeInbox struct {
	store.Store
	step func()
}

func (s *stepBeforeInbox) Messages(ctx context.Context, instance string) ([]store.Message, error) {
	if step := s.step; step != nil {
		s.step = nil
		step()
	}
	return s.Store.Messages(ctx, instance)
}

// TestStartOfDuringTheFirstStep: the step that takes the start out of the inbox comes between the look at the
// state and the look at the inbox.
func TestStartOfDuringTheFirstStep(t *testing.T) {
	between := &stepBeforeInbox{}
	h := newHarness(t, nil, func(c *Config) { between.Store = c.Store; c.Store = between })
	b := build("w")
	h.deploy(b.main(await("X", 0, b.event("x"))))
	d, err := h.find(t.Context(), "w", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.createLater(t.Context(), newRow(d, "later", h.now()), 0, core.Start{Data: parse(t, `{"n":8}`)}); err != nil {
		t.Fatal(err)
	}
	between.step = h.poll
	start, known, err := h.startOf(t.Context(), h.get("later"))
	if err != nil || !known || !expr.Equal(start.Data, parse(t, `{"n":8}`)) {
		t.Errorf("%v, known %v, %v", start.Data, known, err)
	}
}
