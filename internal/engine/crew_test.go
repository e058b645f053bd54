package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// ticking is a workflow that lives from timers: it waits, says so, and begins again.
func ticking(id string, every time.Duration) *ir.Program {
	b := build(id)
	p := b.main(delay(every), b.emit("tick", ""))
	p.Nodes[2].Next = 1
	return p
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
		if t.Failed() { // then nothing goes on before the step ends
			close(lang.release)
			stop()
			return
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
	whole bool // it pays all at once, as for what cannot be stopped half-way
	mu    sync.Mutex
	now   int
	most  int
	done  []string
}

const (
	costlySteps = 2 * (laneWork + expr.StopEvery)
	costlyTime  = 50 * time.Millisecond
)

func (c *costly) Compile(string) (expr.Program, error) { return c, nil }

func (c *costly) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	part := expr.StopEvery
	if c.whole {
		part = costlySteps
	}
	for range costlySteps / part {
		if err := b.Step(part); err != nil {
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
// each has its turn, and cheap ones do not wait for them. That holds for timers and starts.
func TestExpensiveWorkStarvesOthers(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint("whole ", whole), func(t *testing.T) { expensiveWork(t, &costly{whole: whole}) })
	}
}

func expensiveWork(t *testing.T, lang *costly) {
	synctest.Test(t, func(t *testing.T) {
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
			if got, err := e.Wait(t.Context(), id); err != nil || got.Status != core.Completed || time.Since(begin) > patience/2 {
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

// outlived is a store that counts who reads an instance after it is over.
type outlived struct {
	store.Store
	over  atomic.Bool
	reads atomic.Int32
}

func (s *outlived) Instance(ctx context.Context, id string) (store.Instance, error) {
	if s.over.Load() {
		s.reads.Add(1)
	}
	return s.Store.Instance(ctx, id)
}

// TestRunEndsWhileExpensiveWorkWaits: steps that can be stopped are, at once, and what waits is not
// worked on any more when Run has returned.
func TestRunEndsWhileExpensiveWorkWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		langs := jsonpath.Languages()
		langs["costly"] = &costly{}
		s := &outlived{Store: memory.New()}
		e, stop := running(t, Config{Store: s, Languages: langs}, poisoned("hot", "costly", delay(time.Second)))
		for range 500 {
			startOne(t, e, "hot")
		}
		<-time.After(2 * time.Second)
		begin := time.Now()
		stop()
		s.over.Store(true)
		if took := time.Since(begin); took > 2*costlyTime {
			t.Errorf("it took %s", took)
		}
		synctest.Wait()
		if n := s.reads.Load(); n > 0 {
			t.Errorf("%d instances were read after the end", n)
		}
	})
}

// slow is a store in which commits of one definition's instances wait while it is on.
type slow struct {
	store.Store
	definition string
	on         atomic.Bool
	begun      atomic.Int32
	release    chan struct{}
}

func (s *slow) Commit(ctx context.Context, c store.Commit) error {
	if s.on.Load() && c.Instance.Definition == s.definition {
		s.begun.Add(1)
		<-s.release
	}
	return s.Store.Commit(ctx, c)
}

// TestSlowCommits: where every worker waits for the store, for longer than any step may take,
// passes go on, and none of the instances is taken for one whose step does not end.
func TestSlowCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Store: memory.New(), definition: "slow", release: make(chan struct{})}
		var sunk atomic.Int32
		emits := build("emits")
		e, stop := running(t, Config{Store: s, Sink: func(context.Context, event.Event) error { sunk.Add(1); return nil }},
			build("slow").main(delay(time.Second)), emits.main(emits.emit("said", "")))
		var ids []string
		for range 2 * workers {
			ids = append(ids, startOne(t, e, "slow"))
		}
		s.on.Store(true)
		<-time.After(2 * time.Second)
		if n := s.begun.Load(); n != workers {
			t.Fatalf("%d commits are under way", n)
		}
		for range 2 * stuckTime / time.Second {
			said := sunk.Load()
			startOne(t, e, "emits")
			<-time.After(time.Second)
			if sunk.Load() == said {
				t.Error("an event of another did not reach the sink: no pass came to its end")
				break
			}
			if named, err := s.Suspects(t.Context()); err != nil || len(named) > 0 || e.Stuck() != "" {
				t.Errorf("suspects %v %v, stuck: %q", named, err, e.Stuck())
				break
			}
		}
		s.on.Store(false)
		close(s.release)
		for _, id := range ids {
			if got, err := e.Wait(t.Context(), id); err != nil || got.Status != core.Completed {
				t.Fatalf("it is %s: %v", got.Status, err)
			}
		}
		stop()
	})
}

// swamp is expensive by its budget, and then does not end.
type swamp struct{ blocking }

func (s *swamp) Compile(string) (expr.Program, error) { return s, nil }

func (s *swamp) Eval(data expr.Value, b *expr.Budget) (expr.Result, error) {
	for range costlySteps / expr.StopEvery {
		if err := b.Step(expr.StopEvery); err != nil {
			return expr.Result{}, err
		}
	}
	return s.blocking.Eval(data, b)
}

// TestLaneGoesOn: where the steps of all workers of the lane are given up, others take what
// waits for it, though nothing else happens.
func TestLaneGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang := &swamp{blocking{release: make(chan struct{})}}
		langs := jsonpath.Languages()
		langs["swamp"], langs["costly"] = lang, &costly{}
		s := &refusing{Store: memory.New(), definition: "bad"} // pausing one would be something else
		e, stop := running(t, Config{Store: s, Languages: langs, OnError: func(error) {}},
			poisoned("bad", "swamp", delay(time.Second)), poisoned("hot", "costly", delay(2*time.Second)))
		for range laneWorkers() {
			startOne(t, e, "bad")
		}
		hot := startOne(t, e, "hot")
		s.off.Store(true)
		<-time.After(3 * time.Second)
		if n, a := lang.begun.Load(), e.Activity(); int(n) != laneWorkers() || a.Waiting != 1 {
			t.Fatalf("%d steps are under way, %d wait", n, a.Waiting)
		}
		ctx, cancel := context.WithTimeout(t.Context(), stuckTime)
		defer cancel()
		if got, err := e.Wait(ctx, hot); err != nil || got.Status != core.Completed {
			t.Errorf("what waited for the lane is %s: %v", got.Status, err)
		}
		close(lang.release)
		stop()
	})
}
