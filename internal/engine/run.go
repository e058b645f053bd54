package engine

import (
	"context"
	"fmt"
	"time"
)

const (
	// drainTime is how long Run waits for calls in flight after ctx ends.
	drainTime = 10 * time.Second
	// abortTime is how long Run then waits for the calls that it cancelled.
	abortTime = 2 * time.Second
	// errorPause is how long Run waits after an error of the store. New work ends the pause
	// early: it is a sign that the store works again.
	errorPause = time.Second
)

// Run polls until ctx ends. Then it begins nothing new, waits for the calls in flight and
// commits their answers. Calls that take longer than drainTime, and all of them once Abort is
// called, are cancelled and made again by the next process. Steps are given up likewise;
// nothing of them is stored. Errors go to Config.OnError.
func (e *Engine) Run(ctx context.Context) error {
	calls, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	guarded, unguard := context.WithCancel(context.WithoutCancel(ctx))
	defer unguard()
	go e.guardSteps(guarded)
	defer e.storeLastTallies(ctx)
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
	background.Go(leave) // other nodes take over at once what has no call in flight here
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
		e.report(fmt.Errorf("the engine ends without waiting any longer%s", e.unfinished()))
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
			e.idlePause(true)
			continue
		case e.shared != nil:
			pause = e.idlePause(false)
			if at, ok := e.laterHere(ctx); ok {
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

// unfinished names the steps or calls that are still running when the engine ends.
func (e *Engine) unfinished() string {
	if steps := e.watchdog.running(); steps != "" {
		return ": a step of " + steps + " has not returned, and nothing of it is stored"
	}
	if n := e.Underway(); n > 0 {
		return fmt.Sprintf(": %d calls have not returned, and are made again", n)
	}
	return ""
}

// rest waits until there may be work, at most for pause; a negative pause is no limit.
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

// Abort makes a Run whose ctx ended cancel the calls in flight at once, without waiting for
// drainTime. The next process makes them again.
func (e *Engine) Abort() { e.abort.Do(func() { close(e.aborted) }) }
