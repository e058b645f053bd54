package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// Why a run ended without a result; explain turns them into words.
var (
	errTimeout = errors.New("the run took too long")
	errStuck   = errors.New("nothing more can happen")
)

// endError is an instance that is over, but not well.
type endError struct{ row engine.Instance }

func (e *endError) Error() string { return "the instance is " + string(e.row.Status) }

// run starts the workflow and follows it until its first instance is over.
func (s *session) run(ctx context.Context) (result, error) {
	if s.first().Job {
		return s.runJob(ctx)
	}
	if len(s.first().Start.Events) == 0 {
		id, err := s.engine.Start(ctx, engine.StartRequest{Definition: s.first().ID, Input: s.input})
		if err != nil {
			return result{}, err
		}
		s.mu.Lock()
		s.instance = id
		s.mu.Unlock()
	}
	s.asking = ctx
	if s.virtual != nil {
		return s.runVirtual(ctx)
	}
	return s.runReal(ctx)
}

// runVirtual moves the clock from one instant with work to the next.
func (s *session) runVirtual(ctx context.Context) (result, error) {
	if s.events.stream != nil {
		if err := s.events.readAll(); err != nil {
			return result{}, err
		}
	}
	deadline, limited := s.flags.timeout.deadline(s.clock.Now())
	for {
		if _, err := s.engine.Poll(ctx); err != nil {
			return result{}, err
		}
		if r, over, err := s.over(ctx); over || err != nil {
			return r, err
		}
		now := s.clock.Now()
		next, ok := s.engine.Next()
		if ok && !next.After(now) {
			continue
		}
		if sent, err := s.send(ctx, now); sent || err != nil {
			if err != nil {
				return result{}, err
			}
			continue
		}
		if at, more := s.events.next(); more && (!ok || at.Before(next)) {
			next, ok = at, true
		}
		switch {
		case !ok:
			return result{}, errStuck
		case limited && next.After(deadline):
			return result{}, errTimeout
		}
		s.virtual.Advance(next)
	}
}

// idleCheck is how often a run under the real clock looks whether it can still get on.
const idleCheck = 10 * time.Millisecond

// runReal lets the engine run by itself, sends events when their time comes, and
// looks whether the end is reached, or cannot be.
func (s *session) runReal(ctx context.Context) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if deadline, limited := s.flags.timeout.deadline(s.clock.Now()); limited {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, deadline, errTimeout)
		defer stop()
	}
	s.asking = ctx
	lines := make(chan line)
	if s.events.stream != nil {
		go s.events.read(ctx, lines)
	} else {
		lines = nil
	}
	failed := make(chan error, 1)
	var engine sync.WaitGroup
	engine.Go(func() { failed <- s.engine.Run(ctx) })
	defer func() { // a command that a call runs must not outlive us
		cancel()
		s.engine.Abort()
		engine.Wait()
	}()
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	asking := context.WithoutCancel(ctx) // who asks when the time is up still gets an answer
	for {
		if _, err := s.send(asking, s.clock.Now()); err != nil {
			return result{}, err
		}
		if r, over, err := s.over(asking); over || err != nil {
			return r, err
		}
		if s.stuck() {
			_, _, before := s.seen()
			// It may have ended, or stopped, between the questions.
			if r, over, err := s.over(asking); over || err != nil {
				return r, err
			}
			if _, _, after := s.seen(); before == after {
				return result{}, errStuck
			}
		}
		select {
		case <-ctx.Done():
			return result{}, context.Cause(ctx)
		case err := <-failed:
			return result{}, errors.Join(err, context.Cause(ctx))
		case l, open := <-lines:
			if !open {
				lines, s.events.stream = nil, nil
			} else if err := s.events.take(l); err != nil {
				return result{}, err
			}
		case <-tick.C:
		}
	}
}

// stuck reports whether nothing can happen any more. A call that comes back between
// the questions leaves a record, and so does work that ends, so the last of them tells.
func (s *session) stuck() bool {
	if !s.events.over() {
		return false
	}
	_, _, before := s.seen()
	if _, ok := s.engine.Next(); ok {
		return false
	}
	if s.engine.InFlight() > 0 || s.engine.Working() > 0 {
		return false
	}
	if _, ok := s.engine.Next(); ok {
		return false
	}
	_, _, after := s.seen()
	return before == after
}

// send sends the events that are due.
func (s *session) send(ctx context.Context, now time.Time) (sent bool, err error) {
	for _, ev := range s.events.due(now) {
		sent = true
		if _, err := s.engine.Send(ctx, ev); err != nil {
			return true, err
		}
		if s.virtual != nil { // one after the other, as they would arrive
			if _, err := s.engine.Poll(ctx); err != nil {
				return true, err
			}
		}
	}
	return sent, nil
}

// over tells whether the run has reached its end.
func (s *session) over(ctx context.Context) (result, bool, error) {
	if err := s.step(ctx); err != nil {
		return result{}, false, err
	}
	id, reached, _ := s.seen()
	if id == "" {
		return result{}, false, nil
	}
	if reached != nil {
		return result{id, *reached}, true, nil
	}
	row, err := s.engine.Get(ctx, id)
	switch {
	case err != nil:
		return result{}, false, err
	case row.Quarantine != "":
		return result{}, false, &engine.QuarantineError{ID: id, Reason: row.Quarantine}
	case row.PauseReason != "":
		return result{}, false, fmt.Errorf("instance %s paused, %s: its expressions do too much work without waiting (limit work-without-waiting)", id, row.PauseReason)
	case row.Status == core.Completed && s.flags.until == "":
		return result{id, row.Output}, true, nil
	case row.Status.Final():
		return result{}, false, &endError{row}
	}
	return result{}, false, nil
}
