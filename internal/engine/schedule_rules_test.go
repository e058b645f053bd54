package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// hourly is a schedule that fires each hour; instances take so long.
func hourly(took time.Duration) *ir.Program {
	return scheduled("w", ir.Schedule{Cron: "0 * * * *"}, delay(took))
}

func (h *harness) rules(r ScheduleRules) {
	h.t.Helper()
	if err := h.SetSchedule(h.t.Context(), "w", func(to *ScheduleRules) { *to = r }); err != nil {
		h.t.Fatal(err)
	}
}

// began lists when instances began after t0, in minutes.
func (h *harness) began() string {
	var out []string
	for _, in := range h.list() {
		out = append(out, fmt.Sprint(int(in.Created.Std().Sub(t0).Minutes())))
	}
	return strings.Join(out, " ")
}

// fires lists what became of the fire times, oldest first.
func (h *harness) fires() string {
	h.t.Helper()
	s, err := h.Schedule(h.t.Context(), "w", 3)
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, f := range s.Fires {
		text := fmt.Sprintf("%d %s", int(f.At.Std().Sub(t0).Minutes()), f.Outcome)
		if f.Until != 0 {
			text += fmt.Sprintf(" until %d", int(f.Until.Std().Sub(t0).Minutes()))
		}
		if f.Status != "" {
			text += " " + string(f.Status)
		}
		out = append([]string{text}, out...)
	}
	return strings.Join(out, ", ")
}

func (h *harness) expect(what, got, want string) {
	h.t.Helper()
	if got != want {
		h.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// TestOverlap: instances of an hourly schedule take 90 minutes. In between the process is restarted.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		overlap      Overlap
		began, fires string
	}{
		{OverlapAllow, "60 120 180 240 300", "60 started completed, 120 started completed, 180 started completed, 240 started, 300 started"},
		{OverlapSkip, "60 180 300", "60 started completed, 120 skipped, 180 started completed, 240 skipped, 300 started"},
		// The fire time of 2:00 begins at 2:30 and ends at 4:00, that of 3:00 then begins, and that of 4:00 waits.
		{OverlapQueue, "60 150 240", "60 started completed, 120 started completed, 180 started, 240 queued"},
	} {
		t.Run(string(c.overlap), func(t *testing.T) {
			h := newHarness(t, nil)
			h.deploy(hourly(90 * time.Minute))
			h.rules(ScheduleRules{Overlap: c.overlap})
			h.run(130 * time.Minute)
			h = h.again()
			h.run(185 * time.Minute) // 5:15
			h.expect("began", h.began(), c.began)
			h.expect("fires", h.fires(), c.fires)
		})
	}
}

// TestRulesOfTheDefinition: a schedule fires as its definition says, unless an operator says something else; and again once
// they take that back.
func TestRulesOfTheDefinition(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(scheduled("w", ir.Schedule{Cron: "0 * * * *", Rules: ir.ScheduleRules{Overlap: "skip", CatchUp: "all", Window: "PT6H"}}, delay(90*time.Minute)))
	rules := func() string {
		h.t.Helper()
		s, err := h.Schedule(t.Context(), "w", 0)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(s.Overlap, " ", s.Missed, " ", s.Window, " ", s.Rules)
	}
	h.expect("of the definition", rules(), "skip all 6h0m0s {  }")
	h.run(5*time.Hour + time.Minute)
	h.expect("began", h.began(), "60 180 300")
	h.rules(ScheduleRules{Overlap: OverlapAllow, Window: "PT1H"})
	h.expect("of an operator", rules(), "allow all 1h0m0s {allow  PT1H}")
	h.rules(ScheduleRules{})
	h.expect("of the definition again", rules(), "skip all 6h0m0s {  }")
}

// TestSkipWhileOneRunsLong: an instance that outlasts every fire time that is kept still counts as running.
func TestSkipWhileOneRunsLong(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(hourly(30 * time.Hour))
	h.rules(ScheduleRules{Overlap: OverlapSkip})
	h.run(28 * time.Hour)
	h.expect("began", h.began(), "60")
}

// TestTriggersWhileOneRuns: the instance of a fire time counts as running however many are triggered meanwhile, and so
// does a fire time that waits for it.
func TestTriggersWhileOneRuns(t *testing.T) {
	for _, c := range []struct {
		overlap Overlap
		ended   bool // each before the next is triggered
		fires   string
	}{
		{OverlapSkip, true, "60 started"},
		{OverlapSkip, false, "60 started"},
		{OverlapQueue, true, "60 started, 120 queued"},
		{OverlapQueue, false, "60 started, 120 queued"},
	} {
		h := newHarness(t, nil)
		h.deploy(hourly(10 * time.Hour))
		h.rules(ScheduleRules{Overlap: c.overlap})
		h.run(130 * time.Minute)
		var ids []string
		end := func() {
			for _, id := range ids {
				if err := h.Control(t.Context(), id, core.Control{Verb: core.VerbTerminate}); err != nil {
					t.Fatal(err)
				}
			}
			ids = nil
		}
		for range keptFires + 5 {
			id, err := h.Trigger(t.Context(), "w")
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
			if c.ended {
				end()
			}
			h.run(time.Second)
		}
		end()
		h.run(3 * time.Hour)
		began := slices.DeleteFunc(strings.Fields(h.began()), func(at string) bool { return at == "130" })
		h.expect("began", strings.Join(began, " "), "60")
		fires := slices.DeleteFunc(strings.Split(h.fires(), ", "), func(f string) bool {
			return strings.Contains(f, "triggered") || strings.Contains(f, "skipped")
		})
		h.expect("fires", strings.Join(fires, ", "), c.fires)
	}
}

// TestQueuedBeforePause: a fire time that waits when the schedule, or its definition, is paused still waits when that is
// resumed.
func TestQueuedBeforePause(t *testing.T) {
	for _, c := range []struct {
		definition   bool
		resumed      int // minutes
		began, fires string
	}{
		// The fire time of 2:00 waits for an instance that ends at 2:40, and starts one that ends 100 minutes later.
		{false, 150, "60 160", "60 started completed, 120 started, 180 queued"},
		{false, 310, "60 310", "60 started completed, 120 started, 180 paused until 310"},
		{true, 310, "60 310", "60 started completed, 120 started, 180 paused until 310"},
	} {
		h := newHarness(t, nil)
		h.deploy(hourly(100 * time.Minute))
		h.rules(ScheduleRules{Overlap: OverlapQueue})
		h.run(130 * time.Minute)
		pause := h.PauseSchedule
		if c.definition {
			pause = h.PauseDefinition
		}
		if err := pause(t.Context(), "w", "", ""); err != nil {
			t.Fatal(err)
		}
		h = h.again()
		resume := h.ResumeSchedule
		if c.definition {
			resume = h.ResumeDefinition
		}
		h.run(t0.Add(time.Duration(c.resumed) * time.Minute).Sub(h.clock.Now()))
		h.expect("while paused", h.began(), "60")
		if err := resume(t.Context(), "w"); err != nil {
			t.Fatal(err)
		}
		s, err := h.Schedule(t.Context(), "w", 2)
		if err != nil || len(s.Next) != 2 || s.Next[0] != core.TimeOf(t0.Add(2*time.Hour)) || s.Next[1] < core.TimeOf(h.clock.Now()) {
			t.Errorf("next %v %v", s.Next, err)
		}
		h.run(45 * time.Minute)
		h.expect("began", h.began(), c.began)
		h.expect("fires", h.fires(), c.fires)
	}
}

// TestStartedBeforeOutage: a node ends after it started an instance, and before the schedule moved on. It is neither
// missed nor forgotten when the next one starts long after, or after a pause.
func TestStartedBeforeOutage(t *testing.T) {
	for _, paused := range []bool{false, true} {
		h := newHarness(t, nil)
		h.deploy(hourly(100 * time.Minute))
		h.rules(ScheduleRules{Overlap: OverlapSkip})
		d, row, err := h.scheduleOf(t.Context(), "w")
		if err != nil {
			t.Fatal(err)
		}
		h.clock.Advance(t0.Add(time.Hour))
		if _, err := h.scheduledStart(t.Context(), d, 0, row.Next); err != nil {
			t.Fatal(err)
		}
		if paused {
			if err := h.PauseSchedule(t.Context(), "w", "", ""); err != nil {
				t.Fatal(err)
			}
		}
		h.clock.Advance(t0.Add(130 * time.Minute))
		if paused {
			if err := h.ResumeSchedule(t.Context(), "w"); err != nil {
				t.Fatal(err)
			}
		}
		h = h.again()
		h.run(55 * time.Minute) // 3:05
		h.expect("began", h.began(), "60 180")
		what := "skipped"
		if paused {
			what = "paused until 130"
		}
		h.expect("fires", h.fires(), "60 started completed, 120 "+what+", 180 started")
	}
}

// TestQueueOne: at most one fire time waits; the others of that time are left out.
func TestQueueOne(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(hourly(200 * time.Minute))
	h.rules(ScheduleRules{Overlap: OverlapQueue})
	h.run(230 * time.Minute)
	h = h.again()
	h.run(50 * time.Minute) // the first instance ends at 4:20
	h.expect("began", h.began(), "60 260")
	h.expect("fires", h.fires(), "60 started completed, 120 started, 180 skipped until 260")
	if at, ok := h.Next(); !ok || !at.Equal(t0.Add(300*time.Minute)) && !at.Equal(t0.Add(280*time.Minute)) {
		t.Errorf("next is %v %t", at, ok)
	}
}

// TestPausedSchedule: the pause outlives restarts and new versions; its fire times are left out.
func TestPausedSchedule(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(hourly(time.Minute))
	h.run(70 * time.Minute)
	for range 2 {
		if err := h.PauseSchedule(t.Context(), "w", "ada", "month end"); err != nil {
			t.Fatal(err)
		}
	}
	h.run(2 * time.Hour)
	h = h.again()
	next := hourly(time.Minute)
	next.Version = "2"
	h.deploy(next)
	h.run(2 * time.Hour) // 5:10
	h.expect("began", h.began(), "60")
	s, err := h.Schedule(t.Context(), "w", 3)
	if err != nil || s.Paused == nil || s.Paused.By != "ada" || s.Paused.Reason != "month end" || len(s.Next) != 0 || s.Version != "2" {
		t.Errorf("schedule %+v %v", s, err)
	}
	if at, ok := h.Next(); ok {
		t.Errorf("there is something to do at %v", at)
	}
	if err := h.ResumeSchedule(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if s, _ = h.Schedule(t.Context(), "w", 2); fmt.Sprint(s.Next) != "[2026-03-01T06:00:00Z 2026-03-01T07:00:00Z]" {
		t.Errorf("next %v", s.Next)
	}
	h.run(time.Hour)
	h.expect("began", h.began(), "60 360")
	h.expect("fires", h.fires(), "60 started completed, 240 paused until 310, 360 started completed")
}

// TestPausedChain: a schedule with after goes on where it was.
func TestPausedChain(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(scheduled("w", ir.Schedule{After: span(time.Hour)}, delay(10*time.Minute)))
	h.run(5 * time.Minute)
	if err := h.PauseSchedule(t.Context(), "w", "", ""); err != nil {
		t.Fatal(err)
	}
	h.run(5 * time.Hour)
	h.expect("began", h.began(), "0")
	if err := h.ResumeSchedule(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	h.run(90 * time.Minute)
	h.expect("began", h.began(), "0 305 375")
	h.expect("fires", h.fires(), "0 started completed, 70 started completed, 375 started completed")
}

// TestCatchUpWindow: what is longer ago is not made up for.
func TestCatchUpWindow(t *testing.T) {
	for _, c := range []struct {
		rules ScheduleRules
		n     int
		fires string
	}{
		{ScheduleRules{}, 1, "60 missed until 600, 600 started"},
		{ScheduleRules{Missed: MissedAll}, 10, "60 started, 120 started, 180 started, 240 started, 300 started, 360 started, 420 started, 480 started, 540 started, 600 started"},
		{ScheduleRules{Missed: MissedAll, Window: "PT3H"}, 3, "60 missed until 480, 480 started, 540 started, 600 started"},
		{ScheduleRules{Missed: MissedLatest, Window: "PT20M"}, 0, "60 missed until 630"},
		{ScheduleRules{Missed: MissedNone}, 0, "60 missed until 630"},
	} {
		h := newHarness(t, nil)
		h.deploy(hourly(time.Hour))
		h.rules(c.rules)
		h.clock.Advance(t0.Add(10*time.Hour + 30*time.Minute))
		h.poll()
		if n := len(h.list()); n != c.n {
			t.Errorf("%+v: %d instances, want %d", c.rules, n, c.n)
		}
		h.expect(fmt.Sprintf("%+v", c.rules), h.fires(), c.fires)
	}
}

func TestBadRules(t *testing.T) {
	h := newHarness(t, nil)
	b := build("events")
	e := b.event("go")
	b.p.Start = ir.Start{Events: []ir.EventID{e}, Schedule: &ir.Schedule{Cron: "0 * * * *"}}
	h.deploy(hourly(0), b.main(await("Go", 0, e)), build("plain").main(), scheduled("chain", ir.Schedule{After: span(time.Hour)}))
	for _, c := range []struct {
		id    string
		rules ScheduleRules
		want  string
	}{
		{"w", ScheduleRules{Overlap: "sometimes"}, "overlap"},
		{"w", ScheduleRules{Missed: "some"}, "catchUp"},
		{"w", ScheduleRules{Window: "3h"}, "catchUpWindow"},
		{"w", ScheduleRules{Window: "PT0S"}, "catchUpWindow"},
		{"w", ScheduleRules{Window: "P2Y"}, "catchUpWindow"},
		{"events", ScheduleRules{Overlap: OverlapSkip}, "overlap"},
		{"chain", ScheduleRules{Overlap: OverlapQueue}, "overlap"},
	} {
		var bad *InvalidError
		if err := h.SetSchedule(t.Context(), c.id, func(r *ScheduleRules) { *r = c.rules }); !errors.As(err, &bad) || bad.Field != c.want {
			t.Errorf("%s %+v: %v", c.id, c.rules, err)
		}
	}
	var none *NoScheduleError
	if err := h.PauseSchedule(t.Context(), "plain", "", ""); !errors.As(err, &none) {
		t.Errorf("no schedule: %v", err)
	}
	if list, err := h.Schedules(t.Context(), "chain", 10); err != nil || len(list) != 2 || list[0].Definition != "events" {
		t.Errorf("%d schedules, %v", len(list), err)
	}
}

// TestTrigger: an operator starts one now, whatever the schedule says.
func TestTrigger(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(hourly(time.Minute))
	h.rules(ScheduleRules{Overlap: OverlapSkip})
	if err := h.PauseSchedule(t.Context(), "w", "", ""); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for range 3 {
		id, err := h.Trigger(t.Context(), "w")
		if err != nil || id == "" || ids[id] {
			t.Fatalf("%q: %v", id, err)
		}
		ids[id] = true
	}
	h.run(10 * time.Minute)
	h.expect("fires", h.fires(), "0 triggered completed, 0 triggered completed, 0 triggered completed")
	h.pause("w")
	var paused *PausedError
	if _, err := h.Trigger(t.Context(), "w"); !errors.As(err, &paused) {
		t.Errorf("of a paused definition: %v", err)
	}
}

// TestBackfill starts the fire times of a range, and none twice.
func TestBackfill(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(hourly(time.Minute))
	h.run(150 * time.Minute) // 1:00 and 2:00 ran
	from, to := core.TimeOf(t0.Add(-3*time.Hour)), core.TimeOf(t0.Add(2*time.Hour))
	for i, want := range []string{"4 new, 1 existing", "4 new, 1 existing", "0 new, 5 existing"} {
		list, err := h.Backfill(t.Context(), "w", from, to, i == 0)
		if err != nil {
			t.Fatal(err)
		}
		fresh := 0
		for _, x := range list {
			if !x.Existing {
				fresh++
			}
		}
		h.expect("backfill", fmt.Sprintf("%d new, %d existing", fresh, len(list)-fresh), want)
	}
	h.run(time.Hour) // 3:00
	if n := len(h.list()); n != 7 {
		t.Errorf("%d instances", n)
	}
	now := core.TimeOf(h.clock.Now())
	for what, r := range map[string][2]core.Time{
		"the future": {now, now + 1}, "an empty range": {from, from}, "too many": {core.TimeOf(t0.Add(-MaxBackfill * time.Hour)), now},
	} {
		var bad *InvalidError
		if _, err := h.Backfill(t.Context(), "w", r[0], r[1], false); !errors.As(err, &bad) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestDueSchedules: what operators keep from firing is not due in a store that no engine runs with.
func TestDueSchedules(t *testing.T) {
	h := newHarness(t, nil)
	for _, id := range []string{"fires", "paused", "stopped", "retired", "again"} {
		h.deploy(scheduled(id, ir.Schedule{Cron: "0 * * * *"}))
	}
	h.pause("stopped")
	for _, err := range []error{
		h.PauseSchedule(t.Context(), "paused", "", ""), h.RetireDefinition(t.Context(), "retired", "", ""), h.RetireDefinition(t.Context(), "again", "", ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	h.clock.Advance(t0.Add(time.Second))
	next := scheduled("again", ir.Schedule{Cron: "0 * * * *"})
	next.Version = "2"
	h.deploy(next)
	due, err := DueSchedules(t.Context(), h.store, core.TimeOf(t0.Add(2*time.Hour)))
	if err != nil || len(due) != 2 || due[0].Definition != "again" || due[1].Definition != "fires" {
		t.Errorf("due: %v %v", due, err)
	}
}

// TestScheduleOfADeletedDefinition: what operators decided goes with the last version. One that is deployed later fires.
func TestScheduleOfADeletedDefinition(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(hourly(time.Minute))
	h.rules(ScheduleRules{Overlap: OverlapSkip})
	if err := h.PauseSchedule(t.Context(), "w", "ada", ""); err != nil {
		t.Fatal(err)
	}
	if err := h.DeleteDefinition(t.Context(), "w", ""); err != nil {
		t.Fatal(err)
	}
	var missing *NotFoundError
	for what, err := range map[string]error{"resume": h.ResumeSchedule(t.Context(), "w"), "pause": h.PauseSchedule(t.Context(), "w", "", "")} {
		if !errors.As(err, &missing) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := h.Trigger(t.Context(), "w"); !errors.As(err, &missing) {
		t.Errorf("trigger: %v", err)
	}
	h.run(90 * time.Minute)
	h.expect("began", h.began(), "")
	h.deploy(hourly(time.Minute))
	h.run(time.Hour)
	h.expect("began", h.began(), "120")
	if s, err := h.Schedule(t.Context(), "w", 1); err != nil || s.Paused != nil || s.Overlap != OverlapAllow {
		t.Errorf("%+v %v", s, err)
	}
}

// TestBackfillOfAMillion is refused at once, and starts nothing.
func TestBackfillOfAMillion(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(scheduled("w", ir.Schedule{Cron: "* * * * * *"}))
	var bad *InvalidError
	now := core.TimeOf(t0)
	for _, dry := range []bool{true, false} {
		if _, err := h.Backfill(t.Context(), "w", now-core.Time(time.Second*1_000_000), now, dry); !errors.As(err, &bad) || !strings.Contains(bad.Msg, "backfill-fires") {
			t.Errorf("%v", err)
		}
	}
	h.expect("began", h.began(), "")
}
