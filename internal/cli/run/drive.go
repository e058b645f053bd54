package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// Why a run ended without a result; explain describes them.
var (
	errTimeout = errors.New("the run took too long")
	errStuck   = errors.New("nothing more can happen")
)

// endError is an instance that ended without completing.
type endError struct{ row engine.Instance }

func (e *endError) Error() string { return "the instance is " + string(e.row.Status) }

// run starts the workflow and follows it until its first instance has ended.
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
	for _, e := range s.events.pending {
		s.trial.At(e.at, func(ctx context.Context) error { return s.send(ctx, e.at) })
	}
	s.trial.Until, _ = s.flags.timeout.Deadline(s.clock.Now())
	for {
		if err := s.trial.Poll(ctx); err != nil {
			return result{}, err
		}
		if r, over, err := s.over(ctx); over || err != nil {
			return r, err
		}
		more, err := s.trial.Advance(ctx)
		if err != nil {
			return result{}, err
		}
		if !more {
			if _, later := s.trial.Next(); later {
				return result{}, errTimeout
			}
			return result{}, errStuck
		}
	}
}

// idleCheck is how often a run under the real clock checks whether it can still make progress.
const idleCheck = 10 * time.Millisecond

// runReal runs the engine, sends events when they are due, and checks whether the run has ended or is stuck.
func (s *session) runReal(ctx context.Context) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if deadline, limited := s.flags.timeout.Deadline(s.clock.Now()); limited {
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
	defer func() { // the command of a call must not outlive the program
		cancel()
		s.engine.Abort()
		engine.Wait()
	}()
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	asking := context.WithoutCancel(ctx) // reads must work after the timeout, too
	for {
		if err := s.send(asking, s.clock.Now()); err != nil {
			return result{}, err
		}
		if r, over, err := s.over(asking); over || err != nil {
			return r, err
		}
		if s.stuck() {
			_, _, before := s.seen()
			// It may have ended, or stopped, between the checks.
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

// stuck reports whether nothing can happen any more. A call or a step that ends between the checks leaves a
// record, so the number of records decides.
func (s *session) stuck() bool {
	if !s.events.over() {
		return false
	}
	_, _, before := s.seen()
	if _, ok := s.engine.Next(); ok {
		return false
	}
	if s.engine.Underway() > 0 || s.engine.Working() > 0 {
		return false
	}
	if _, ok := s.engine.Next(); ok {
		return false
	}
	_, _, after := s.seen()
	return before == after
}

// send sends the events that are due.
func (s *session) send(ctx context.Context, now time.Time) error {
	for _, ev := range s.events.due(now) {
		if _, err := s.engine.Send(ctx, ev); err != nil {
			return err
		}
		if s.virtual != nil { // one at a time, as they would arrive
			if err := s.trial.Poll(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// over reports whether the run has ended.
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
