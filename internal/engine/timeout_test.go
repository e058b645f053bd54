package engine

import (
	"context"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestCallsKnowTheirTimeout: a call is told what is left of the innermost timeout around it, but for the workflow's own.
func TestCallsKnowTheirTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := build("w")
		b.p.Regions[0].Timeout = span(24 * time.Hour)
		inner := b.region(ir.Region{Name: "inner"}, b.call("nested"))
		p := b.main(
			b.call("alone"),
			b.region(ir.Region{Name: "action", Timeout: span(2 * time.Minute)}, b.call("action")),
			b.region(ir.Region{Name: "block", Timeout: span(time.Hour)}, delay(time.Minute), inner),
			b.region(ir.Region{Name: "total", Timeout: span(time.Hour), Total: span(time.Minute)}, b.call("total")),
		)
		var mu sync.Mutex
		got := map[string]time.Duration{}
		e, stop := running(t, Config{Invoker: effect.Func(func(_ context.Context, c effect.Call) effect.Outcome {
			mu.Lock()
			defer mu.Unlock()
			got[c.Function] = c.Timeout
			return effect.Outcome{Value: expr.EmptyObject}
		})}, p)
		defer stop()
		id := startOne(t, e, "w")
		in, err := e.Wait(t.Context(), id)
		if err != nil || in.Status != core.Completed {
			t.Fatal(in.Status, err)
		}
		want := map[string]time.Duration{"alone": 0, "action": 2 * time.Minute, "nested": 59 * time.Minute, "total": time.Minute}
		if !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
