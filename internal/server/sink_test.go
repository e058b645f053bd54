package server

import (
	"context"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// TestSinkMetrics: figures of the sink are told where there is one.
func TestSinkMetrics(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	if a := w.get("/metrics").want(200); strings.Contains(a.text, "sink") {
		t.Error("figures of no sink")
	}
	w = newWorld(t, newMemory(), func(_ *Config, c *engine.Config) {
		c.Sink = func(context.Context, event.Event) error { return nil }
	})
	w.get("/metrics").want(200).says(`lockstep_sink_events_total{result="refused"} 0`).says("lockstep_sink_waiting 0")
}
