package server

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// TestRetention: what is old is not found any more, streams tell of the deletion, and when that is
// old too, that something is missing; /metrics counts. Whoever follows misses nothing.
func TestRetention(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		clock := engine.NewVirtualClock(time.Now())
		w := newWorldAtRest(t, s, func(_ *Config, c *engine.Config) {
			c.Clock, c.Inline, c.Retention, c.FeedRetention = clock, true, time.Hour, 24*time.Hour
		})
		pass := func(d time.Duration) {
			t.Helper()
			run := trial.Run{Engine: w.engine, Clock: clock, Until: clock.Now().Add(d)}
			if err := run.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			clock.Advance(run.Until)
		}
		w.deploy("hello")
		r := w.stream("")
		r.want("ready")
		id := w.start("hello", `{}`)
		first := r.want("change")
		w.get("/api/v1/instances/" + id).want(200)
		pass(2 * time.Hour)
		w.get("/api/v1/instances/" + id).want(404)
		w.get("/api/v1/instances/" + id + "/why").want(404)
		if m := r.want("change"); m.get("instance") != id || !strings.Contains(m.data.String(), `"deleted"`) {
			t.Errorf("the stream tells %+v", m)
		}
		back := w.stream("", "Last-Event-ID", first.id)
		back.want("ready")
		back.want("change")
		w.get("/metrics").want(200).says(`lockstep_deleted_total{setting="retention"} 1`).says(`lockstep_deleted_total{setting="feed-retention"} 0`).
			says(`lockstep_deleted_total{setting="job-retention"} 0`)

		pass(26 * time.Hour)
		w.get("/metrics").want(200).says(`lockstep_deleted_total{setting="feed-retention"} 2`)
		late := w.stream("", "Last-Event-ID", first.id)
		late.want("ready")
		late.want("reset")
		again := w.start("hello", `{}`)
		for _, r := range []*reader{r, back, late} {
			if m := r.want("change"); m.get("instance") != again {
				t.Errorf("then the stream tells %+v", m)
			}
		}
	})
	if a := newWorld(t, newMemory(), nil).get("/metrics").want(200); strings.Contains(a.text, "lockstep_deleted_total") {
		t.Error("figures of what is never deleted")
	}
}
