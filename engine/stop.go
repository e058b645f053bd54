package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/core"
)

// controlTime is how long an intervention waits for its turn with an instance
// ("control-time"): a step that is under way may not end.
const controlTime = 20 * time.Second

// BusyError says that an intervention did not get its turn: a step of the instance is
// under way and does not end.
type BusyError struct{ ID string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("instance %s is busy: its step did not end within %s, and could not be stopped (limit control-time); nothing changed", e.ID, controlTime)
}

// stop is what ends a step of an instance before its time: whoever wants it goes away,
// the process ends, or somebody intervenes.
func (e *Engine) stop(ctx context.Context, l *live) func() bool {
	return func() bool {
		select {
		case <-e.aborted:
			return true
		default:
			return l.halt.Load() > 0 || ctx.Err() != nil
		}
	}
}

// again reports whether a step was stopped for somebody else's sake, so that it is to be
// done once they had their turn.
func (e *Engine) again(ctx context.Context, err error) bool {
	if !errors.Is(err, core.ErrStopped) || ctx.Err() != nil {
		return false
	}
	select {
	case <-e.aborted:
		return false
	default:
		return true
	}
}

// acquireFor locks an instance for what it is to be given. Who intervenes does not wait
// for ever, and not for a step that it makes needless: that is stopped, and its state
// discarded.
func (e *Engine) acquireFor(ctx context.Context, id string, in core.Input) (*live, error) {
	c, ok := in.(core.Control)
	if !ok {
		return e.live.acquire(id), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, controlTime, &BusyError{id})
	defer cancel()
	l := e.live.enter(id)
	switch c.Verb {
	case core.VerbTerminate, core.VerbCancel, core.VerbSuspend:
		l.halt.Add(1)
		defer l.halt.Add(-1)
	}
	if err := l.mu.LockWithin(ctx); err != nil {
		e.live.leave(l, true, 0)
		return nil, err
	}
	return l, nil
}
