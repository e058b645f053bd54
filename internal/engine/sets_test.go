package engine

import (
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// sets starts with x and y within an hour, or with x and z, or with w alone; x stands twice.
func sets(keys ...string) *ir.Program {
	b := build("sets")
	x1, y, x2, z, w := b.event("x", keys...), b.event("y", keys...), b.event("x", keys...), b.event("z", keys...), b.event("w", keys...)
	b.p.Start = ir.Start{
		Events: []ir.EventID{x1, y, x2, z, w},
		Any:    []ir.Need{{Slots: []int{0, 1}, Window: span(time.Hour)}, {Slots: []int{2, 3}}, {Slots: []int{4}}},
	}
	// Whoever starts it finds just its own events: an arm whose event is not there waits.
	any := await("Any", 0, x1, x2, w)
	any.op.(*ir.Await).Need = 1
	return b.main(any)
}

func TestSetsOfStart(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(sets())
	if sent := h.send(`x e1 {"x":1}`); len(sent.Started) != 0 || !says(sent.Why, "once its other events are there") {
		t.Errorf("half of two sets: %+v", sent)
	}
	alone := h.send(`w e2 {"w":2}`)
	if len(alone.Started) != 1 {
		t.Fatalf("a set of one: %+v", alone)
	}
	h.poll()
	h.want(alone.Started[0], core.Completed, `{"w":2}`)
	// e1 was not part of it and is gathered still.
	second := h.send(`z e3 {"z":3}`)
	if len(second.Started) != 1 {
		t.Fatalf("the second set: %+v", second)
	}
	h.poll()
	h.want(second.Started[0], core.Completed, `{"x":1}`)
	if sent := h.send(`y e4 {"y":4}`); len(sent.Started) != 0 {
		t.Errorf("the x is used: %+v", sent)
	}
	if sent := h.send(`x e5 {"x":5}`); len(sent.Started) != 1 {
		t.Errorf("the first set: %+v", sent)
	}
	h.run(48 * time.Hour)
	if got := len(h.list()); got != 3 {
		t.Errorf("%d instances", got)
	}
}

// Each set has its own time.
func TestSetsOfStartWindows(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(sets())
	h.send(`x e1`)
	h.run(2 * time.Hour)
	if sent := h.send(`y e2`); len(sent.Started) != 0 {
		t.Errorf("too late for the first set: %+v", sent)
	}
	if sent := h.send(`z e3`); len(sent.Started) != 1 {
		t.Errorf("in time for the second: %+v", sent)
	}
}

// Events of different keys are of different starts.
func TestSetsOfStartKeys(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(sets("key"))
	h.send(`x e1 key=1 {"x":1}`)
	if sent := h.send(`z e2 key=2`); len(sent.Started) != 0 {
		t.Errorf("another key: %+v", sent)
	}
	sent := h.send(`z e3 key=1`)
	if len(sent.Started) != 1 {
		t.Fatalf("the same key: %+v", sent)
	}
	h.poll()
	h.want(sent.Started[0], core.Completed, `{"x":1}`)
}

// tokens waits for a, then for b; both have their key in the data, at different places.
func tokens() *ir.Program {
	b := build("tokens")
	x, y := b.event("a"), b.event("b")
	b.p.Events[x].Correlate = []ir.Correlation{{Attribute: "the token", From: "$.data.order.id"}}
	b.p.Events[y].Correlate = []ir.Correlation{{Attribute: "the token", From: "order"}}
	b.p.Start = ir.Start{Events: []ir.EventID{x}}
	return b.main(await("A", 0, x), await("B", 0, y))
}

// TestKeysAtDifferentPlaces: events belong together by a value that each has elsewhere.
func TestKeysAtDifferentPlaces(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(tokens())
	first := h.send(`a e1 {"order":{"id":1}}`)
	second := h.send(`a e2 {"order":{"id":2}}`)
	if len(first.Started) != 1 || len(second.Started) != 1 {
		t.Fatalf("%+v %+v", first, second)
	}
	h.poll()
	if sent := h.send(`a e3 {"order":{"id":1},"again":true}`); len(sent.Started) != 0 || !says(sent.Why, "it belongs to instance") {
		t.Errorf("a start event of a running instance: %+v", sent)
	}
	if sent := h.send(`b e4 {"order":3}`); len(sent.Matched) != 0 || !says(sent.Why, `order is "3", not "1"`) {
		t.Errorf("a stranger: %+v", sent)
	}
	if sent := h.send(`b e5 {}`); len(sent.Matched) != 0 || !says(sent.Why, `it has nothing at order`) {
		t.Errorf("without the key: %+v", sent)
	}
	if sent := h.send(`b e6 {"order":"2","b":6}`); len(sent.Matched) != 1 || sent.Matched[0] != second.Started[0] {
		t.Errorf("the second: %+v", sent)
	}
	// An attribute comes before the data.
	if sent := h.send(`b e7 order=1 {"order":"2","b":7}`); len(sent.Matched) != 1 || sent.Matched[0] != first.Started[0] {
		t.Errorf("the first: %+v", sent)
	}
	h.poll()
	h.want(second.Started[0], core.Completed, `{"b":6,"order":"2"}`)
	h.want(first.Started[0], core.Completed, `{"b":7,"order":"2"}`)
}

// TestEitherTypeOrID: one text is the type or the id, of starts and of waits.
func TestEitherTypeOrID(t *testing.T) {
	b := build("either")
	x, y := b.event("x"), b.event("y")
	for _, id := range []ir.EventID{x, y} {
		b.p.Events[id].Either, b.p.Events[id].Type = b.p.Events[id].Type, ""
	}
	b.p.Start = ir.Start{Events: []ir.EventID{x}}
	h := newHarness(t, nil)
	h.deploy(b.main(await("X", 0, x), await("Y", 0, y)))
	byType := h.send(`x e1`)
	byID, err := h.Send(t.Context(), event.Event{ID: "x", Type: "other", Source: "src"})
	if err != nil || len(byType.Started) != 1 || len(byID.Started) != 1 {
		t.Fatalf("%+v %+v %v", byType, byID, err)
	}
	h.poll()
	if sent := h.send(`z e2`); len(sent.Matched) != 0 {
		t.Errorf("neither: %+v", sent)
	}
	if sent, err := h.Send(t.Context(), event.Event{ID: "y", Type: "other", Source: "src"}); err != nil || len(sent.Matched) != 2 {
		t.Errorf("by its id: %+v %v", sent, err)
	}
}
