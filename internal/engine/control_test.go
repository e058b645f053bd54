package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func TestSuspendAndResume(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, mock.Mocks{"f": {gives(`{"f":1}`)}})
	b := build("w")
	h.deploy(b.main(delay(time.Minute), b.call("f")))
	id := h.start("w", `{}`)
	if err := h.Control(ctx, id, core.Control{Verb: core.VerbSuspend}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	h.want(id, core.Paused, "")
	var rejected *core.Rejected
	if err := h.Control(ctx, id, core.Control{Verb: core.VerbSuspend}); !errors.As(err, &rejected) {
		t.Errorf("suspended twice: %v", err)
	}
	if err := h.Control(ctx, id, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	h.want(id, core.Completed, `{"f":1}`)
	if err := h.Control(ctx, id, core.Control{Verb: core.VerbCancel}); !errors.As(err, &rejected) {
		t.Errorf("cancelled after the end: %v", err)
	}
}

// TestSuspendWhileOutOfFuel: a step that is not over waits for resume, too.
func TestSuspendWhileOutOfFuel(t *testing.T) {
	ctx := context.Background()
	limits := core.DefaultLimits
	limits.Fuel, limits.Steps = 10, 100
	h := newHarness(t, nil, func(c *Config) { c.Limits = &limits })
	b := build("w")
	p := b.main(stepOp{"A", &ir.Eval{}}, stepOp{"B", &ir.Eval{}})
	p.Nodes[2].Next = 1
	h.deploy(p)
	id := h.start("w", `{}`)
	if err := h.Control(ctx, id, core.Control{Verb: core.VerbSuspend}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	h.want(id, core.Paused, "")
	if err := h.Control(ctx, id, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	h.wantFault(id, core.FaultStepLimit)
}

func TestRetryOfAFailedInstance(t *testing.T) {
	h := newHarness(t, mock.Mocks{"f": {fails("Boom"), gives(`{"ok":1}`)}})
	b := build("w")
	h.deploy(b.main(b.call("f")))
	id := h.start("w", `{}`)
	h.run(time.Minute)
	h.wantFault(id, "Boom")
	if err := h.Control(context.Background(), id, core.Control{Verb: core.VerbRetry}); err != nil {
		t.Fatal(err)
	}
	if row := h.get(id); row.Ended != 0 || row.Fault != nil {
		t.Errorf("while it runs again: %+v", row)
	}
	h.run(time.Minute)
	h.want(id, core.Completed, `{"ok":1}`)
}

func TestTake(t *testing.T) {
	ctx := context.Background()
	h := newHarness(t, nil)
	b := build("job")
	op := &ir.Await{Need: 1, Arms: []ir.Arm{
		{Offer: &ir.Offer{Actor: "CLIENT", Choice: "DONE"}, Put: ir.Put{Mode: ir.PutMerge}},
		{Offer: &ir.Offer{Actor: "WFX", Choice: "ABORT"}},
	}}
	h.deploy(b.main(stepOp{"WORK", op}))
	id := h.start("job", `{}`)
	if offers := h.get(id).Offers; len(offers) != 2 || offers[0].Choice != "DONE" || offers[1].Actor != "WFX" {
		t.Errorf("offers %+v", offers)
	}
	var rejected *core.Rejected
	if err := h.Take(ctx, id, core.Take{Actor: "CLIENT", Choice: "ABORT"}); !errors.As(err, &rejected) || len(rejected.Allowed) != 2 {
		t.Errorf("an illegal move: %v", err)
	}
	if err := h.Take(ctx, id, core.Take{Actor: "CLIENT", Choice: "DONE", Value: parse(t, `{"progress":100}`)}); err != nil {
		t.Fatal(err)
	}
	h.want(id, core.Completed, `{"progress":100}`)
	if offers := h.get(id).Offers; len(offers) != 0 {
		t.Errorf("offers are left: %+v", offers)
	}
}

func TestVirtualClock(t *testing.T) {
	c := NewVirtualClock(t0)
	soon, _ := c.After(time.Second)
	later, _ := c.After(time.Minute)
	never, stop := c.After(time.Second)
	stop()
	c.Advance(t0.Add(-time.Hour))
	if !c.Now().Equal(t0) {
		t.Error("the clock went back")
	}
	c.Advance(t0.Add(time.Second))
	select {
	case <-soon:
	default:
		t.Error("a timer did not fire")
	}
	select {
	case <-later:
		t.Error("a timer fired early")
	case <-never:
		t.Error("a stopped timer fired")
	default:
	}
	if now, _ := c.After(0); len(now) != 1 {
		t.Error("a timer without length does not fire at once")
	}
}

// commitStore lets something happen, once, right after a commit.
type commitStore struct {
	store.Store
	committed func()
}

func (s *commitStore) Commit(ctx context.Context, c store.Commit) error {
	err := s.Store.Commit(ctx, c)
	if err == nil {
		happen(&s.committed)
	}
	return err
}

// TestControlOfWhatIsDeletedThen: an intervention that ended an instance is acknowledged, also where the instance is
// deleted before its caller has the answer.
func TestControlOfWhatIsDeletedThen(t *testing.T) {
	cancel := core.Control{Verb: core.VerbCancel}
	for name, do := range map[string]func(h *harness, id string) error{
		"at any revision": func(h *harness, id string) error { return h.Control(t.Context(), id, cancel) },
		"at a revision":   func(h *harness, id string) error { return h.ControlAt(t.Context(), id, cancel, h.get(id).Rev) },
	} {
		s := &commitStore{Store: newStore(t)}
		h := newHarness(t, nil, func(c *Config) { c.Store = s })
		h.deploy(build("w").main(delay(time.Minute)))
		id := h.start("w", `{}`)
		s.committed = func() {
			if err := s.Store.DeleteInstance(t.Context(), id, store.Deletion{At: h.get(id).Updated}); err != nil {
				t.Error(err)
			}
		}
		if err := do(h, id); err != nil || s.committed != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
