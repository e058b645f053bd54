package engine

import (
	"context"
	"fmt"
	"time"
)

const (
	// drainTime is how long Run waits for calls in flight once it is told to end.
	drainTime = 10 * time.Second
	// abortTime is how long it waits for what it then gave up.
	abortTime = 2 * time.Second
	// errorPause is how long Run waits when the store fails, unless something happens
	// before: then it may work again.
	errorPause = time.Second
)

// Run polls until ctx ends. Then it begins nothing any more, waits for the calls in
// flight and commits their answers; calls that take too long, and all of them once
// Abort was called, are given up and made again by the next process. So are steps, of
// which nothing is stored. What goes wrong is told to Config.OnError.
func (e *Engine) Run(ctx context.Context) error {
	calls, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	guarded, unguard := context.WithCancel(context.WithoutCancel(ctx))
	defer unguard()
	go e.guardSteps(guarded)
	leave := e.join(ctx)
	background := e.background(ctx)
	if !e.cfg.Inline {
		e.begins.set(calls)
	}
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		e.keepPolling(ctx, calls)
	}()
	<-ctx.Done()
	late, stop := e.cfg.Clock.After(drainTime)
	defer stop()
	inTime := func(done <-chan struct{}) bool {
		select {
		case <-done:
			return true
		case <-late:
		case <-e.aborted:
		}
		return false
	}
	drained := inTime(polled)
	e.begins.end()
	background.Go(leave) // what has no call in flight is another's at once
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-polled
		e.calls.wg.Wait()
		<-e.crew.over()
		background.Wait()
	}()
	if drained && inTime(ended) {
		return nil
	}
	abort()
	given, stopGiven := e.cfg.Clock.After(abortTime)
	defer stopGiven()
	select {
	case <-ended:
	case <-given:
		e.report(fmt.Errorf("the engine ends without waiting any longer%s", e.unended()))
	}
	return nil
}

// keepPolling polls until ctx ends.
func (e *Engine) keepPolling(ctx, calls context.Context) {
	for ctx.Err() == nil {
		progress, err := e.poll(ctx, calls, patience, e.report)
		pause := time.Duration(-1)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			e.report(err)
			pause = errorPause
		case progress:
			e.lookAfter(true)
			continue
		case e.shared != nil:
			pause = e.lookAfter(false)
			if at, ok := e.later(ctx, e.now()); ok {
				pause = min(pause, max(0, at.Sub(e.cfg.Clock.Now())))
			}
		default:
			if at, ok := e.Next(); ok {
				pause = max(0, at.Sub(e.cfg.Clock.Now()))
			}
		}
		e.rest(ctx, pause)
	}
}

// unended says what has not ended when the engine does.
func (e *Engine) unended() string {
	if steps := e.watchdog.under(); steps != "" {
		return ": a step of " + steps + " has not returned, and nothing of it is stored"
	}
	if n := e.InFlight(); n > 0 {
		return fmt.Sprintf(": %d calls have not returned, and are made again", n)
	}
	return ""
}

// rest waits for the given time, or without end if it is negative, until something
// may be there to do.
func (e *Engine) rest(ctx context.Context, pause time.Duration) {
	var alarm <-chan time.Time
	if pause >= 0 {
		var stop func()
		alarm, stop = e.cfg.Clock.After(pause)
		defer stop()
	}
	select {
	case <-ctx.Done():
	case <-alarm:
	case <-e.signal:
	}
}

// Abort lets a Run that is told to end give up the calls in flight at once. It is for
// those who do not come back: nobody makes the calls again.
func (e *Engine) Abort() { e.abort.Do(func() { close(e.aborted) }) }
