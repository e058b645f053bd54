package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func (h *harness) pause(id string) {
	h.t.Helper()
	if err := h.PauseDefinition(h.t.Context(), id, "ada", "too hot"); err != nil {
		h.t.Fatal(err)
	}
}

func (h *harness) resume(id string) {
	h.t.Helper()
	if err := h.ResumeDefinition(h.t.Context(), id); err != nil {
		h.t.Fatal(err)
	}
}

// TestPausedDefinition: no start, timer, event, child or call happens until it is resumed, and then all of it does.
// Others go on. In between the process is restarted.
func TestPausedDefinition(t *testing.T) {
	h := newHarness(t, mock.Mocks{"f": {gives(`{"f":1}`)}})
	w := build("w")
	start := build("s")
	e, g := w.event("go"), start.event("begin")
	start.p.Start = ir.Start{Events: []ir.EventID{g}}
	h.deploy(
		w.main(await("Wait", time.Hour, e), w.call("f")), start.main(await("Begin", 0, g)),
		build("timer").main(delay(time.Hour)), build("other").main(delay(time.Hour)), build("parent").main(spawn("timer", true)),
	)
	woken, timed, other := h.start("w", `{}`), h.start("timer", `{}`), h.start("other", `{}`)
	for _, id := range []string{"w", "timer", "s"} {
		h.pause(id)
	}
	var refused *PausedError
	_, err := h.Start(t.Context(), StartRequest{Definition: "w"})
	if !errors.As(err, &refused) || refused.By != "ada" || refused.Reason != "too hot" || refused.Retired {
		t.Errorf("start: %v", err)
	}
	parent := h.start("parent", `{}`)
	if sent := h.send(`begin b1`); len(sent.Started) != 1 {
		t.Errorf("the event is lost: %+v", sent)
	}
	h.send(`go g1`)
	h.run(3 * time.Hour)
	h = h.again()
	h.run(time.Hour)
	h.want(other, core.Completed, "")
	for _, in := range h.list() {
		if in.ID != other && in.Status.Final() {
			t.Errorf("%s %s is %s", in.Definition, in.ID, in.Status)
		}
	}
	if n := len(h.mock.Calls()); n != 0 {
		t.Errorf("%d calls", n)
	}
	if at, ok := h.Next(); ok {
		t.Errorf("there is something to do at %v", at)
	}
	if more, err := h.Poll(t.Context()); more || err != nil {
		t.Errorf("it goes on: %t %v", more, err)
	}
	for _, id := range []string{"w", "timer", "s"} {
		h.resume(id)
	}
	h.run(time.Minute)
	h.want(woken, core.Completed, `{"f":1}`)
	h.want(timed, core.Completed, "")
	for _, in := range h.list() {
		if in.ID != parent && in.Parent != parent && !in.Status.Final() || in.Held {
			t.Errorf("%s %s is %s, held %t", in.Definition, in.ID, in.Status, in.Held)
		}
	}
	h.run(2 * time.Hour) // the parent's child has begun an hour ago at most
	h.want(parent, core.Completed, "")
	if n := len(h.mock.Calls()); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestPausedCalls: a call that has not begun does not; one in flight may answer, and the answer counts after the
// pause, also in another process.
func TestPausedCalls(t *testing.T) {
	h := newHarness(t, mock.Mocks{"slow": {after(time.Minute, gives(`{"slow":1}`))}, "f": {gives(`{"f":1}`)}})
	slow, quick := build("slow"), build("quick")
	h.deploy(slow.main(slow.call("slow"), slow.call("f")), quick.main(quick.call("f")))
	flying := h.start("slow", `{}`)
	h.poll() // the call is in flight
	waiting := h.start("quick", `{}`)
	h.pause("slow")
	h.pause("quick")
	h.run(10 * time.Minute)
	if n := len(h.mock.Calls()); n != 1 {
		t.Errorf("%d calls", n)
	}
	if row := h.get(flying); !row.Held || row.Status.Final() {
		t.Errorf("it is %s, held %t", row.Status, row.Held)
	}
	h = h.again()
	h.run(time.Minute)
	h.resume("slow")
	h.resume("quick")
	h.run(time.Minute)
	h.want(flying, core.Completed, `{"f":1,"slow":1}`)
	h.want(waiting, core.Completed, `{"f":1}`)
	if n := len(h.mock.Calls()); n != 3 {
		t.Errorf("%d calls", n)
	}
}

// TestInterventionsWhilePaused: what an operator asks of one instance is done.
func TestInterventionsWhilePaused(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("w").main(delay(time.Minute)))
	a, b, c := h.start("w", `{}`), h.start("w", `{}`), h.start("w", `{}`)
	h.pause("w")
	h.run(time.Hour)
	for id, verb := range map[string]core.Verb{a: core.VerbTerminate, b: core.VerbCancel, c: core.VerbSuspend} {
		if err := h.Control(t.Context(), id, core.Control{Verb: verb}); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
	h.want(a, core.Terminated, "")
	h.want(b, core.Cancelled, "")
	h.want(c, core.Paused, "")
	if row := h.get(a); row.Held {
		t.Error("an instance that is over is held")
	}
	h.resume("w")
	h.run(time.Hour)
	h.want(c, core.Paused, "")
	if err := h.Control(t.Context(), c, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	h.want(c, core.Completed, "")
}

// TestManyHeldInstances: each costs one write, not one a pass, and others are served meanwhile.
func TestManyHeldInstances(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(build("w").main(delay(time.Minute)), build("other").main(delay(time.Minute)))
	const many = 3 * batch
	for range many {
		h.start("w", `{}`)
	}
	other := h.start("other", `{}`)
	h.pause("w")
	h.run(time.Hour)
	h.want(other, core.Completed, "")
	before := h.stored.Load()
	h.run(time.Hour)
	if n := h.stored.Load() - before; n != 0 {
		t.Errorf("%d writes for held instances", n)
	}
	held, err := h.store.Held(t.Context(), "w", 2*many)
	if err != nil || len(held) != many {
		t.Fatalf("%d are held: %v", len(held), err)
	}
	h.resume("w")
	h.run(time.Minute)
	for _, in := range h.list() {
		if in.Status != core.Completed {
			t.Fatalf("%s is %s", in.ID, in.Status)
		}
	}
	if h.policyOf("w").Release || h.releases.Load() != 0 {
		t.Error("it still looks for held instances")
	}
}

// TestHeldAnswersHaveNoSecrets: an answer for an instance with secrets is kept in memory.
func TestHeldAnswersHaveNoSecrets(t *testing.T) {
	b := build("w")
	b.p.Secrets = []string{"token"}
	h := newHarness(t, mock.Mocks{"f": {after(time.Minute, gives(`{"secret":"s3cr3t"}`))}})
	h.deploy(b.main(b.call("f")))
	id := h.start("w", `{}`)
	h.poll()
	h.pause("w")
	h.run(time.Hour)
	messages, err := h.store.Messages(t.Context(), id)
	if err != nil || len(messages) != 0 {
		t.Errorf("stored: %v %v", messages, err)
	}
	if at, ok := h.Next(); ok {
		t.Errorf("there is something to do at %v", at)
	}
	h.resume("w")
	h.run(time.Minute)
	h.want(id, core.Completed, `{"secret":"s3cr3t"}`)
	if n := len(h.mock.Calls()); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestRetiredDefinition: nothing starts it, what runs goes on, and a new version ends the retirement.
func TestRetiredDefinition(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	e := b.event("go")
	b.p.Start = ir.Start{Events: []ir.EventID{e}, Schedule: &ir.Schedule{Cron: "0 * * * *", DirectInvoke: true}}
	h.deploy(b.main(await("Go", 0, e), delay(time.Minute)), build("parent").main(spawn("w", true)))
	h.send(`go e1`)
	if err := h.RetireDefinition(t.Context(), "w", "ada", "replaced"); err != nil {
		t.Fatal(err)
	}
	h = h.again()
	var refused *PausedError
	if _, err := h.Start(t.Context(), StartRequest{Definition: "w"}); !errors.As(err, &refused) || !refused.Retired {
		t.Errorf("start: %v", err)
	}
	if sent := h.send(`go e2`); len(sent.Started) != 0 {
		t.Errorf("an event starts it: %+v", sent)
	}
	parent := h.start("parent", `{}`)
	h.run(5*time.Hour + time.Minute)
	h.wantFault(parent, core.FaultNoWorkflow)
	list := h.list()
	if len(list) != 2 || list[0].Status != core.Completed {
		t.Errorf("instances %+v", list)
	}
	if err := h.UnretireDefinition(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	h.run(90 * time.Minute)
	if got := len(h.list()); got != 3 {
		t.Errorf("%d instances after it was undone", got)
	}
	if err := h.RetireDefinition(t.Context(), "w", "ada", ""); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(h.clock.Now().Add(time.Second))
	next := build("w")
	next.p.Version = "2"
	h.deploy(next.main())
	h.want(h.start("w", `{}`), core.Completed, "")
	if paused, retired := h.Decisions("w"); paused != nil || retired != nil {
		t.Errorf("decisions %v %v", paused, retired)
	}
}

// TestPauseOfNothing: there is no policy without a definition.
func TestPauseOfNothing(t *testing.T) {
	h := newHarness(t, nil)
	var missing *NotFoundError
	if err := h.PauseDefinition(t.Context(), "w", "", ""); !errors.As(err, &missing) {
		t.Errorf("pause: %v", err)
	}
	h.deploy(build("w").main())
	h.pause("w")
	h.pause("w")
	if err := h.DeleteDefinition(t.Context(), "w", ""); err != nil {
		t.Fatal(err)
	}
	h.deploy(build("w").main())
	h.start("w", `{}`)
}

// TestPauseSurvivesCrashes kills the process at each write while a definition is paused and resumed.
func TestPauseSurvivesCrashes(t *testing.T) {
	for write := 1; ; write++ {
		died := false
		for _, after := range []bool{false, true} {
			mortal := &mortalStore{left: write, after: after}
			h := newHarness(t, mock.Mocks{"f": {gives(`{"f":1}`)}}, func(c *Config) { mortal.Store, c.Store = c.Store, mortal })
			w := build("w")
			h.deploy(w.main(delay(time.Minute), w.call("f")))
			steps := []func(*harness) error{
				func(h *harness) error {
					_, err := h.Start(context.Background(), StartRequest{Definition: "w", ID: "a"})
					if errors.As(err, new(*ExistsError)) {
						err = nil
					}
					return err
				},
				func(h *harness) error { return h.PauseDefinition(context.Background(), "w", "", "") },
				func(h *harness) error { return h.runUntil(t0.Add(time.Hour)) },
				func(h *harness) error { return h.ResumeDefinition(context.Background(), "w") },
				func(h *harness) error { return h.runUntil(t0.Add(2 * time.Hour)) },
			}
			for i := 0; i < len(steps); i++ {
				if err := steps[i](h); mortal.dead {
					died, mortal.dead, mortal.left = true, false, -1
					clock, invoker := h.clock, h.mock
					h = newHarness(t, nil, func(c *Config) { c.Store, c.Clock, c.Invoker = mortal, clock, invoker })
					h.clock, h.mock = clock, invoker
					i-- // the caller tries again
				} else if err != nil {
					t.Fatalf("write %d: step %d: %v", write, i, err)
				}
			}
			what := fmt.Sprintf("write %d, after it %t", write, after)
			if row := h.get("a"); row.Status != core.Completed || row.Held || row.Ended < core.TimeOf(t0.Add(time.Hour)) {
				t.Errorf("%s: it is %s, held %t, ended %v", what, row.Status, row.Held, row.Ended)
			}
		}
		if !died {
			if write < 5 {
				t.Errorf("only %d writes", write)
			}
			return
		}
	}
}

// decidingStore lets an operator decide while the engine looks for an instance.
type decidingStore struct {
	store.Store
	decide func()
}

func (s *decidingStore) Instance(ctx context.Context, id string) (store.Instance, error) {
	if decide := s.decide; decide != nil {
		s.decide = nil
		decide()
	}
	return s.Store.Instance(ctx, id)
}

// TestDecisionWhileAScheduleFires: a fire time that is paused or retired just before its start is left out.
func TestDecisionWhileAScheduleFires(t *testing.T) {
	for name, decide := range map[string]func(*Engine) error{
		"pause the schedule":   func(e *Engine) error { return e.PauseSchedule(context.Background(), "w", "", "") },
		"pause the definition": func(e *Engine) error { return e.PauseDefinition(context.Background(), "w", "", "") },
		"retire":               func(e *Engine) error { return e.RetireDefinition(context.Background(), "w", "", "") },
	} {
		deciding := &decidingStore{}
		h := newHarness(t, nil, func(c *Config) { deciding.Store, c.Store = c.Store, deciding })
		h.deploy(hourly(time.Minute))
		var err error
		deciding.decide = func() { err = decide(h.Engine) }
		h.run(2 * time.Hour)
		if deciding.decide != nil || err != nil {
			t.Errorf("%s: %v", name, err)
		}
		h.expect(name, h.began(), "")
	}
}
