package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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

// running starts an engine with goroutines; inside a synctest bubble time is not real.
func running(t *testing.T, cfg Config, programs ...*ir.Program) (e *Engine, stop func()) {
	t.Helper()
	if cfg.Store == nil {
		cfg.Store = memory.New()
	}
	if cfg.Languages == nil {
		cfg.Languages = jsonpath.Languages()
	}
	if cfg.OnError == nil {
		cfg.OnError = func(err error) { t.Error(err) }
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if err := e.Deploy(context.Background(), p); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	return e, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func constant(context.Context, effect.Call) effect.Outcome {
	return effect.Outcome{Value: expr.Object(expr.Member{Key: "ok", Value: expr.Bool(true)})}
}

// TestConcurrentRun starts, signals and finishes many instances from many goroutines.
func TestConcurrentRun(t *testing.T) {
	b := build("w")
	paid := b.event("paid", "order")
	b.p.Events[paid].Correlate[0].Value = b.expr(jsonpath.Lang, "$.order")
	child := build("child")
	e, stop := running(t, Config{Invoker: effect.Func(constant), MaxCalls: 8},
		b.main(b.call("f"), spawn("child", true), await("Paid", 0, paid), b.call("g")), child.main(child.call("h")))
	defer stop()
	ctx := context.Background()
	const n = 200
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			order := fmt.Sprint("o", i)
			id, err := e.Start(ctx, StartRequest{Definition: "w", Input: parse(t, fmt.Sprintf(`{"order":%q}`, order))})
			if err != nil {
				t.Error(err)
				return
			}
			for range 2 { // the second one is a duplicate
				if _, err := e.Send(ctx, ev(t, fmt.Sprintf(`paid e%d order=%s`, i, order))); err != nil {
					t.Error(err)
				}
			}
			got, err := e.Wait(ctx, id)
			if err != nil || got.Status != core.Completed {
				t.Errorf("instance %s: %s %v %v", id, got.Status, got.Fault, err)
			}
		})
	}
	wg.Wait()
	list, _ := e.List(ctx)
	if len(list) != 2*n {
		t.Errorf("%d instances, want %d", len(list), 2*n)
	}
	for _, in := range list {
		if in.Status != core.Completed {
			t.Errorf("%s is %s", in.ID, in.Status)
		}
	}
}

func TestRunTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := running(t, Config{}, build("w").main(delay(time.Hour)))
		defer stop()
		begin := time.Now()
		id, err := e.Start(context.Background(), StartRequest{Definition: "w"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Wait(context.Background(), id)
		if err != nil || got.Status != core.Completed || time.Since(begin) != time.Hour {
			t.Errorf("%s %v after %v", got.Status, err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		id, _ = e.Start(ctx, StartRequest{Definition: "w"})
		if got, err := e.Wait(ctx, id); !errors.Is(err, context.DeadlineExceeded) || got.Status != core.Waiting {
			t.Errorf("%s %v", got.Status, err)
		}
	})
}

// TestRunDelayedAnswer: Outcome.Delay is honoured by the clock.
func TestRunDelayedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := build("w")
		e, stop := running(t, Config{Invoker: effect.Func(func(context.Context, effect.Call) effect.Outcome {
			return effect.Outcome{Value: expr.EmptyObject, Delay: time.Minute}
		})}, b.main(b.call("f")))
		defer stop()
		begin := time.Now()
		id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
		if got, _ := e.Wait(context.Background(), id); got.Status != core.Completed || time.Since(begin) != time.Minute {
			t.Errorf("%s after %v", got.Status, time.Since(begin))
		}
	})
}

func TestMaxCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		b := build("w")
		e, stop := running(t, Config{MaxCalls: 3, Invoker: effect.Func(func(context.Context, effect.Call) effect.Outcome {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-time.After(time.Second)
			now.Add(-1)
			return effect.Outcome{Value: expr.EmptyObject}
		})}, b.main(b.call("f")))
		defer stop()
		var ids []string
		for range 10 {
			id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
			ids = append(ids, id)
		}
		synctest.Wait()
		if e.InFlight() != 3 {
			t.Errorf("%d in flight", e.InFlight())
		}
		for _, id := range ids {
			if got, _ := e.Wait(context.Background(), id); got.Status != core.Completed {
				t.Errorf("%s is %s", id, got.Status)
			}
		}
		if most.Load() != 3 {
			t.Errorf("%d calls at a time", most.Load())
		}
	})
}

// TestWaitingCallGivesBackItsPlace: a call that goes on for long does not keep others from being made, and is
// cancelled with what waits for it.
func TestWaitingCallGivesBackItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, long := build("w"), build("long")
		cancelled := make(chan struct{})
		e, stop := running(t, Config{MaxCalls: 1, Invoker: effect.Func(func(_ context.Context, c effect.Call) effect.Outcome {
			if c.Function != "long" {
				return effect.Outcome{Value: expr.EmptyObject}
			}
			return effect.Outcome{Wait: func(ctx context.Context) effect.Outcome {
				select {
				case <-ctx.Done():
					close(cancelled)
					return effect.Fail(effect.Failure{Name: "Late"})
				case <-time.After(time.Hour):
					return effect.Outcome{Value: expr.EmptyObject}
				}
			}}
		})}, b.main(b.call("f")), long.main(long.call("long")))
		defer stop()
		first, _ := e.Start(context.Background(), StartRequest{Definition: "long"})
		second, _ := e.Start(context.Background(), StartRequest{Definition: "long"})
		synctest.Wait()
		if e.InFlight() != 0 {
			t.Errorf("%d calls have a place", e.InFlight())
		}
		if e.Underway() != 2 {
			t.Errorf("%d calls are under way", e.Underway())
		}
		id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
		if got, _ := e.Wait(context.Background(), id); got.Status != core.Completed {
			t.Errorf("the other instance is %s", got.Status)
		}
		if err := e.Control(context.Background(), first, core.Control{Verb: core.VerbCancel}); err != nil {
			t.Error(err)
		}
		<-cancelled
		if got, _ := e.Wait(context.Background(), second); got.Status != core.Completed {
			t.Errorf("the one that waited is %s", got.Status)
		}
	})
}

// TestCallIsCancelled when nobody waits for it any more.
func TestCallIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := build("w")
		cancelled := make(chan struct{})
		e, stop := running(t, Config{Invoker: effect.Func(func(ctx context.Context, _ effect.Call) effect.Outcome {
			<-ctx.Done()
			close(cancelled)
			return effect.Fail(effect.Failure{Name: "Late"})
		})}, b.main(b.region(ir.Region{Name: "R", Timeout: span(time.Second)}, b.call("f"))))
		defer stop()
		id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
		got, _ := e.Wait(context.Background(), id)
		<-cancelled
		if got.Fault == nil || got.Fault.Name != "Timeout" {
			t.Errorf("%s %v", got.Status, got.Fault)
		}
	})
}

// TestDrain: a call in flight is finished and committed when Run is told to end.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := build("w")
		e, stop := running(t, Config{Invoker: effect.Func(func(ctx context.Context, c effect.Call) effect.Outcome {
			<-time.After(5 * time.Second)
			return constant(ctx, c)
		})}, b.main(b.call("f")))
		id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
		synctest.Wait()
		stop()
		if got, _ := e.Get(context.Background(), id); got.Status != core.Completed {
			t.Errorf("after draining it is %s", got.Status)
		}
	})
}

// TestDrainGivesUp: a call that does not end is made again by the next process.
func TestDrainGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := build("w")
		p := b.main(b.call("f"))
		mem := memory.New()
		var keys []string
		e, stop := running(t, Config{Store: mem, Invoker: effect.Func(func(ctx context.Context, c effect.Call) effect.Outcome {
			keys = append(keys, c.Key)
			<-ctx.Done()
			return effect.Fail(effect.Failure{Name: "Interrupted"})
		})}, p)
		id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
		synctest.Wait()
		begin := time.Now()
		stop()
		if time.Since(begin) != drainTime {
			t.Errorf("drained for %v", time.Since(begin))
		}
		if got, _ := e.Get(context.Background(), id); got.Status != core.Running {
			t.Errorf("an interrupted call counts: %s %v", got.Status, got.Fault)
		}
		e, stop = running(t, Config{Store: mem, Invoker: effect.Func(func(ctx context.Context, c effect.Call) effect.Outcome {
			keys = append(keys, c.Key)
			return constant(ctx, c)
		})}, p)
		defer stop()
		if got, _ := e.Wait(context.Background(), id); got.Status != core.Completed {
			t.Errorf("the next process leaves it %s", got.Status)
		}
		if len(keys) != 2 || keys[0] != keys[1] {
			t.Errorf("keys %v", keys)
		}
	})
}

// TestAbortGivesUpAtOnce: who does not come back does not wait for calls either.
func TestAbortGivesUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := build("w")
		over := false
		e, stop := running(t, Config{Invoker: effect.Func(func(ctx context.Context, _ effect.Call) effect.Outcome {
			<-ctx.Done()
			<-time.After(time.Second) // what the call started is ended
			over = true
			return effect.Fail(effect.Failure{Name: "Interrupted"})
		})}, b.main(b.call("f")))
		id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
		synctest.Wait()
		begin := time.Now()
		e.Abort()
		e.Abort()
		stop()
		if !over || time.Since(begin) != time.Second {
			t.Errorf("after %v the call is over: %t", time.Since(begin), over)
		}
		if got, _ := e.Get(context.Background(), id); got.Status != core.Running {
			t.Errorf("an aborted call counts: %s %v", got.Status, got.Fault)
		}
	})
}

// TestRunOutlivesErrors of the store, and answers are not lost by them.
func TestRunOutlivesErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := build("w")
		flaky := newCrashing(memory.New(), 1<<20)
		var told atomic.Int32
		var calls atomic.Int32
		e, stop := running(t, Config{
			Store:   flaky,
			OnError: func(error) { told.Add(1) },
			Invoker: effect.Func(func(ctx context.Context, c effect.Call) effect.Outcome {
				calls.Add(1)
				<-time.After(time.Second)
				return constant(ctx, c)
			}),
		}, b.main(b.call("f"), delay(time.Minute)))
		defer stop()
		id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
		synctest.Wait()
		flaky.writes.Store(0)
		<-time.After(10 * time.Second)
		synctest.Wait()
		flaky.writes.Store(1 << 20)
		if got, _ := e.Wait(context.Background(), id); got.Status != core.Completed {
			t.Errorf("%s", got.Status)
		}
		if told.Load() == 0 || calls.Load() != 1 {
			t.Errorf("%d errors, %d calls", told.Load(), calls.Load())
		}
	})
}

// TestRunAgain: an engine that was stopped goes on with the calls it had given up.
func TestRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := build("w")
		var calls atomic.Int32
		e, stop := running(t, Config{Invoker: effect.Func(func(ctx context.Context, c effect.Call) effect.Outcome {
			if calls.Add(1) == 1 {
				<-ctx.Done()
			}
			return constant(ctx, c)
		})}, b.main(b.call("f")))
		id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
		synctest.Wait()
		stop()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- e.Run(ctx) }()
		if got, _ := e.Wait(context.Background(), id); got.Status != core.Completed || calls.Load() != 2 {
			t.Errorf("%s after %d calls", got.Status, calls.Load())
		}
		cancel()
		<-done
	})
}

func TestPanickingInvoker(t *testing.T) {
	b := build("w")
	e, stop := running(t, Config{
		OnError: func(error) {},
		Invoker: effect.Func(func(context.Context, effect.Call) effect.Outcome { panic("oops") }),
	}, b.main(b.call("f")))
	defer stop()
	id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
	if got, _ := e.Wait(context.Background(), id); got.Fault == nil || got.Fault.Code != "panic" {
		t.Errorf("%s %v", got.Status, got.Fault)
	}
}

func TestNoInvoker(t *testing.T) {
	b := build("w")
	e, stop := running(t, Config{}, b.main(b.call("f")))
	defer stop()
	id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
	if got, _ := e.Wait(context.Background(), id); got.Fault == nil || got.Fault.Name != core.FaultNoFunction {
		t.Errorf("%s %v", got.Status, got.Fault)
	}
}

// TestCancelledWaitsPileUp: who gives up leaves nothing, and takes nobody else along.
func TestCancelledWaitsPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := running(t, Config{}, build("w").main(delay(time.Hour)))
		defer stop()
		var ids []string
		for range 10 {
			id, _ := e.Start(context.Background(), StartRequest{Definition: "w"})
			ids = append(ids, id)
		}
		stays := make(chan error, 1)
		go func() {
			got, err := e.Wait(context.Background(), ids[0])
			if err == nil && got.Status != core.Completed {
				err = errors.New(string(got.Status))
			}
			stays <- err
		}()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, id := range ids {
			go func() { _, _ = e.Wait(ctx, id) }()
		}
		<-ctx.Done()
		synctest.Wait()
		e.mu.Lock()
		left := len(e.watches)
		e.mu.Unlock()
		if left != 1 {
			t.Errorf("%d waits are left of 1", left)
		}
		if err := <-stays; err != nil {
			t.Error(err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.watches) != 0 {
			t.Errorf("%d waits are left", len(e.watches))
		}
	})
}

// dropping is a context that lets something happen while it is derived from.
type dropping struct {
	context.Context
	drop func()
}

func (c dropping) Done() <-chan struct{} {
	c.drop()
	return c.Context.Done()
}

// TestCallDroppedWhileItBegins is cancelled: nobody waits for it.
func TestCallDroppedWhileItBegins(t *testing.T) {
	b := build("w")
	ended := make(chan error, 1)
	h := newHarness(t, nil, func(c *Config) {
		c.Inline = false
		c.Invoker = effect.Func(func(ctx context.Context, _ effect.Call) effect.Outcome {
			ended <- ctx.Err()
			return effect.Outcome{}
		})
	})
	h.deploy(b.main(b.call("f")))
	id := h.start("w", `{}`)
	root, cancel := context.WithCancel(context.Background())
	defer cancel()
	if !h.dispatch(dropping{root, sync.OnceFunc(func() { h.calls.drop(callKey(id, 1<<32|1)) })}) {
		t.Fatal("no call begins")
	}
	h.calls.wg.Wait()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call runs on: %v", err)
	}
}
