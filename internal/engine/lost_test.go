package engine

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// TestLockOfALostStep: nobody gets the lock of an instance whose step was given up, though that
// returns at the same time: others have another one, and memory would not be what is stored.
func TestLockOfALostStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, stop := running(t, Config{}, build("w").main(delay(time.Hour)))
		id := startOne(t, e, "w")
		lost, err := e.live.acquire(t.Context(), id, ordinary)
		if err != nil {
			t.Fatal(err)
		}
		const waiting = 50
		step, got := e.watchdog.begin(lost), make(chan *live)
		for range waiting {
			go func() {
				l, err := e.live.acquire(t.Context(), id, ordinary)
				if err != nil {
					t.Error(err)
				}
				got <- l
			}()
		}
		synctest.Wait()
		late := e.live.enter(id)
		for range stuckTime / watchTick {
			e.watchdog.count(e.giveUpStep)
		}
		if step.end() {
			t.Error("the step was not given up")
		}
		e.live.release(lost)
		if err := e.live.wait(t.Context(), late, ordinary); late != lost || err != errGone {
			t.Errorf("who comes late gets the lock of a lost step: %v", err)
		}
		e.live.leave(late)
		for range waiting {
			l := <-got
			if l == lost {
				t.Error("the lock of a lost step was given to another")
			}
			e.live.release(l)
		}
		stop()
	})
}

// TestInputsOfASuspect: until it is paused, nothing runs the step again that was given up. Whoever
// waited for it is told so; only ending it is done at once.
func TestInputsOfASuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang := newBlocking()
		e, stop := running(t, Config{Store: unpaused{memory.New()}, Languages: lang.languages(), OnError: func(error) {}},
			poisoned("bad", "blocking", delay(time.Second)))
		bad := startOne(t, e, "bad")
		<-time.After(2 * time.Second)
		waiting := map[string]func() error{
			"choose":          func() error { return e.Take(t.Context(), bad, core.Take{}) },
			"resume":          func() error { return e.Control(t.Context(), bad, core.Control{Verb: core.VerbResume}) },
			"end at revision": func() error { return e.ControlAt(t.Context(), bad, core.Control{Verb: core.VerbTerminate}, 1) },
			"answer": func() error {
				return e.post(t.Context(), bad, input{in: core.Reply{Ticket: 1}, at: e.now(), call: 1})
			},
		}
		type answer struct {
			name string
			err  error
		}
		told := make(chan answer, len(waiting))
		for name, ask := range waiting {
			go func() { told <- answer{name, ask()} }()
		}
		<-time.After(stuckTime + 2*watchTick)
		synctest.Wait()
		if len(told) != len(waiting) || lang.begun.Load() != 1 {
			t.Errorf("%d of %d are answered; the step was begun %d times", len(told), len(waiting), lang.begun.Load())
		}
		for range len(told) {
			var busy *BusyError
			if a := <-told; !errors.As(a.err, &busy) {
				t.Errorf("%s: %v", a.name, a.err)
			}
		}
		if err := e.Control(t.Context(), bad, core.Control{Verb: core.VerbTerminate}); err != nil {
			t.Error(err)
		}
		close(lang.release)
		synctest.Wait()
		if row, err := e.Get(t.Context(), bad); err != nil || row.Status != core.Terminated || row.Rev != 2 {
			t.Errorf("it is %s at revision %d: %v", row.Status, row.Rev, err)
		}
		stop()
	})
}

// TestPausingDoesNotHelp: what comes for a paused instance is evaluated all the same. One whose
// step does not end then is set aside, so that no more of them are begun.
func TestPausingDoesNotHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lang := newBlocking()
		b := build("bad")
		op := await("Wait", 0, b.event("go"))
		op.op.(*ir.Await).Arms[0].Put.Pick.Expr = b.expr("blocking", "")
		e, stop := running(t, Config{Languages: lang.languages(), OnError: func(error) {}}, b.main(op))
		bad := startOne(t, e, "bad")
		if _, err := e.Send(t.Context(), ev(t, `go e1 {}`)); err != nil {
			t.Fatal(err)
		}
		at := func(d time.Duration, aside string, begun int32) {
			t.Helper()
			<-time.After(d)
			synctest.Wait()
			row, err := e.Get(t.Context(), bad)
			if err != nil || row.Status != core.Paused || !strings.Contains(row.Quarantine, aside) || (aside == "") != (row.Quarantine == "") || lang.begun.Load() != begun {
				t.Errorf("it is %s %q after %d steps: %v", row.Status, row.Quarantine, lang.begun.Load(), err)
			}
		}
		at(stuckTime+2*watchTick, "", 2)
		at(stuckTime+2*watchTick, "though it is paused", 2)
		at(10*time.Minute, "though it is paused", 2)
		if t.Failed() {
			close(lang.release)
			stop()
			return
		}
		if err := e.Control(t.Context(), bad, core.Control{Verb: core.VerbTerminate}); err != nil {
			t.Error(err)
		}
		close(lang.release)
		synctest.Wait()
		if row, err := e.Get(t.Context(), bad); err != nil || row.Status != core.Terminated {
			t.Errorf("it is %s: %v", row.Status, err)
		}
		stop()
	})
}
