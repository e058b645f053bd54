package engine

import (
	"context"
	"time"
)

const (
	// drainTime is how long Run waits for calls in flight once it is told to end.
	drainTime = 10 * time.Second
	// errorPause is how long Run waits when the store fails, unless something happens
	// before: then it may work again.
	errorPause = time.Second
)

// Run polls until ctx ends. Then it begins nothing any more, waits for the calls in
// flight and commits their answers; calls that take too long, and all of them once
// Abort was called, are given up and made again by the next process. What goes wrong
// is told to Config.OnError.
func (e *Engine) Run(ctx context.Context) error {
	calls, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	leave := e.join(ctx)
	background := e.background(ctx)
	if !e.cfg.Inline {
		e.begins.set(calls)
	}
	for ctx.Err() == nil {
		progress, err := e.poll(ctx, calls, e.report)
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
	e.begins.end()
	background.Go(leave) // what has no call in flight is another's at once
	e.drain(abort)
	background.Wait()
	return nil
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

// drain waits for the calls in flight.
func (e *Engine) drain(abort func()) {
	landed := make(chan struct{})
	go func() {
		e.calls.wg.Wait()
		close(landed)
	}()
	late, stop := e.cfg.Clock.After(drainTime)
	defer stop()
	select {
	case <-landed:
		return
	case <-late:
	case <-e.aborted:
	}
	abort()
	<-landed
}

// Abort lets a Run that is told to end give up the calls in flight at once. It is for
// those who do not come back: nobody makes the calls again.
func (e *Engine) Abort() { e.abort.Do(func() { close(e.aborted) }) }
