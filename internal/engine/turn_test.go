package engine

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// heavy is a language of which two evaluations are more than a turn.
type heavy struct{}

func (h heavy) Compile(string) (expr.Program, error) { return h, nil }

func (heavy) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	for range 3 * turnWork / 4 / expr.StopEvery {
		if err := b.Step(expr.StopEvery); err != nil {
			return expr.Result{}, err
		}
	}
	return expr.Result{Value: data}, nil
}

// TestMoreAnswersThanATurnTakes: answers that come at once and take more work than one turn
// are all given, one turn after the other, by one Poll too; with Inline in one.
func TestMoreAnswersThanATurnTakes(t *testing.T) {
	const calls = 6
	b := build("w")
	fan := &ir.Fan{Join: ir.JoinMerge}
	for i := range calls {
		eval := stepOp{"Eval", &ir.Eval{From: b.expr("heavy", ""), Put: ir.Put{Mode: ir.PutReplace}}}
		in := b.region(ir.Region{Name: fmt.Sprint("Branch ", i), Collect: true}, b.call("f"), eval)
		fan.Branches = append(fan.Branches, ir.FanBranch{Region: in.op.(*ir.Enter).Region})
	}
	p := b.main(stepOp{"Fan", fan})
	langs := jsonpath.Languages()
	langs["heavy"] = heavy{}
	later := effect.Func(func(context.Context, effect.Call) effect.Outcome {
		return effect.Outcome{Value: expr.EmptyObject, Delay: time.Second}
	})
	t.Run("at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e, stop := running(t, Config{Languages: langs, Invoker: effect.Func(constant)}, p)
			defer stop()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if got, err := e.Wait(ctx, startOne(t, e, "w")); err != nil || got.Status != core.Completed {
				t.Errorf("it is %s: %v", got.Status, err)
			}
		})
	})
	t.Run("running", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e, stop := running(t, Config{Languages: langs, Invoker: later}, p)
			defer stop()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, err := e.Wait(ctx, startOne(t, e, "w"))
			if err != nil || got.Status != core.Completed {
				t.Errorf("it is %s: %v", got.Status, err)
			}
			if got.Rev < 3 {
				t.Errorf("all answers were one turn: revision %d", got.Rev)
			}
		})
	})
	t.Run("polled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e, err := New(Config{Store: memory.New(), Languages: langs, Invoker: later})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Deploy(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			id := startOne(t, e, "w")
			if _, err := e.Poll(t.Context()); err != nil { // makes the calls
				t.Fatal(err)
			}
			<-time.After(time.Second)
			if got, err := e.Get(t.Context(), id); err != nil || got.Status != core.Running {
				t.Fatalf("it is %s: %v", got.Status, err)
			}
			if did, err := e.Poll(t.Context()); err != nil || !did {
				t.Errorf("progress %t: %v", did, err)
			}
			if got, err := e.Get(t.Context(), id); err != nil || got.Status != core.Completed {
				t.Errorf("it is %s at revision %d: %v", got.Status, got.Rev, err)
			}
		})
	})
	t.Run("inline", func(t *testing.T) {
		h := newHarness(t, nil, func(c *Config) { c.Languages, c.Invoker = langs, later })
		h.deploy(p)
		id := h.start("w", "{}")
		h.run(time.Second)
		h.want(id, core.Completed, "")
		if got := h.get(id); got.Rev != 2 {
			t.Errorf("it is at revision %d", got.Rev)
		}
	})
}
