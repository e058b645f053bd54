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

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
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

func startOne(t *testing.T, e *Engine, definition string) string {
	t.Helper()
	id, err := e.Start(context.Background(), StartRequest{Definition: definition})
	if err != nil {
		t.Fatal(err)
	}
	return id
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
		if t.Failed() { // else what follows runs the step, too
			close(lang.release)
			stop()
			return
		}
		if a := e.Activity(); a.Step < stuckTime || a.Pass != 0 || a.LastPass.IsZero() {
			t.Errorf("%+v", a)
		}
		if why := e.Ready(t.Context()); len(why) != 1 || why[0].Code != "no-progress" || !strings.Contains(why[0].Text, bad) {
			t.Errorf("not ready: %v", why)
		}
		if got, err := e.Wait(t.Context(), startOne(t, e, "brief")); err != nil || got.Status != core.Completed {
			t.Errorf("another is %s: %v", got.Status, err)
		}
		mu.Lock()
		if !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, bad) && strings.Contains(s, "suspect") }) {
			t.Errorf("told: %q", told)
		}
		mu.Unlock()
		if row, err := e.Get(t.Context(), bad); err != nil || row.PauseReason != core.TooExpensive {
			t.Errorf("it is paused because of %q: %v", row.PauseReason, err)
		}
		if err := e.Control(t.Context(), bad, core.Control{Verb: core.VerbTerminate}); err != nil {
			t.Error(err)
		}
		close(lang.release)
		at(watchTick, "[]", "", core.Terminated)
		if why := e.Ready(t.Context()); len(why) != 0 {
			t.Errorf("not ready: %v", why)
		}
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
		begin := time.Now()
		if err := e.Control(ctx, bad, core.Control{Verb: core.VerbTerminate}); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("with a time limit of a second, after %s: %v", time.Since(begin), err)
		}
		begin = time.Now()
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
		if t.Failed() {
			t.FailNow() // the step would be begun, here
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

// refusing is a store that takes no commits of one definition's instances while it is off.
type refusing struct {
	store.Store
	definition string
	off        atomic.Bool
}

func (s *refusing) Commit(ctx context.Context, c store.Commit) error {
	if s.off.Load() && c.Instance.Definition == s.definition {
		return errors.New("refused")
	}
	return s.Store.Commit(ctx, c)
}

// TestSuspectThatCannotBePaused: it is tried again before long though nothing else happens, and
// not all the time.
func TestSuspectThatCannotBePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang, s := newBlocking(), &refusing{Store: memory.New(), definition: "bad"}
		var tries atomic.Int32
		e, stop := running(t, Config{Store: s, Languages: lang.languages(), OnError: func(err error) {
			if strings.Contains(err.Error(), "refused") {
				tries.Add(1)
			}
		}}, poisoned("bad", "blocking", delay(time.Second)))
		bad := startOne(t, e, "bad")
		<-time.After(2 * time.Second)
		s.off.Store(true)
		<-time.After(stuckTime)
		for range 100 { // others' changes
			e.wakeUp()
			synctest.Wait()
		}
		if n := tries.Load(); n < 1 || n > 5 {
			t.Errorf("it was tried %d times to pause it", n)
		}
		s.off.Store(false)
		<-time.After(longestRest)
		synctest.Wait()
		if row, err := e.Get(t.Context(), bad); err != nil || row.Status != core.Paused {
			t.Errorf("it is %s: %v", row.Status, err)
		}
		close(lang.release)
		stop()
	})
}

// unpaused is a store that takes no pause.
type unpaused struct{ store.Store }

func (s unpaused) Commit(ctx context.Context, c store.Commit) error {
	if c.Instance.Status == core.Paused {
		return errors.New("no pause")
	}
	return s.Store.Commit(ctx, c)
}

// TestLostStepIsNotCommitted: what a step did that was given up is not stored when it returns,
// though nobody else has changed the instance.
func TestLostStepIsNotCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang := newBlocking()
		e, stop := running(t, Config{Store: unpaused{memory.New()}, Languages: lang.languages(), OnError: func(error) {}},
			poisoned("bad", "blocking", delay(time.Second)))
		bad := startOne(t, e, "bad")
		<-time.After(time.Second + stuckTime + 2*watchTick)
		if e.Stuck() == "" {
			t.Error("the step is not given up")
		}
		close(lang.release)
		synctest.Wait()
		if row, err := e.Get(t.Context(), bad); err != nil || row.Status != core.Waiting || row.Rev != 1 {
			t.Errorf("it is %s at revision %d: %v", row.Status, row.Rev, err)
		}
		if why := e.Stuck(); why != "" {
			t.Errorf("stuck: %s", why)
		}
		stop()
	})
}
