package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// TestPostedAndGivenUp: what was posted to an instance whose step is then given up is applied
// once: again where the lost step had it, and not again where a commit before that did.
func TestPostedAndGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		before func(l *live, a *ask)
		again  bool
	}{
		"not taken":  {func(*live, *ask) {}, true},
		"lost":       {func(l *live, _ *ask) { l.takePosted() }, true},
		"committed":  {func(l *live, _ *ask) { l.takePosted()[0].done.Store(true) }, false},
		"settled":    {func(l *live, a *ask) { l.takePosted(); a.settled = true }, false},
		"taken late": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, stop := running(t, Config{}, build("w").main(delay(time.Hour)))
				defer stop()
				id := startOne(t, e, "w")
				l, err := e.live.acquire(t.Context(), id, ordinary)
				if err != nil {
					t.Fatal(err)
				}
				a := &ask{input: func(*core.State) (core.Input, error) { return nil, nil }}
				over := make(chan error)
				go func() { over <- e.post(t.Context(), id, input{at: e.now(), ask: a}) }()
				synctest.Wait()
				if c.before != nil {
					c.before(l, a)
				}
				e.live.giveUp(l)
				if got := l.takePosted(); c.before == nil && got != nil {
					t.Errorf("%d inputs were taken after that", len(got))
				}
				if err := <-over; err != nil {
					t.Error(err)
				}
				if missing := new(*NotFoundError); errors.As(a.err, missing) != c.again { // w is no job
					t.Errorf("whoever asks is told %v", a.err)
				}
				e.live.release(l)
			})
		})
	}
}

// TestPostWhileStoreIsSlow: who does not get its turn is told that nothing changed only where
// nothing can have.
func TestPostWhileStoreIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{Store: memory.New(), definition: "w", release: make(chan struct{})}
		e, stop := running(t, Config{Store: s}, build("w").main(delay(time.Hour)))
		id := startOne(t, e, "w")
		post := func(verb core.Verb) <-chan error {
			over := make(chan error, 1)
			go func() {
				over <- e.post(context.Background(), id, input{in: core.Control{Verb: verb}, at: e.now()})
			}()
			synctest.Wait()
			return over
		}
		l, err := e.live.acquire(t.Context(), id, ordinary)
		if err != nil {
			t.Fatal(err)
		}
		first, second := post(core.VerbSuspend), post(core.VerbResume) // they share a commit
		s.on.Store(true)
		e.live.release(l)
		synctest.Wait()
		third := post(core.VerbTerminate)
		var busy *BusyError
		if err := <-second; !errors.Is(err, store.ErrUncertain) || errors.As(err, &busy) {
			t.Errorf("whose commit is under way is told %v", err)
		}
		if err := <-third; !errors.As(err, &busy) || errors.Is(err, store.ErrUncertain) {
			t.Errorf("who waits for the commit is told %v", err)
		}
		close(s.release)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if row, err := e.Get(t.Context(), id); err != nil || row.Status != core.Waiting || row.Rev != 2 {
			t.Errorf("it is %s at revision %d: %v", row.Status, row.Rev, err)
		}
		stop()
	})
}
