package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

const (
	// controlTime is how long a caller waits for its turn with an instance ("control-time"): a
	// step that is under way may not end.
	controlTime = 20 * time.Second
	// laneWork is how many steps of expressions the inputs of one commit may take outside of the
	// expensive lane ("lane-work"): a few milliseconds.
	laneWork = 65_536
	// turnWork is how many steps of expressions the inputs of one commit may take before the
	// rest of them waits for the next turn ("turn-work").
	turnWork = 1_000_000
)

// BusyError says that a caller did not get its turn: a step of the instance, or its commit, is
// under way and does not end.
type BusyError struct{ ID string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("instance %s is busy: its step, or the commit of that, did not end within %s (limit control-time); nothing changed", e.ID, controlTime)
}

// TooLongError says that a step of an instance was stopped because it took too long. Nothing
// changed.
type TooLongError struct{ ID string }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("a step of instance %s was stopped after %s (limit step-time); nothing changed", e.ID, stepTime)
}

// Why a step was stopped, or the rest of the inputs was not given.
var (
	errExpensive   = errors.New("the step is for the expensive lane")
	errInterrupted = errors.New("the step was interrupted: a caller waits for the instance")
	errUnfinished  = errors.New("some inputs wait for the next turn")
)

// stoppedError is a step that was stopped, and why. Its state was discarded.
type stoppedError struct{ why error }

func (e *stoppedError) Error() string   { return e.why.Error() }
func (e *stoppedError) Unwrap() []error { return []error{core.ErrStopped, e.why} }

// step runs one step of the core. If stop says so, the step is stopped and its work discarded; then the
// error is a *stoppedError.
func (f *fold) step(ctx context.Context, in core.Input) (res core.Result, err error) {
	w := f.e.watchdog.begin(f.l)
	defer func() {
		if !w.end() { // others work on the instance by now: this must not be committed
			err = &stoppedError{&BusyError{f.l.id}}
		}
	}()
	f.asks = 0
	host := core.Host{ID: f.l.id, Created: f.l.row.Created, Awaited: f.l.row.Awaited, Identity: f.identity()}
	host.Parks = f.e.parking
	if f.l.secrets != nil {
		host.Secrets, host.Sealer = f.l.secrets.Values, f.l.secrets
	}
	host.Stop = func() bool {
		f.stopped = f.stop(ctx, w)
		return f.stopped != nil
	}
	res, err = core.StepFor(host, f.l.prog, f.l.state, f.now, in)
	if f.work += res.Spent; errors.Is(err, core.ErrStopped) {
		err = &stoppedError{f.stopped}
	}
	return res, err
}

// stop returns why a step must be stopped: its caller is gone, the process ends, it takes too long, a
// user intervenes, or it belongs into the lane for expensive steps.
func (f *fold) stop(ctx context.Context, w *watched) error {
	f.asks++
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case w.late.Load():
		return &TooLongError{f.l.id}
	case f.e.cfg.Inline:
		return nil
	case f.l.how != onRequest && f.l.urgent.Load() > 0:
		return errInterrupted
	case f.work+(f.asks-1)*expr.StopEvery > laneWork && (f.l.how == ordinary || f.others):
		return errExpensive
	}
	return nil
}

// enough reports whether the rest of the inputs is to wait: the instance had its turn, or a
// caller waits for it. With Inline there are no others.
func (f *fold) enough() bool {
	if f.e.cfg.Inline {
		return false
	}
	return f.work >= turnWork || f.l.how != onRequest && f.l.urgent.Load() > 0
}

// isExpensive reports whether an instance is the expensive lane's: its last step did not come
// to an end.
func (e *Engine) isExpensive(l *live) bool {
	return l.how == ordinary && l.row.More && !e.cfg.Inline
}
