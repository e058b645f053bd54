package engine

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// starter is a definition that begins with an event and then waits for a second one of
// the same type and key.
func starter(id string, between time.Duration) *ir.Program {
	b := build(id)
	e := b.event("reading", "patientId")
	b.p.Start.Events = []ir.EventID{e}
	return b.main(await("First", 0, e), delay(between), await("Second", 0, e))
}

func TestStartByEvent(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(starter("w", time.Second))
	h.startInput("w", `{"base":1}`)
	first := h.send(`reading e1 patientId=1 {"a":1}`)
	if len(first.Started) != 1 || first.Kept {
		t.Fatalf("%+v", first)
	}
	other := h.send(`reading e2 patientId=2`)
	if len(other.Started) != 1 {
		t.Fatalf("%+v", other)
	}
	h.run(time.Minute)
	second := h.send(`reading e3 patientId=1 {"b":2}`)
	if !slices.Equal(second.Matched, first.Started) || len(second.Started) != 0 || len(second.Why) != 0 || second.Kept {
		t.Errorf("an event for a running instance: %+v", second)
	}
	h.poll()
	h.want(first.Started[0], core.Completed, `{"a":1,"b":2,"base":1}`)
	h.want(other.Started[0], core.Waiting, "")
	if third := h.send(`reading e4 patientId=1`); len(third.Started) != 1 {
		t.Errorf("after the end another one starts: %+v", third)
	}
}

// TestStartEventOfARunningInstanceIsKeptForIt, also before its first step, and starts
// another one if that ends without it.
func TestStartEventOfARunningInstanceIsKeptForIt(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(starter("w", time.Hour))
	first := h.send(`reading e1 patientId=1 {"n":1}`)
	second := h.send(`reading e2 patientId=1 {"n":2}`)
	third := h.send(`reading e3 patientId=1 {"n":3}`)
	for _, s := range []Sent{second, third} {
		if len(s.Started) != 0 || !s.Kept || !says(s.Why, first.Started[0]) {
			t.Errorf("%+v", s)
		}
	}
	h.run(2 * time.Hour)
	h.want(first.Started[0], core.Completed, `{"n":2}`)
	list := h.list()
	if len(list) != 2 {
		t.Fatalf("%d instances, want a second one for the third event", len(list))
	}
	h.want(list[1].ID, core.Waiting, "")
	if list[1].Created != core.TimeOf(t0.Add(time.Hour)) {
		t.Errorf("the second one was created at %v", list[1].Created)
	}
	if err := h.Control(context.Background(), list[1].ID, core.Control{Verb: core.VerbCancel}); err != nil {
		t.Fatal(err)
	}
	h.run(time.Hour)
	if got := len(h.list()); got != 2 {
		t.Errorf("%d instances: an event started twice", got)
	}
}

// TestAnEventIsRoutedAgainTooLate: it was to be routed again, and an instance got it before that was done; by then
// the instance may be over. That one has it: the event starts no other.
func TestAnEventIsRoutedAgainTooLate(t *testing.T) {
	for _, over := range []bool{false, true} {
		h := newHarness(t, nil)
		h.deploy(starter("w", time.Second))
		h.send(`reading e1 patientId=1`)
		h.run(time.Minute)
		if second := h.send(`reading e2 patientId=1`); len(second.Matched) != 1 {
			t.Fatalf("%+v", second)
		}
		if over {
			h.run(time.Hour)
		}
		page, err := h.EventPage(t.Context(), store.EventQuery{Newest: true, Limit: 1})
		if err != nil || len(page.Events) != 1 {
			t.Fatal(page, err)
		}
		err = h.route(t.Context(), func(r *router, v store.View) store.Routing {
			ev, _ := v.Event(page.Events[0].Seq)
			return r.event(ev, v, true).Routing
		})
		if err != nil {
			t.Fatal(err)
		}
		h.run(time.Hour)
		if list := h.list(); len(list) != 1 || list[0].Status != core.Completed {
			t.Errorf("routed again after the end: %t; %d instances: an event was consumed twice", over, len(list))
		}
	}
}

func TestEventWithoutKeyStartsAlways(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(starter("w", time.Hour))
	h.send(`reading e1`)
	if sent := h.send(`reading e2`); len(sent.Started) != 1 {
		t.Errorf("%+v", sent)
	}
}

// TestNoSelfStart: a definition's own events do not start it again and again.
func TestNoSelfStart(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	e := b.event("go")
	b.p.Start.Events = []ir.EventID{e}
	h.deploy(b.main(await("Go", 0, e), b.emit("go", "")))
	h.send(`go e1`)
	h.poll()
	if got := len(h.list()); got != 1 {
		t.Errorf("%d instances", got)
	}
}

// both is a definition that needs two events to start.
func both(window time.Duration) *ir.Program {
	b := build("both")
	x, y := b.event("x", "key"), b.event("y", "key")
	b.p.Start = ir.Start{Events: []ir.EventID{x, y}, All: true}
	if window > 0 {
		b.p.Start.Window = span(window)
	}
	return b.main(await("Both", 0, x, y))
}

func TestAllOfStart(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(both(0))
	if sent := h.send(`y e1 key=1 {"y":1}`); len(sent.Started) != 0 || !says(sent.Why, "once its other events are there") {
		t.Errorf("half of it: %+v", sent)
	}
	if sent := h.send(`x e2 key=2 {"x":2}`); len(sent.Started) != 0 {
		t.Errorf("another key: %+v", sent)
	}
	if sent := h.send(`y e3 key=1 {"y":3}`); len(sent.Started) != 0 {
		t.Errorf("the same half again: %+v", sent)
	}
	sent := h.send(`x e4 key=1 {"x":1}`)
	if len(sent.Started) != 1 {
		t.Fatalf("the other half: %+v", sent)
	}
	h.poll()
	h.want(sent.Started[0], core.Completed, `{"x":1,"y":1}`)
	next := h.send(`x e5 key=1 {"x":5}`)
	if len(next.Started) != 1 {
		t.Fatalf("with the second half of the same key: %+v", next)
	}
	h.poll()
	h.want(next.Started[0], core.Completed, `{"x":5,"y":3}`)
	h.run(48 * time.Hour)
	if got := len(h.list()); got != 2 {
		t.Errorf("%d instances", got)
	}
}

func TestAllOfStartWindow(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(both(time.Hour))
	h.send(`x e1 key=1`)
	h.run(59 * time.Minute)
	if sent := h.send(`y e2 key=1`); len(sent.Started) != 1 {
		t.Errorf("in time: %+v", sent)
	}
	h.send(`x e3 key=2`)
	h.run(time.Hour)
	if sent := h.send(`y e4 key=2`); len(sent.Started) != 0 {
		t.Errorf("too late: %+v", sent)
	}
	kept, _ := h.Kept(context.Background())
	i := slices.IndexFunc(kept, func(e store.Event) bool { return e.Event.ID == "e3" })
	if i < 0 || kept[i].Taken || !says(kept[i].Why, "did not come in time") {
		t.Errorf("the first half is not unmatched again: %+v", kept)
	}
	h.run(30 * time.Minute)
	if sent := h.send(`x e5 key=2`); len(sent.Started) != 1 {
		t.Errorf("the late half begins a gathering of its own: %+v", sent)
	}
}

// TestAllOfStartExpiresFirst: a gathering expires that has an event which must be routed again, because the instance
// that it was kept for is over. It is routed again nevertheless.
func TestAllOfStartExpiresFirst(t *testing.T) {
	h := newHarness(t, nil)
	b := build("both")
	x, y := b.event("reading", "patientId"), b.event("y", "patientId")
	b.p.Start = ir.Start{Events: []ir.EventID{x, y}, All: true, Window: span(time.Hour)}
	h.deploy(starter("w", 48*time.Hour), b.main(await("Both", 0, x, y)))
	first := h.send(`reading e1 patientId=1`)
	h.send(`reading e2 patientId=1`)
	h.poll()
	h.clock.Advance(t0.Add(time.Hour))
	if err := h.Control(t.Context(), first.Started[0], core.Control{Verb: core.VerbTerminate}); err != nil {
		t.Fatal(err)
	}
	h.poll()
	if list := h.list(); len(list) != 2 || list[1].Definition != "w" || list[1].Status.Final() {
		t.Errorf("the second event started nothing: %+v", list)
	}
	h.run(30 * time.Hour)
	if n := len(h.list()); n != 2 {
		t.Errorf("%d instances a day later", n)
	}
}

// TestAllOfStartAtTheDeadline: at the end of the window it is over, polled or not.
func TestAllOfStartAtTheDeadline(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(both(time.Hour))
	h.send(`x e1 key=1`)
	h.clock.Advance(t0.Add(time.Hour))
	if sent := h.send(`y e2 key=1`); len(sent.Started) != 0 {
		t.Errorf("%+v", sent)
	}
	if sent := h.send(`x e3 key=1`); len(sent.Started) != 1 {
		t.Errorf("the late one begins a gathering of its own: %+v", sent)
	}
}

// TestAllOfStartLongWindow: its events are kept as long as it needs them.
func TestAllOfStartLongWindow(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(both(48 * time.Hour))
	h.send(`x e1 key=1 {"x":1}`)
	h.run(30 * time.Hour)
	h.poll()
	sent := h.send(`y e2 key=1 {"y":1}`)
	if len(sent.Started) != 1 {
		t.Fatalf("%+v", sent)
	}
	h.poll()
	h.want(sent.Started[0], core.Completed, `{"x":1,"y":1}`)
}
