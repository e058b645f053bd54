package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

func scheduled(id string, s ir.Schedule, steps ...stepOp) *ir.Program {
	b := build(id)
	b.p.Start.Schedule = &s
	return b.main(steps...)
}

func TestInterval(t *testing.T) {
	h := newHarness(t, nil)
	const window = "2026-03-01T01:00:00Z/PT1H"
	h.deploy(
		scheduled("strict", ir.Schedule{Interval: window}),
		scheduled("open", ir.Schedule{Interval: window, DirectInvoke: true}),
		build("parent").main(spawn("strict", true)),
		scheduled("fresh", ir.Schedule{Interval: "PT2H"}),
	)
	ctx := context.Background()
	var refused *ScheduleError
	for _, c := range []struct {
		at       time.Duration
		definite string
		ok       bool
	}{
		{0, "strict", false},
		{0, "open", true},
		{0, "fresh", true}, // counts from deployment
		{time.Hour, "strict", true},
		{2*time.Hour - 1, "strict", true},
		{2 * time.Hour, "strict", false},
		{2 * time.Hour, "fresh", false},
	} {
		h.clock.Advance(t0.Add(c.at))
		_, err := h.Start(ctx, StartRequest{Definition: c.definite})
		if c.ok && err != nil || !c.ok && !errors.As(err, &refused) {
			t.Errorf("%s at %v: %v", c.definite, c.at, err)
		}
	}
	// A sub-flow whose schedule is not active completes at once.
	before := len(h.list())
	id := h.start("parent", `{"a":1}`)
	h.poll()
	h.want(id, core.Completed, `{"a":1}`)
	if got := len(h.list()); got != before+1 {
		t.Errorf("%d instances", got)
	}
	// Deployment again does not begin the window anew.
	h.deploy(scheduled("fresh", ir.Schedule{Interval: "PT2H"}))
	if _, err := h.Start(ctx, StartRequest{Definition: "fresh"}); !errors.As(err, &refused) {
		t.Errorf("after deploying again: %v", err)
	}
}

func TestEventsStartOnlyWhileActive(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	e := b.event("go")
	b.p.Start = ir.Start{Events: []ir.EventID{e}, Schedule: &ir.Schedule{Interval: "2026-03-01T01:00:00Z/PT1H", DirectInvoke: true}}
	h.deploy(b.main(await("Go", 0, e)))
	if sent := h.send(`go e1`); len(sent.Started) != 0 || !says(sent.Why, "schedule is not active") {
		t.Errorf("before: %+v", sent)
	}
	h.clock.Advance(t0.Add(time.Hour))
	if sent := h.send(`go e2`); len(sent.Started) != 1 {
		t.Errorf("inside: %+v", sent)
	}
}

func TestCron(t *testing.T) {
	h := newHarness(t, nil)
	p := scheduled("w", ir.Schedule{Cron: "30 4 * * *", Zone: "Europe/Berlin"})
	h.deploy(p)
	h.startInput("w", `{"by":"cron"}`)
	h.run(36 * time.Hour)
	h.deploy(p) // the same again changes nothing
	h.run(30*24*time.Hour - 36*time.Hour)
	list := h.list()
	if len(list) != 30 {
		t.Fatalf("%d instances in 30 days", len(list))
	}
	zone, _ := time.LoadLocation("Europe/Berlin")
	for _, in := range list {
		if at := in.Created.Std().In(zone); at.Hour() != 4 || at.Minute() != 30 {
			t.Errorf("fired at %v", at)
		}
	}
	h.want(list[0].ID, core.Completed, `{"by":"cron"}`)
	var refused *ScheduleError
	if _, err := h.Start(context.Background(), StartRequest{Definition: "w"}); !errors.As(err, &refused) || refused.Cron == "" {
		t.Errorf("by hand: %v", err)
	}
}

// TestMissedFireTimes counts the instances after three hours, and after a hundred, in
// which nobody looked, of a schedule that fires each hour.
func TestMissedFireTimes(t *testing.T) {
	for policy, want := range map[MissedFires][2]int{
		"":           {1, 2},
		MissedLatest: {1, 2},
		MissedAll:    {3, 3 + 24}, // as long as events are kept
		MissedNone:   {0, 0},
	} {
		t.Run(string(policy), func(t *testing.T) {
			h := newHarness(t, nil, func(c *Config) { c.MissedFires = policy })
			h.deploy(scheduled("w", ir.Schedule{Cron: "0 * * * *"}))
			for i, hours := range []time.Duration{3, 100} {
				h.clock.Advance(t0.Add(hours*time.Hour + time.Minute))
				h.poll()
				if got := len(h.list()); got != want[i] {
					t.Errorf("%d instances after %d hours, want %d", got, hours, want[i])
				}
			}
			if at, ok := h.Next(); !ok || !at.Equal(t0.Add(101*time.Hour)) {
				t.Errorf("next is %v %t", at, ok)
			}
		})
	}
	if _, err := New(Config{Store: memory.New(), MissedFires: "some"}); err == nil {
		t.Error("an unknown policy is accepted")
	}
}

// TestLatestMissedFire is found without walking through all of them.
func TestLatestMissedFire(t *testing.T) {
	for _, c := range []struct{ cron, want string }{
		{"* * * * * *", "2029-03-01T00:00:30Z"},
		{"0 0 12 1 1 ?", "2029-01-01T12:00:00Z"},
		{"0 0 0 29 2 ?", "2028-02-29T00:00:00Z"},
	} {
		cron, err := calendar.ParseCron(c.cron)
		if err != nil {
			t.Fatal(err)
		}
		s := &schedule{cron: cron, zone: time.UTC}
		now := core.TimeOf(time.Date(2029, 3, 1, 0, 0, 30, 500, time.UTC))
		if got := s.latest(*s.next(core.TimeOf(t0)), now); got.String() != c.want {
			t.Errorf("%s: %v, want %s", c.cron, got, c.want)
		}
	}
}

// TestCronWithEvents: the server sends the start events itself.
func TestCronWithEvents(t *testing.T) {
	h := newHarness(t, nil)
	b := build("w")
	x, y := b.event("x", "room=7"), b.event("y")
	b.p.Events[y].Source, b.p.Events[y].Type = "", ""
	b.p.Start = ir.Start{Events: []ir.EventID{x, y}, All: true, Schedule: &ir.Schedule{Cron: "0 0 * * * ?"}}
	h.deploy(b.main(await("Both", 0, x, y)))
	h.run(150 * time.Minute)
	list := h.list()
	if len(list) != 2 {
		t.Fatalf("%d instances", len(list))
	}
	for i, in := range list {
		h.want(in.ID, core.Completed, `{}`)
		if in.Created != core.TimeOf(t0.Add(time.Duration(i+1)*time.Hour)) {
			t.Errorf("created at %v", in.Created)
		}
	}
}

func TestNewVersionTakesOverTheSchedule(t *testing.T) {
	h := newHarness(t, nil)
	h.deploy(scheduled("w", ir.Schedule{Cron: "0 * * * *"}))
	h.run(90 * time.Minute)
	next := scheduled("w", ir.Schedule{Cron: "15 * * * *"})
	next.Version = "2"
	h.deploy(next)
	h.run(90 * time.Minute) // 2:15
	list := h.list()
	if len(list) != 2 || list[1].Version != "2" || list[1].Created != core.TimeOf(t0.Add(135*time.Minute)) {
		t.Errorf("instances %+v", list)
	}
	plain := build("w").main()
	plain.Version = "3"
	h.deploy(plain)
	h.run(24 * time.Hour)
	if got := len(h.list()); got != 2 {
		t.Errorf("%d instances: an old schedule goes on", got)
	}
}

func TestBadSchedules(t *testing.T) {
	h := newHarness(t, nil)
	for _, s := range []ir.Schedule{{Cron: "x"}, {Interval: "x"}, {Cron: "* * * * *", Zone: "Mars/Olympus"}} {
		if err := h.Deploy(context.Background(), scheduled("w", s)); err == nil {
			t.Errorf("%+v is deployed", s)
		}
	}
}
