package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestBoundedSchedules lists fire times after the deployment, which is at t0, 2026-03-01T00:00:00Z.
func TestBoundedSchedules(t *testing.T) {
	month, hour := ir.Span{Set: true, Months: 1}, ir.Span{Set: true, Nanos: int64(time.Hour)}
	for _, c := range []struct {
		name string
		s    ir.Schedule
		want string // the first four
	}{
		{"from the past", ir.Schedule{Every: hour, From: "2020-01-01T00:20:00Z"}, "03-01T00:20 03-01T01:20 03-01T02:20 03-01T03:20"},
		{"from an offset", ir.Schedule{Every: hour, From: "2026-03-01T03:30:00+01:00"}, "03-01T02:30 03-01T03:30 03-01T04:30 03-01T05:30"},
		{"months from the last day", ir.Schedule{Every: month, From: "2025-12-31T12:00:00Z"}, "03-31T12:00 04-30T12:00 05-31T12:00 06-30T12:00"},
		{"until", ir.Schedule{Every: hour, Until: "2026-03-01T03:00:00Z"}, "03-01T01:00 03-01T02:00"},
		{"from until", ir.Schedule{Every: hour, From: "2026-03-01T01:30:00Z", Until: "2026-03-01T03:00:00Z"}, "03-01T01:30 03-01T02:30"},
		{"back", ir.Schedule{Every: hour, Until: "2026-03-01T02:50:00Z", Back: true}, "03-01T00:50 03-01T01:50"},
		{"back on the hour", ir.Schedule{Every: hour, Until: "2026-03-01T03:00:00Z", Back: true}, "03-01T01:00 03-01T02:00"},
		{"months back", ir.Schedule{Every: month, Until: "2026-07-31T12:00:00Z", Back: true}, "03-31T12:00 04-30T12:00 05-31T12:00 06-30T12:00"},
		{"back from the past", ir.Schedule{Every: hour, Until: "2026-02-01T02:50:00Z", Back: true}, ""},
		{"over", ir.Schedule{Every: hour, Until: "2026-03-01T00:00:00Z"}, ""},
		{"cron until", ir.Schedule{Cron: "0 * * * *", Until: "2026-03-01T03:00:00Z"}, "03-01T01:00 03-01T02:00"},
		{"cron from", ir.Schedule{Cron: "0 * * * *", From: "2026-03-01T02:00:00Z"}, "03-01T02:00 03-01T03:00 03-01T04:00 03-01T05:00"},
		{"cron from the middle", ir.Schedule{Cron: "0 * * * *", From: "2026-03-01T02:00:00.5Z"}, "03-01T03:00 03-01T04:00 03-01T05:00 03-01T06:00"},
	} {
		h := newHarness(t, nil)
		s, err := h.newSchedule(&c.s, core.TimeOf(t0))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for at := s.next(core.TimeOf(t0)); at != nil && len(got) < 4; at = s.next(*at) {
			got = append(got, at.Std().Format("01-02T15:04"))
		}
		if have := strings.Join(got, " "); have != c.want {
			t.Errorf("%s: %s, want %s", c.name, have, c.want)
		}
	}
}

// TestBoundedScheduleFires: one instance for each fire time, also if the server is started anew in between, and
// none when it is over.
func TestBoundedScheduleFires(t *testing.T) {
	h := newHarness(t, nil)
	every := ir.Span{Set: true, Nanos: int64(time.Hour)}
	h.deploy(scheduled("w", ir.Schedule{Every: every, Until: "2026-03-01T03:30:00Z", Back: true, DirectInvoke: true}))
	if at, ok := h.Next(); !ok || !at.Equal(t0.Add(30*time.Minute)) {
		t.Errorf("next is %v %t", at, ok)
	}
	h.run(time.Hour)
	h = h.again()
	h.run(48 * time.Hour)
	list := h.list()
	if len(list) != 3 {
		t.Fatalf("%d instances", len(list))
	}
	for i, in := range list {
		if want := core.TimeOf(t0.Add(30*time.Minute + time.Duration(i)*time.Hour)); in.Created != want {
			t.Errorf("created at %v, want %v", in.Created, want)
		}
	}
	if at, ok := h.Next(); ok {
		t.Errorf("next is %v", at)
	}
}
