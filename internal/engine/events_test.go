package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// waiter is a definition that waits for one event after a delay.
func waiter(id string, first time.Duration, name string, keys ...string) *ir.Program {
	b := build(id)
	e := b.event(name, keys...)
	return b.main(delay(first), await("Wait", 0, e))
}

func says(list []string, text string) bool { return strings.Contains(strings.Join(list, "\n"), text) }

func TestCorrelation(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(await("Wait", 0, b.event("paid", "order=42"))))
	id := h.start("w", `{}`)
	if sent := h.send(`paid e1 order=43`); !sent.Kept || !says(sent.Why, `order is "43", not "42"`) {
		t.Errorf("another order: %+v", sent)
	}
	if sent := h.send(`paid e2`); !sent.Kept || !says(sent.Why, `no attribute "order"`) {
		t.Errorf("without an order: %+v", sent)
	}
	if sent := h.send(`shipped e3 order=42`); !sent.Kept || !says(sent.Why, `no instance waits for events of type "shipped"`) {
		t.Errorf("another type: %+v", sent)
	}
	h.poll()
	h.want(id, core.Waiting, "")
	why, err := h.Waiting(context.Background(), id)
	if err != nil || len(why.Open) != 1 || why.Open[0].Event != "paid" || len(why.Subscriptions) != 1 || len(why.NearMisses) != 1 || why.Others != 1 {
		t.Errorf("waiting: %+v %v", why, err)
	}
	sent := h.send(`paid e4 order=42 {"amount":10}`)
	if !slices.Equal(sent.Matched, []string{id}) || sent.Kept || len(sent.Why) > 0 {
		t.Errorf("the right order: %+v", sent)
	}
	h.poll()
	h.want(id, core.Completed, `{"amount":10}`)
	kept, _ := h.Kept(context.Background())
	for _, e := range kept {
		if e.Taken != (e.Event.ID == "e4") || !e.Taken && len(e.Why) == 0 {
			t.Errorf("event %s: taken %t, why %v", e.Event.ID, e.Taken, e.Why)
		}
	}
}

// TestEveryWaitGetsTheEvent, once each.
func TestEveryWaitGetsTheEvent(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	e := b.event("go")
	h.deploy(b.main(await("One", 0, e), await("Two", 0, e)))
	x, y := h.start("w", `{}`), h.start("w", `{}`)
	if sent := h.send(`go e1`); !slices.Equal(sent.Matched, []string{x, y}) {
		t.Errorf("%+v", sent)
	}
	h.poll()
	if got := h.get(x).Active; !slices.Equal(got, []string{"Two"}) {
		t.Errorf("after one event the first is in %v", got)
	}
	if sent := h.send(`go e1`); !sent.Duplicate {
		t.Errorf("the same event again: %+v", sent)
	}
	var conflict *EventConflictError
	if _, err := h.Send(context.Background(), ev(t, `go e1 {"other":1}`)); !errors.As(err, &conflict) {
		t.Errorf("another event under the same id: %v", err)
	}
	h.poll()
	h.want(y, core.Waiting, "")
	h.send(`go e2`)
	h.poll()
	h.want(x, core.Completed, "")
	h.want(y, core.Completed, "")

	// After the window an id may come again.
	h.clock.Advance(t0.Add(25 * time.Hour))
	if sent := h.send(`go e1`); sent.Duplicate {
		t.Error("an id is remembered for ever")
	}
}

// TestTwoArmsOfOneInstance: each subscription gets the event.
func TestTwoArmsOfOneInstance(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(await("Both", 0, b.event("go"), b.event("go"))))
	id := h.start("w", `{}`)
	if sent := h.send(`go e1`); !slices.Equal(sent.Matched, []string{id}) {
		t.Errorf("%+v", sent)
	}
	h.poll()
	h.want(id, core.Completed, "")
}

// TestEarlyEvent: an event that beats its subscription is kept for it, first in, first out.
func TestEarlyEvent(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	e := b.event("go")
	h.deploy(b.main(delay(time.Hour), await("One", 0, e), await("Two", 0, e)))
	h.send(`go before {"n":0}`) // before the instance exists, and without correlation
	id := h.start("w", `{}`)
	if sent := h.send(`go e1 {"n":1,"one":true}`); !sent.Kept {
		t.Errorf("%+v", sent)
	}
	h.send(`go e2 {"n":2}`)
	h.run(2 * time.Hour)
	h.want(id, core.Completed, `{"n":2,"one":true}`)
	if h.elapsed(id) != time.Hour {
		t.Errorf("took %v", h.elapsed(id))
	}
}

func TestEarlyEventByCorrelation(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(waiter("w", time.Second, "go", "key=1"))
	h.send(`go e1 key=1 {"early":true}`)
	x := h.start("w", `{}`)
	h.run(time.Minute)
	h.want(x, core.Completed, `{"early":true}`)
	// It is taken: one that is created later does not get it again.
	y := h.start("w", `{}`)
	h.run(time.Minute)
	h.want(y, core.Waiting, "")
	// One that lives when an event comes gets it, whoever had it before.
	z := h.start("w", `{}`)
	h.send(`go e2 key=1`)
	h.poll()
	h.want(y, core.Completed, "")
	h.want(z, core.Waiting, "")
	h.run(time.Minute)
	h.want(z, core.Completed, "")
}

func TestEarlyEventExpires(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(waiter("w", 25*time.Hour, "go"))
	id := h.start("w", `{}`)
	h.send(`go e1`)
	h.run(26 * time.Hour)
	h.want(id, core.Waiting, "")
	if kept, _ := h.Kept(context.Background()); len(kept) != 0 {
		t.Errorf("%d events are kept after the window", len(kept))
	}
}

// TestOwnEventsAreNotConsumed (semantics.md §Control flow).
func TestOwnEventsAreNotConsumed(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(b.emit("go", ""), await("Wait", 0, b.event("go"))))
	x := h.start("w", `{}`)
	h.poll()
	h.want(x, core.Waiting, "")
	kept, _ := h.Kept(context.Background())
	if len(kept) != 1 || kept[0].Taken || kept[0].Event.ID != x+"/1.1" {
		t.Errorf("kept %+v", kept)
	}
	y := h.start("w", `{}`) // its event is not x's own
	h.poll()
	h.want(x, core.Completed, `{"from":"w"}`)
	h.want(y, core.Waiting, "")
}

func TestProducedEvent(t *testing.T) {
	h := newHarness(t, nil)
	b := build("producer")
	step := b.emit("made", `{"key":7,"flag":true,"subject":"parcel","id":"mine"}`)
	b.p.Events[0].Source = ""
	consumer := build("consumer")
	made := consumer.event("made", "key=7")
	consumer.p.Events[made].Source = "lockstep/default/producer"
	consumer.p.Start.Events = []ir.EventID{made}
	h.deploy(b.main(step), consumer.main(await("Made", 0, made)))
	h.start("producer", `{}`)
	h.poll()
	list := h.list()
	if len(list) != 2 || list[1].Definition != "consumer" {
		t.Fatalf("instances %+v", list)
	}
	h.want(list[1].ID, core.Completed, `{"from":"producer"}`)
	want := `i1 emits {"data":{"from":"producer"},"datacontenttype":"application/json","flag":true,"id":"i1/1.1","key":7,` +
		`"source":"lockstep/default/producer","specversion":"1.0","subject":"parcel","time":"2026-03-01T00:00:00Z","type":"made"}`
	if !slices.Contains(h.log, want) {
		t.Errorf("no %s in\n%s", want, strings.Join(h.log, "\n"))
	}
}

// TestRoutedAgain: an event whose instance ended without it goes to whoever did not
// have it, and to nobody twice.
func TestRoutedAgain(t *testing.T) {
	h := newHarness(t, nil)
	loop := build("loop")
	any := loop.event("reading")
	p := loop.main(await("Any", 0, any))
	p.Nodes[1].Op.(*ir.Await).Arms[0].Next = 1
	once := build("once")
	e := once.event("reading", "patientId")
	once.p.Start.Events = []ir.EventID{e}
	counter := build("counter")
	counter.p.Start.Events = []ir.EventID{counter.event("reading")}
	late := build("late")
	lateBoth := late.event("reading", "patientId")
	other := late.event("other")
	late.p.Start = ir.Start{Events: []ir.EventID{lateBoth, other}, All: true, Window: span(time.Minute)}
	h.deploy(p, once.main(await("First", 0, e), delay(time.Hour)), counter.main(await("First", 0, 0)), late.main(await("Late", 0, lateBoth, other)))
	id := h.start("loop", `{}`)
	h.send(`reading e1 patientId=1`)
	sent := h.send(`reading e2 patientId=1`) // belongs to the one that e1 started
	if len(sent.Started) != 1 || len(sent.Matched) != 0 {
		t.Errorf("%+v", sent)
	}
	h.run(90 * time.Minute)
	consumed := 0
	records, _ := h.History(context.Background(), id)
	for _, r := range records {
		if r.Type == core.RecConsumed {
			consumed++
		}
	}
	if consumed != 2 {
		t.Errorf("the loop consumed %d events, want 2", consumed)
	}
	count := map[string]int{}
	for _, in := range h.list() {
		count[in.Definition]++
	}
	if count["once"] != 2 || count["counter"] != 2 || count["late"] != 0 {
		t.Errorf("instances %v", count)
	}
	if h.send(`other e3`); len(h.list()) != 5 {
		t.Error("an old event is gathered anew")
	}
}

// TestSubscriptionEnds with the event that it waited for.
func TestSubscriptionEnds(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(await("One", 0, b.event("x")), await("Two", 0, b.event("y"))))
	id := h.start("w", `{}`)
	h.send(`x e1`)
	h.poll()
	subs, _ := h.store.Subscriptions(context.Background(), id)
	if len(subs) != 1 || subs[0].Name != "y" {
		t.Errorf("subscriptions %+v", subs)
	}
}

func TestVisible(t *testing.T) {
	r := &router{now: 100}
	any := store.Subscription{InstanceSeq: 10}
	keyed := store.Subscription{InstanceSeq: 10, Filter: event.Filter{Keys: []event.Key{{Name: "k", Value: "1", Fixed: true}}}}
	for _, c := range []struct {
		name       string
		ev         store.Event
		any, keyed bool
	}{
		{"in its lifetime", store.Event{Seq: 11, Until: 101}, true, true},
		{"in its lifetime, another had it", store.Event{Seq: 11, Until: 101, Taken: true}, true, true},
		{"before it was created", store.Event{Seq: 9, Until: 101}, false, true},
		{"before it was created, another had it", store.Event{Seq: 9, Until: 101, Taken: true}, false, false},
		{"not kept any more", store.Event{Seq: 11, Until: 100}, false, false},
	} {
		if got := r.visible(c.ev, any); got != c.any {
			t.Errorf("%s: %t without correlation", c.name, got)
		}
		if got := r.visible(c.ev, keyed); got != c.keyed {
			t.Errorf("%s: %t by correlation", c.name, got)
		}
	}
}

// TestNarrowedWhileOnItsWay: the first event fixes the key; a second one that was
// matched before that goes back and is found by whom it belongs to.
func TestNarrowedWhileOnItsWay(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	h.deploy(b.main(await("Both", 0, b.event("x", "key"), b.event("y", "key"))))
	id := h.start("w", `{}`)
	l, err := h.live.acquire(t.Context(), id, ordinary) // while somebody works on it, events go by the inbox
	if err != nil {
		t.Fatal(err)
	}
	h.send(`x e1 key=1`)
	if sent := h.send(`y e2 key=2`); !slices.Equal(sent.Matched, []string{id}) {
		t.Fatalf("%+v", sent) // the key is not fixed before the next step
	}
	h.live.release(l)
	h.poll()
	h.want(id, core.Waiting, "")
	kept, _ := h.Kept(context.Background())
	if kept[1].Taken {
		t.Error("an event that was refused counts as taken")
	}
	h.send(`y e3 key=1`)
	h.poll()
	h.want(id, core.Completed, "")
}

// TestEventAtTheDeadline: the timer comes first, and the event is not lost.
func TestEventAtTheDeadline(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	e := b.event("go")
	h.deploy(b.main(await("One", time.Minute, e), await("Two", 0, e)))
	id := h.start("w", `{}`)
	h.clock.Advance(t0.Add(time.Minute))
	h.send(`go e1`)
	h.poll()
	h.want(id, core.Completed, "") // by the second wait
	records, _ := h.History(context.Background(), id)
	if !slices.ContainsFunc(records, func(r core.Record) bool { return r.Type == core.RecTimedOut && r.Node == "One" }) {
		t.Error("the first wait did not time out")
	}
}

func TestInvalidEvent(t *testing.T) {
	h := newHarness(t, nil)
	bad := ev(t, `go e1`)
	bad.Source = ""
	if _, err := h.Send(context.Background(), bad); err == nil {
		t.Error("an event without a source is taken")
	}
}
