package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// posted is an input on its way to an instance: the answer to a call, or what someone
// asks of a job.
type posted struct {
	in   input
	done atomic.Bool
	err  error // once it is done
}

// maxPosted and maxPostedBytes bound the posted inputs that go into one commit.
const (
	maxPosted      = 256
	maxPostedBytes = 1 << 20 // if they are more than one
)

// post gives an instance an input. Those that come while a commit is under way go
// together into the next one: a wide fan whose calls return at once, or a job that many
// write to, does not wait for the disk once for each.
func (e *Engine) post(ctx context.Context, id string, in input) error {
	for {
		l := e.live.enter(id)
		mine := &posted{in: in}
		l.box.Lock()
		l.posted = append(l.posted, mine)
		l.box.Unlock()
		err := e.live.wait(ctx, l, in.how())
		if err == nil {
			// It is not only the caller's.
			for !mine.done.Load() && e.applyPosted(context.WithoutCancel(ctx), l) {
			}
			l.unpost(mine)
			e.live.release(l)
			if mine.done.Load() {
				return mine.err
			}
			continue // the instance was given up, which is then another's
		}
		alone := l.unpost(mine)
		e.live.leave(l)
		var busy *BusyError
		switch {
		case mine.done.Load():
			return mine.err
		case errors.Is(err, errGone) && in.ask != nil && in.ask.settled: // by a commit before the step that was lost
			return nil
		case errors.Is(err, errGone): // what a lost step was given is not committed
		case !alone && errors.As(err, &busy):
			return fmt.Errorf("instance %s: %w: its commit did not end within %s (limit control-time)", id, store.ErrUncertain, controlTime)
		case !alone:
			return fmt.Errorf("instance %s: %w: %w", id, store.ErrUncertain, err)
		default:
			return err
		}
	}
}

// applyPosted applies what was posted, as one commit. It reports false where there is nothing.
// The caller has the lock.
func (e *Engine) applyPosted(ctx context.Context, l *live) bool {
	batch := l.takePosted()
	if len(batch) == 0 {
		return false
	}
	extra := make([]input, len(batch))
	now := e.now()
	l.how = ordinary
	for i, p := range batch {
		extra[i] = p.in
		extra[i].extra = i + 1
		if p.in.ask != nil {
			extra[i].at = now // they keep the order in which they came
		}
		l.how = max(l.how, p.in.how())
	}
	err := e.applyUntil(ctx, l, extra)
	for _, p := range batch {
		p.err = err
		p.done.Store(true)
	}
	return true
}

// how says whether a caller waits for the result of an input.
func (in *input) how() mode {
	if in.ask != nil || in.taken != nil {
		return onRequest
	}
	return ordinary
}

// unpost takes back an input. It reports false if the holder of the lock took it.
func (l *live) unpost(mine *posted) bool {
	l.box.Lock()
	defer l.box.Unlock()
	before := len(l.posted)
	l.posted = slices.DeleteFunc(slices.Clone(l.posted), func(p *posted) bool { return p == mine })
	return len(l.posted) < before
}

// takePosted takes the inputs for one commit. An input with a revision must be the first: nothing may
// come between the revision and the input. If the instance was given up, nothing is taken, and the
// callers post their inputs again.
func (l *live) takePosted() []*posted {
	l.box.Lock()
	defer l.box.Unlock()
	select {
	case <-l.gone:
		return nil
	default:
	}
	n, bytes := min(len(l.posted), maxPosted), 0
	for i := 0; i < n; i++ {
		a := l.posted[i].in.ask
		if a == nil {
			continue
		}
		if bytes += a.bytes; i > 0 && (a.rev != 0 || bytes > maxPostedBytes) {
			n = i
		}
	}
	batch := l.posted[:n]
	l.posted = l.posted[n:]
	return batch
}
