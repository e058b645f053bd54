package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestPlainIDsOfCauses: instances that a schedule, an operator or events started have ids that are short and plain.
func TestPlainIDsOfCauses(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(hourly(time.Minute))
	one := build("one")
	one.p.Start.Events = []ir.EventID{one.event("go")}
	both := build("both")
	both.p.Start.All, both.p.Start.Events = true, []ir.EventID{both.event("left"), both.event("right")}
	h.deploy(one.main(), both.main())
	h.run(90 * time.Minute)
	if _, err := h.Trigger(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	from := core.TimeOf(t0.Add(-90 * time.Minute))
	if _, err := h.Backfill(t.Context(), "w", from, core.TimeOf(t0), false); err != nil {
		t.Fatal(err)
	}
	for _, e := range []string{"go e1", "left e2", "right e3"} {
		h.send(e)
	}
	started := map[string]int{}
	for _, in := range h.list() {
		started[in.Definition]++
		if len(in.ID) != plainID || !validID(in.ID) {
			t.Errorf("an instance of %s has the id %q", in.Definition, in.ID)
		}
	}
	if started["w"] != 3 || started["one"] != 1 || started["both"] != 1 {
		t.Errorf("started: %v", started)
	}
	s, err := h.Schedule(t.Context(), "w", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Fires {
		if _, err := h.Get(t.Context(), f.Instance); err != nil {
			t.Errorf("the instance of %s (%s): %v", f.At, f.Outcome, err)
		}
	}
}

// lastFired is the instance that the last fire time started.
func (h *harness) lastFired() string {
	h.t.Helper()
	s, err := h.Schedule(h.t.Context(), "w", 1)
	if err != nil || len(s.Fires) == 0 {
		h.t.Fatalf("%+v %v", s, err)
	}
	return s.Fires[0].Instance
}

// TestFireTimeWhoseIDWasChosen: a caller gave an instance of theirs the id that a fire time would have. The schedule
// fires nevertheless, once, also when that instance is deleted.
func TestFireTimeWhoseIDWasChosen(t *testing.T) {
	for name, p := range map[string]*ir.Program{
		"cron":  scheduled("w", ir.Schedule{Cron: "0 * * * *", DirectInvoke: true}, delay(90*time.Minute)),
		"after": scheduled("w", ir.Schedule{After: span(time.Hour), DirectInvoke: true}, delay(time.Minute)),
	} {
		overlaps := []Overlap{OverlapAllow, OverlapSkip, OverlapQueue}
		if name == "after" {
			overlaps = overlaps[:1]
		}
		for _, overlap := range overlaps {
			h := newHarness(t, nil)
			h.deploy(p)
			h.rules(ScheduleRules{Overlap: overlap})
			_, row, err := h.scheduleOf(t.Context(), "w")
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := h.Start(t.Context(), StartRequest{Definition: "w", ID: plain(scheduledID("w", row.Next))})
			if err != nil {
				t.Fatal(err)
			}
			h.run(row.Next.Std().Sub(t0))
			list := h.list()
			if len(list) != 2 || list[0].ID != theirs || list[1].ID == theirs {
				t.Fatalf("%s, %s: %+v", name, overlap, list)
			}
			if name == "cron" {
				h.expect("the instance of the fire time", h.lastFired(), list[1].ID)
			}
			h.run(100 * time.Minute)
			if err := h.DeleteInstance(t.Context(), theirs, 0); err != nil {
				t.Fatal(err)
			}
			d, _, err := h.scheduleOf(t.Context(), "w")
			if err != nil {
				t.Fatal(err)
			}
			if id, err := h.scheduledStart(t.Context(), d, 0, row.Next); err != nil || id != list[1].ID {
				t.Errorf("%s, %s: it is started again as %s, not %s: %v", name, overlap, id, list[1].ID, err)
			}
		}
	}
}

// TestFireTimeOfVersionBefore: what a version before this one started at a fire time, under an id of another form, is
// not started again, and counts for the overlap.
func TestFireTimeOfVersionBefore(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(hourly(90 * time.Minute))
	h.rules(ScheduleRules{Overlap: OverlapSkip})
	d, row, err := h.scheduleOf(t.Context(), "w")
	if err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(row.Next.Std())
	before := scheduledID("w", row.Next)
	if _, err := h.startAs(t.Context(), d, 0, before); err != nil {
		t.Fatal(err)
	}
	h = h.again()
	h.run(time.Minute)
	h.expect("began", h.began(), "60")
	h.expect("the instance of the fire time", h.lastFired(), before)

	// The fire times that it noted do not name their instances.
	_, row, err = h.scheduleOf(t.Context(), "w")
	if err != nil || !strings.Contains(row.Fires, before) {
		t.Fatalf("%q %v", row.Fires, err)
	}
	if err := h.store.Advance(t.Context(), row, &row.Next, strings.Replace(row.Fires, `,"i":"`+before+`"`, "", 1)); err != nil {
		t.Fatal(err)
	}
	h.expect("the instance that is not named", h.lastFired(), before)
	h.run(130 * time.Minute) // 3:11
	h.expect("began", h.began(), "60 180")
	h.expect("fires", h.fires(), "60 started completed, 120 skipped, 180 started")
}
