package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/ir"
	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/memory"
)

// blocking is a language whose evaluation ignores its budget, and does not end before it is
// released.
type blocking struct {
	begun   atomic.Int32
	release chan struct{}
}

func newBlocking() *blocking { return &blocking{release: make(chan struct{})} }

func (b *blocking) Compile(string) (expr.Program, error) { return b, nil }

func (b *blocking) Eval(data expr.Value, _ *expr.Budget) (expr.Result, error) {
	b.begun.Add(1)
	<-b.release
	return expr.Result{Value: data}, nil
}

func (b *blocking) languages() expr.Languages {
	out := jsonpath.Languages()
	out["blocking"] = b
	return out
}

// poisoned evaluates with a language after the steps before.
func poisoned(id, lang string, before ...stepOp) *ir.Program {
	b := build(id)
	eval := stepOp{"Eval", &ir.Eval{From: b.expr(lang, ""), Put: ir.Put{Mode: ir.PutReplace}}}
	return b.main(append(before, eval)...)
}

// ticking is a workflow that lives from timers: it waits, says so, and begins again.
func ticking(id string, every time.Duration) *ir.Program {
	b := build(id)
	p := b.main(delay(every), b.emit("tick", ""))
	p.Nodes[2].Next = 1
	return p
}

func startOne(t *testing.T, e *Engine, definition string) string {
	t.Helper()
	id, err := e.Start(context.Background(), StartRequest{Definition: definition})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestBusyInstanceHoldsUpOthers: timers, schedules, events, the sink, calls and retention of
// everybody go on while a step of one does not end, for longer than any pass.
func TestBusyInstanceHoldsUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang := newBlocking()
		cron := build("cron")
		cron.p.Start.Schedule = &ir.Schedule{Cron: "* * * * * ?"}
		store := memory.New()
		var sunk atomic.Int32
		e, stop := running(t, Config{
			Store: store, Languages: lang.languages(), Retention: 5 * time.Second, OnError: func(error) {},
			Sink: func(context.Context, event.Event) error { sunk.Add(1); return nil },
		}, poisoned("bad", "blocking", delay(time.Second)), ticking("good", time.Second), cron.main(), build("brief").main(delay(time.Millisecond)))
		bad, good := startOne(t, e, "bad"), startOne(t, e, "good")
		brief := startOne(t, e, "brief")
		<-time.After(3 * time.Second)
		synctest.Wait()
		if lang.begun.Load() != 1 {
			t.Fatalf("%d steps are under way", lang.begun.Load())
		}
		ticks := sunk.Load()
		crons, _ := e.Count(t.Context(), storeQuery("cron"))
		<-time.After(10 * time.Second)
		synctest.Wait()
		if n := sunk.Load() - ticks; n < 9 {
			t.Errorf("%d timers of another instance fired in 10 s", n)
		}
		if n, _ := e.Count(t.Context(), storeQuery("cron")); n < crons-1 || n == 0 { // those of 5 s are kept
			t.Errorf("%d instances were started by a schedule, %d before", n, crons)
		}
		if _, err := e.Get(t.Context(), brief); !isMissing(err) {
			t.Errorf("retention stands still: %v", err)
		}
		begin := time.Now()
		id := startOne(t, e, "brief")
		if got, err := e.Wait(t.Context(), id); err != nil || got.Status != core.Completed || time.Since(begin) > 2*patience {
			t.Errorf("another is %s after %s: %v", got.Status, time.Since(begin), err)
		}
		if row, _ := e.Get(t.Context(), bad); row.Status != core.Waiting {
			t.Errorf("the busy one is %s", row.Status)
		}
		close(lang.release)
		if got, err := e.Wait(t.Context(), bad); err != nil || got.Status != core.Completed {
			t.Errorf("when its step ends it is %s: %v", got.Status, err)
		}
		if err := e.Control(t.Context(), good, core.Control{Verb: core.VerbTerminate}); err != nil {
			t.Error(err)
		}
		stop()
	})
}

func storeQuery(definition string) store.Query { return store.Query{Definition: definition} }

// costly is a language that is expensive by its budget: as much as tells it apart, then it
// takes its time, as a processor would.
type costly struct {
	mu   sync.Mutex
	now  int
	most int
	done []string
}

const (
	costlySteps = 2 * (laneWork + expr.StopEvery)
	costlyTime  = 50 * time.Millisecond
)

func (c *costly) Compile(string) (expr.Program, error) { return c, nil }

func (c *costly) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	for range costlySteps / expr.StopEvery {
		if err := b.Step(expr.StopEvery); err != nil {
			return expr.Result{}, err
		}
	}
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	c.mu.Unlock()
	<-time.After(costlyTime)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now--
	id, _ := data.Get("id")
	c.done = append(c.done, id.Str())
	return expr.Result{Value: data}, nil
}

// TestExpensiveWorkStarvesOthers: of very many expensive instances few are worked on at a time,
// each has its turn, and cheap ones do not wait for them. That holds for timers, starts and answers.
func TestExpensiveWorkStarvesOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang := &costly{}
		langs := jsonpath.Languages()
		langs["costly"] = lang
		loop := build("hot")
		eval := stepOp{"Eval", &ir.Eval{From: loop.expr("costly", ""), Put: ir.Put{Mode: ir.PutReplace}}}
		p := loop.main(delay(time.Second), eval, delay(time.Millisecond))
		p.Nodes[3].Op.(*ir.Await).OnTimeout = 2 // for ever
		limits := core.DefaultLimits
		limits.StepWork = costlySteps // each ends in More
		e, stop := running(t, Config{Languages: langs, Limits: &limits}, p, poisoned("first", "costly"), build("brief").main(delay(time.Millisecond)))
		defer stop()
		const hostile, terminated = 300, 20
		for i := range hostile {
			if _, err := e.Start(t.Context(), StartRequest{Definition: "hot", Input: parse(t, fmt.Sprintf(`{"id":"%d"}`, i))}); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(2 * time.Second)
		var firsts []string
		for range 100 {
			begin := time.Now()
			firsts = append(firsts, startOne(t, e, "first")) // does not keep its caller waiting
			id := startOne(t, e, "brief")
			if got, err := e.Wait(t.Context(), id); err != nil || got.Status != core.Completed || time.Since(begin) > 2*patience {
				t.Fatalf("beside %d expensive ones another is %s after %s: %v", hostile, got.Status, time.Since(begin), err)
			}
			<-time.After(100 * time.Millisecond)
		}
		for i := range terminated { // whoever intervenes does not wait for their turns
			begin := time.Now()
			list, err := e.Query(t.Context(), store.Query{Definition: "hot", Status: []core.Status{core.Running, core.Waiting}, Limit: hostile})
			if err != nil || len(list) != hostile-i {
				t.Fatalf("%d expensive ones are left: %v", len(list), err)
			}
			if err := e.Control(t.Context(), list[0].ID, core.Control{Verb: core.VerbTerminate}); err != nil || time.Since(begin) > costlyTime {
				t.Errorf("terminated after %s: %v", time.Since(begin), err)
			}
		}
		<-time.After(3 * hostile * costlyTime / time.Duration(laneWorkers()))
		for _, id := range firsts {
			if row, err := e.Get(t.Context(), id); err != nil || row.Status != core.Completed {
				t.Errorf("an expensive start is %s: %v", row.Status, err)
			}
		}
		lang.mu.Lock()
		defer lang.mu.Unlock()
		if lang.most > laneWorkers() {
			t.Errorf("%d expensive steps at a time, want %d", lang.most, laneWorkers())
		}
		turns := map[string]int{}
		for _, id := range lang.done {
			turns[id]++
		}
		least, most := hostile, 0
		for i := terminated; i < hostile; i++ {
			least, most = min(least, turns[fmt.Sprint(i)]), max(most, turns[fmt.Sprint(i)])
		}
		if least < 2 || most > least+2 {
			t.Errorf("they had from %d to %d turns", least, most)
		}
	})
}

// TestStuckStep: its instance is named, then the node is stuck and says so, the instance is
// paused, and others can intervene. What the step did is not stored when it returns at last.
func TestStuckStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang := newBlocking()
		var told []string
		var mu sync.Mutex
		e, stop := running(t, Config{Languages: lang.languages(), OnError: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err.Error())
		}}, poisoned("bad", "blocking", delay(time.Second)), build("brief").main(delay(time.Millisecond)))
		bad := startOne(t, e, "bad")
		at := func(d time.Duration, suspects, stuck string, status core.Status) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			named, err := e.store.Suspects(t.Context())
			row, _ := e.Get(t.Context(), bad)
			if fmt.Sprint(named) != suspects || err != nil || !strings.Contains(e.Stuck(), stuck) || (stuck == "") != (e.Stuck() == "") || row.Status != status {
				t.Errorf("suspects %v %v, stuck: %q, it is %s; want %s, %q, %s", named, err, e.Stuck(), row.Status, suspects, stuck, status)
			}
		}
		at(time.Second+stepTime, "[]", "", core.Waiting)
		at(suspectTime-stepTime+watchTick, "["+bad+"]", "", core.Waiting)
		at(stuckTime-suspectTime, "[]", "step of instance "+bad, core.Paused)
		if a := e.Activity(); a.Step < stuckTime || a.Pass != 0 || a.LastPass.IsZero() {
			t.Errorf("%+v", a)
		}
		if got, err := e.Wait(t.Context(), startOne(t, e, "brief")); err != nil || got.Status != core.Completed {
			t.Errorf("another is %s: %v", got.Status, err)
		}
		mu.Lock()
		if !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, bad) && strings.Contains(s, "suspect") }) {
			t.Errorf("told: %q", told)
		}
		mu.Unlock()
		l, err := e.live.acquire(t.Context(), bad, onRequest)
		if err != nil || e.load(t.Context(), l) != nil || l.state.PauseReason() != core.TooExpensive {
			t.Errorf("it is paused because of %q (%v)", l.state.PauseReason(), err)
		}
		e.live.release(l)
		if err := e.Control(t.Context(), bad, core.Control{Verb: core.VerbTerminate}); err != nil {
			t.Error(err)
		}
		close(lang.release)
		at(watchTick, "[]", "", core.Terminated)
		stop()
	})
}

// TestStepThatEndsLate: a name is removed when the step ends by itself.
func TestStepThatEndsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang := newBlocking()
		e, stop := running(t, Config{Languages: lang.languages(), OnError: func(error) {}}, poisoned("bad", "blocking", delay(time.Second)))
		defer stop()
		bad := startOne(t, e, "bad")
		<-time.After(suspectTime + 3*watchTick)
		if named, err := e.store.Suspects(t.Context()); len(named) != 1 || err != nil {
			t.Fatal(named, err)
		}
		close(lang.release)
		if got, err := e.Wait(t.Context(), bad); err != nil || got.Status != core.Completed {
			t.Errorf("%s %v", got.Status, err)
		}
		synctest.Wait()
		if named, err := e.store.Suspects(t.Context()); len(named) != 0 || err != nil {
			t.Error(named, err)
		}
	})
}

// TestTerminateStuckInstance: whoever intervenes is answered, at the latest when the step is
// given up.
func TestTerminateStuckInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang := newBlocking()
		e, stop := running(t, Config{Languages: lang.languages(), OnError: func(error) {}}, poisoned("bad", "blocking", delay(time.Second)))
		bad := startOne(t, e, "bad")
		<-time.After(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := e.Control(ctx, bad, core.Control{Verb: core.VerbTerminate}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a time limit: %v", err)
		}
		begin := time.Now()
		if err := e.Control(t.Context(), bad, core.Control{Verb: core.VerbTerminate}); err != nil || time.Since(begin) > stuckTime {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		if row, _ := e.Get(t.Context(), bad); row.Status != core.Terminated {
			t.Errorf("it is %s", row.Status)
		}
		close(lang.release)
		stop()
	})
}

// TestSuspectsOfAnEarlierProcess: they are paused before anything is done with them, whatever
// is due. One that cannot be paused is set aside.
func TestSuspectsOfAnEarlierProcess(t *testing.T) {
	ctx := context.Background()
	lang := newBlocking()
	clock := NewVirtualClock(t0)
	s := newStore(t)
	open := func() *Engine {
		e, err := New(Config{Store: s, Clock: clock, Languages: lang.languages(), Inline: true})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	b := build("started")
	for _, p := range []*ir.Program{poisoned("bad", "blocking", delay(time.Second)), b.main(delay(time.Second))} {
		if err := e.Deploy(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	due, good := startOne(t, e, "bad"), startOne(t, e, "started")
	d, err := e.find(ctx, "bad", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.createLater(ctx, newRow(d, "inbox", e.now()), 0, core.Start{Data: expr.EmptyObject}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{due, "inbox", "nobody"} {
		if err := s.Suspect(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(t0.Add(time.Hour))
	e = open()
	for when := range 2 {
		if row, err := e.Get(ctx, due); err != nil || row.Status != core.Paused || row.Quarantine != "" {
			t.Errorf("%d: it is %s %q: %v", when, row.Status, row.Quarantine, err)
		}
		if row, err := e.Get(ctx, "inbox"); err != nil || !strings.Contains(row.Quarantine, "first step") {
			t.Errorf("%d: the one without a state is %s %q: %v", when, row.Status, row.Quarantine, err)
		}
		if named, err := s.Suspects(ctx); len(named) != 0 || err != nil {
			t.Errorf("%d: suspects %v %v", when, named, err)
		}
		if _, err := e.Poll(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if row, err := e.Get(ctx, good); err != nil || row.Status != core.Completed {
		t.Errorf("another is %s: %v", row.Status, err)
	}
	if n := lang.begun.Load(); n != 0 {
		t.Errorf("%d steps were begun", n)
	}
	close(lang.release)
	if err := e.Control(ctx, due, core.Control{Verb: core.VerbResume}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Poll(ctx); err != nil {
		t.Fatal(err)
	}
	if row, err := e.Get(ctx, due); err != nil || row.Status != core.Completed {
		t.Errorf("resumed, it is %s: %v", row.Status, err)
	}
}

// TestRunEndsThoughAStepDoesNot: it is given up, and named in what is told and in the store, so
// that the next process pauses it.
func TestRunEndsThoughAStepDoesNot(t *testing.T) {
	for _, after := range []time.Duration{2 * time.Second, suspectTime + 3*time.Second} {
		synctest.Test(t, func(t *testing.T) {
			lang := newBlocking()
			var mu sync.Mutex
			told := ""
			e, stop := running(t, Config{Languages: lang.languages(), OnError: func(err error) {
				mu.Lock()
				defer mu.Unlock()
				told = err.Error()
			}}, poisoned("bad", "blocking", delay(time.Second)))
			bad := startOne(t, e, "bad")
			<-time.After(after)
			begin := time.Now()
			stop()
			if took := time.Since(begin); took > drainTime+abortTime {
				t.Errorf("it took %s", took)
			}
			mu.Lock()
			if !strings.Contains(told, "step of instance "+bad+" has not ") {
				t.Errorf("told: %q", told)
			}
			mu.Unlock()
			named, err := e.store.Suspects(context.Background())
			if len(named) != 1 || err != nil {
				t.Errorf("suspects after %s: %v %v", after, named, err)
			}
			close(lang.release)
		})
	}
}

// TestRunEndsWhileExpensiveWorkWaits: steps that can be stopped are, at once.
func TestRunEndsWhileExpensiveWorkWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		langs := jsonpath.Languages()
		langs["costly"] = &costly{}
		e, stop := running(t, Config{Languages: langs}, poisoned("hot", "costly", delay(time.Second)))
		for range 500 {
			startOne(t, e, "hot")
		}
		<-time.After(2 * time.Second)
		begin := time.Now()
		stop()
		if took := time.Since(begin); took > 2*costlyTime {
			t.Errorf("it took %s", took)
		}
	})
}
