package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
)

const (
	// batch is how many items of one kind a pass takes.
	batch = 1024
	// maxPasses is how often work may make more work at one instant ("poll-passes").
	maxPasses = 200_000 // as one item after the other of a long list does
	// workers apply inputs side by side, unless Inline.
	workers = 16
)

// Poll does everything that can be done now, and tells whether that was anything. With
// Inline it also makes the calls; else it begins them, and they come back by
// themselves.
func (e *Engine) Poll(ctx context.Context) (progress bool, err error) {
	return e.poll(ctx, context.WithoutCancel(ctx))
}

// ErrRunaway says that time stands still while there is always more to do: instances
// keep calling or starting one another without any delay.
var ErrRunaway = errors.New("there is always more to do at one instant (limit poll-passes): is this a loop of calls, events or workflows without a delay?")

// poll is Poll with a context of its own for calls, which may outlive it.
func (e *Engine) poll(ctx, calls context.Context) (progress bool, err error) {
	e.pollLock.Lock()
	defer e.pollLock.Unlock()
	if err := e.store.Purge(ctx, e.now()); err != nil {
		return false, fmt.Errorf("purge events: %w", err)
	}
	since, passes := e.now(), 0
	for {
		did, err := e.pass(ctx, calls)
		progress = progress || did
		if err != nil || !did {
			return progress, err
		}
		if err := ctx.Err(); err != nil {
			return progress, err
		}
		if now := e.now(); now != since {
			since, passes = now, 0
		}
		if passes++; passes == e.maxPasses {
			return progress, ErrRunaway
		}
	}
}

// pass looks once for every kind of work. One item that fails does not keep the others
// from being done.
func (e *Engine) pass(ctx, calls context.Context) (bool, error) {
	now := e.now()
	did := false
	var errs []error
	note := func(d bool, err error) {
		did = did || d
		if err != nil {
			errs = append(errs, err)
		}
	}
	note(e.fireSchedules(ctx, now))
	note(e.expireGatherings(ctx, now))
	note(e.routeAgain(ctx))
	note(e.matchFresh(ctx))
	note(e.applyReady(ctx, now))
	note(e.publish(ctx))
	if e.cfg.Inline {
		note(e.callInline(ctx))
	} else {
		note(e.dispatch(calls), nil)
	}
	return did, errors.Join(errs...)
}

// applyReady gives instances what waits for them: messages, timers, held answers.
func (e *Engine) applyReady(ctx context.Context, now core.Time) (bool, error) {
	ids, err := e.store.Ready(ctx, now, batch)
	if err != nil {
		return false, fmt.Errorf("read ready instances: %w", err)
	}
	answers := make(map[string][]input, len(ids))
	for _, id := range ids {
		answers[id] = nil
	}
	for _, c := range e.calls.due(now) {
		id := c.row.Instance
		if _, listed := answers[id]; !listed {
			ids = append(ids, id)
		}
		answers[id] = append(answers[id], input{in: c.reply, at: c.due, call: c.reply.Ticket})
	}
	err = e.each(ids, func(id string) error {
		err := e.apply(ctx, id, answers[id]...)
		if err != nil {
			return fmt.Errorf("instance %s: %w", id, err)
		}
		for _, in := range answers[id] {
			e.calls.drop(callKey(id, in.call))
		}
		return nil
	})
	return len(ids) > 0, err
}

// each runs f for all ids: in order with Inline, else side by side.
func (e *Engine) each(ids []string, f func(id string) error) error {
	errs := make([]error, len(ids))
	if e.cfg.Inline || len(ids) < 2 {
		for i, id := range ids {
			errs[i] = f(id)
		}
		return errors.Join(errs...)
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(workers, len(ids)) {
		wg.Go(func() {
			for i := range next {
				errs[i] = f(ids[i])
			}
		})
	}
	for i := range ids {
		next <- i
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// publish ingests the events that instances produced.
func (e *Engine) publish(ctx context.Context) (bool, error) {
	emits, err := e.store.Emits(ctx, batch)
	if err != nil {
		return false, fmt.Errorf("read produced events: %w", err)
	}
	var errs []error
	for _, m := range emits {
		_, err := e.ingest(ctx, store.Event{Event: m.Event, Producer: m.Instance, Origin: m.Definition}, m.Seq)
		switch {
		case errors.Is(err, store.ErrDuplicate): // it was published before a crash
		case err != nil:
			errs = append(errs, fmt.Errorf("publish event of %s: %w", m.Instance, err))
		case e.cfg.OnEmit != nil:
			e.cfg.OnEmit(m.Instance, m.Event)
		}
	}
	return len(emits) > 0, errors.Join(errs...)
}

// Next is the next instant at which Poll has something to do. It is not after now where
// there is something already. Calls in flight do not count: they come back whenever.
func (e *Engine) Next() (time.Time, bool) {
	at, ok, err := e.store.Next(context.Background())
	if err != nil {
		return e.cfg.Clock.Now(), true // Poll will say what is wrong
	}
	if t, there := e.calls.next(e.cfg.MaxCalls); there && (!ok || t < at) {
		at, ok = t, true
	}
	if !ok {
		return time.Time{}, false
	}
	return max(at, e.now()).Std(), true
}

// RunVirtual polls and moves the clock from one instant with work to the next, until
// none is left or the next one lies beyond until, where the clock then stands. Config
// must have that clock and Inline.
func (e *Engine) RunVirtual(ctx context.Context, clock *VirtualClock, until time.Time) error {
	for {
		if _, err := e.Poll(ctx); err != nil {
			return err
		}
		next, ok := e.Next()
		if !ok || next.After(until) {
			clock.Advance(until)
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		clock.Advance(next)
	}
}
