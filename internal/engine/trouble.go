package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// firstRest is how long something that failed is left alone; with every failure
	// in a row it is twice as long, up to longestRest.
	firstRest   = time.Second
	longestRest = time.Minute
	// outageRest is how long things are left alone that failed because the store did:
	// longer than Run waits, so that it gets to what is behind them.
	outageRest = 2 * errorPause
	// maxFailures is how often in a row an instance may fail, while others do not,
	// before it is set aside.
	maxFailures = 10
	// maxTooLong is how often in a row a step of an instance may be stopped because it took
	// too long, before the instance is paused.
	maxTooLong = 3
)

// troubles knows what failed lately, so that it does not hold up the rest.
type troubles struct {
	mu    sync.Mutex
	items map[taskKey]trouble
}

type trouble struct {
	failures int // in a row
	until    core.Time
}

// rests reports whether it is too early to try again. A rest that is longer than any
// can be is one that a clock which stepped back left.
func (x trouble) rests(now core.Time) bool {
	return x.until > now && x.until-now <= core.Time(longestRest)
}

// fail notes a failure and returns how many there are in a row.
func (t *troubles) fail(key taskKey, now core.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.items[key]
	rest := longestRest
	if x.failures < 16 {
		rest = min(firstRest<<x.failures, longestRest)
	}
	x.failures++
	x.until = now + core.Time(rest)
	t.items[key] = x
	return x.failures
}

// rest lets something alone that is not to blame.
func (t *troubles) rest(key taskKey, until core.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.items[key] = trouble{t.items[key].failures, until}
}

func (t *troubles) forget(key taskKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.items, key)
}

// sweep forgets what was not tried again though it could have been: it is not there to
// do any more.
func (t *troubles) sweep(now core.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, x := range t.items {
		if late := now - x.until; late > core.Time(longestRest) || -late > core.Time(longestRest) {
			delete(t.items, key)
		}
	}
}

func (t *troubles) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.items)
}

// rested leaves out the tasks that are to be left alone.
func (t *troubles) rested(tasks []task, now core.Time) []task {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.items) == 0 {
		return tasks
	}
	out := tasks[:0]
	for _, x := range tasks {
		if !t.items[x.key].rests(now) {
			out = append(out, x)
		}
	}
	return out
}

// resting tells how long something is to be left alone, if it is.
func (t *troubles) resting(key taskKey, now core.Time) (until core.Time, rests bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.items[key]
	return x.until, x.rests(now)
}

// next is when the first rest ends.
func (t *troubles) next(now core.Time) (at core.Time, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.items {
		if x.rests(now) && (!found || x.until < at) {
			at, found = x.until, true
		}
	}
	return at, found
}

// failure is a task that failed.
type failure outcome

// verdictPause is how long a failure waits for other work that is under way to end, too: what
// became of that tells whether the store fails. It is longer than stores try a write.
const verdictPause = core.Time(10 * time.Second)

// judge decides about what failed: the error is that of a store that fails for everything,
// else each rests by itself.
func (e *Engine) judge(ctx context.Context, done int, now core.Time, tell func(error)) error {
	stored := e.stored.Load()
	quiet := done == 0 && stored == e.storedBefore
	if len(e.failed) == 0 {
		e.storedBefore = stored
		return nil
	}
	if e.judgeBy == 0 || now < e.judgeBy-verdictPause { // the clock may have stepped back
		e.judgeBy = now + verdictPause
	}
	failed := e.failed
	if quiet && e.crew.working() && now < e.judgeBy {
		return nil // not known yet
	}
	e.storedBefore = stored
	e.failed, e.judgeBy = nil, 0
	defer e.crew.judged(failed)
	if quiet {
		if err := e.outage(failed, now); err != nil {
			return err
		}
	}
	for _, f := range failed {
		tell(e.delayRetry(ctx, f, now))
	}
	return nil
}

// dismiss forgets what failed because everything ends.
func (e *Engine) dismiss() {
	e.crew.judged(e.failed)
	e.failed, e.judgeBy = nil, 0
}

// outage is the error of a store that fails for everything: several things were to be
// done, none could be, and nothing else was stored since the pass before. One thing
// that fails alone has trouble of its own.
func (e *Engine) outage(failed []failure, now core.Time) error {
	if len(failed) < 2 {
		return nil
	}
	for _, f := range failed {
		var broken *brokenError
		var beyond *UnloadableError
		var long *TooLongError
		if errors.As(f.err, &broken) || errors.As(f.err, &beyond) || errors.As(f.err, &long) || isNoSecret(f.err) || errors.Is(f.err, store.ErrConflict) {
			return nil
		}
	}
	for _, f := range failed {
		e.troubles.rest(f.task.key, now+core.Time(outageRest))
	}
	return fmt.Errorf("all of %d things to do fail, the first: %w", len(failed), failed[0].err)
}

// delayRetry delays the retry of what failed. An instance that broke an invariant, or that failed
// too often in a row, is set aside; one whose steps take too long is paused.
func (e *Engine) delayRetry(ctx context.Context, f failure, now core.Time) error {
	n := e.troubles.fail(f.task.key, now)
	var busy *BusyError
	if f.task.instance == "" || errors.Is(f.err, store.ErrConflict) || errors.As(f.err, &busy) {
		return f.err // a lost compare-and-set is not a failure of the instance
	}
	if beyond := (*UnloadableError)(nil); errors.As(f.err, &beyond) || isNoSecret(f.err) {
		return f.err // it goes on where its definition can be loaded, and its secrets are
	}
	var broken *brokenError
	var long *TooLongError
	var err error
	switch {
	case errors.As(f.err, &broken):
		err = e.quarantine(ctx, f.task.instance, broken)
	case errors.As(f.err, &long):
		if n < maxTooLong {
			return f.err
		}
		err = e.pauseExpensive(ctx, f.task.instance, true)
	case n >= maxFailures:
		err = e.quarantine(ctx, f.task.instance, &brokenError{fmt.Errorf("it failed %d times in a row: %w", n, f.err)})
	default:
		return f.err
	}
	if err != nil {
		return errors.Join(f.err, err)
	}
	e.troubles.forget(f.task.key)
	return f.err
}

// quarantine sets an instance aside from outside of a step.
func (e *Engine) quarantine(ctx context.Context, id string, cause *brokenError) error {
	l, err := e.seize(ctx, id)
	if err != nil {
		return fmt.Errorf("quarantine instance %s: %w", id, err)
	}
	defer e.live.release(l)
	l.forget()
	if l.row, err = e.store.Instance(ctx, id); err != nil {
		return fmt.Errorf("quarantine instance %s: %w", id, err)
	}
	return e.setAside(ctx, l, cause, nil)
}

// seize locks an instance for a pass, which does not wait for others for long.
func (e *Engine) seize(ctx context.Context, id string) (*live, error) {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return e.live.acquire(soon, id, onRequest)
}

// brokenError says that an invariant does not hold: the instance needs a person.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

func isBroken(err error) bool {
	_, ok := errors.AsType[*brokenError](err)
	return ok
}

// guard makes a panic a brokenError: it is one instance's trouble, or one event's.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &brokenError{fmt.Errorf("panic: %v\n%s", r, debug.Stack())}
		}
	}()
	return f()
}
