package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// outboundWindow is how many events for the sink are in memory at a time; the others
	// wait in the store ("sink-window").
	outboundWindow = 1024
	// maxSends is how many events are on their way to the sink at a time ("sink-sends").
	maxSends = 32
	// lookAgain is how long what is in memory does while it is not done: a sink that is
	// down does not make every pass read the window.
	lookAgain = 100 * time.Millisecond
	// tellAgain is how often a failing sink is reported.
	tellAgain = time.Minute
)

// outbox sends events to the sink: those of one instance in order, those of others side
// by side. The store has all of them; here is the first part. What fails rests like other
// work, and keeps back only what the same instance produced after it.
type outbox struct {
	mu       sync.Mutex
	rows     []*outgoing // by Seq
	flying   int
	more     bool           // the store may have others
	heard    int            // counts how often that was said
	looked   core.Time      // when the store was read last
	landed   map[int64]bool // those that went while it was read
	stirred  bool           // something may be sent that could not be when last looked at
	rested   core.Time      // when the first rest ends; 0: none rests
	troubles troubles
	mine     func(instance string) bool
	failing  int       // failures in a row, of any event
	told     core.Time // when one was told last
	figures  SinkFigures
}

// outgoing is an event that the sink did not take, or of which the store does not know
// that it did.
type outgoing struct {
	store.Emit
	flying bool
	taken  bool // the sink has it
}

func (o *outgoing) key() taskKey { return taskKey{kind: "sink", seq: o.Seq} }

// SinkFigures count what became of events for the sink since the engine began.
type SinkFigures struct {
	Sent    int64 // the sink took them
	Refused int64 // it never will: they are dropped
	Failed  int64 // attempts that will be made again
	Waiting int   // events that wait; where it is very many, at least so many
}

// SinkFigures tells what became of events for the sink; false: there is no sink.
func (e *Engine) SinkFigures() (SinkFigures, bool) {
	x := &e.outbox
	x.mu.Lock()
	defer x.mu.Unlock()
	out := x.figures
	out.Waiting = len(x.rows)
	return out, e.cfg.Sink != nil
}

func (x *outbox) init() {
	x.more, x.heard, x.troubles = true, 1, troubles{items: map[taskKey]trouble{}}
}

// hear notes that there are events to send.
func (x *outbox) hear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.more = true
	x.heard++
}

// sendOut sends what can be sent now: with Inline one after the other, else in goroutines
// under a context of their own.
func (e *Engine) sendOut(ctx, calls context.Context) (did bool, err error) {
	if e.cfg.Sink == nil {
		return false, nil
	}
	x, now := &e.outbox, e.now()
	if err := e.lookOut(ctx, now); err != nil {
		return false, err
	}
	for _, o := range x.next(now) {
		did = true
		if e.cfg.Inline {
			e.sendOne(ctx, o)
		} else {
			e.calls.wg.Go(func() { e.sendOne(calls, o) })
		}
	}
	return did, nil
}

// mayLook says when the store is to be read, if at all.
func (x *outbox) mayLook(now core.Time) (at core.Time, ok bool) {
	switch {
	case !x.more:
		return 0, false
	case len(x.rows) == 0 || now < x.looked: // the clock may have stepped back
		return now, true
	case len(x.rows) >= outboundWindow/2: // enough to do
		return 0, false
	}
	return x.looked + core.Time(lookAgain), true
}

// lookOut reads the first part of what waits, unless nothing can have changed. What the instance
// of a damaged event produced after it goes out nevertheless.
func (e *Engine) lookOut(ctx context.Context, now core.Time) error {
	x := &e.outbox
	x.mu.Lock()
	at, ok := x.mayLook(now)
	heard := x.heard
	x.landed = map[int64]bool{}
	x.mu.Unlock()
	if !ok || at > now {
		return nil
	}
	list, err := e.store.Outbound(ctx, outboundWindow)
	read := len(list)
	if damaged := (*store.DamagedError)(nil); errors.As(err, &damaged) {
		read += len(damaged.Rows)
	}
	if err = e.withoutDamage(ctx, err); err != nil {
		return fmt.Errorf("read events for the sink: %w", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	known := make(map[int64]*outgoing, len(x.rows))
	for _, o := range x.rows {
		known[o.Seq] = o
	}
	rows := make([]*outgoing, 0, len(list))
	for _, row := range list {
		switch o := known[row.Seq]; {
		case x.landed[row.Seq]:
		case o != nil:
			rows = append(rows, o)
		default:
			rows = append(rows, &outgoing{Emit: row})
		}
	}
	x.rows, x.looked, x.stirred = rows, now, true
	x.more = x.heard != heard || read == outboundWindow
	return nil
}

// next takes the events that can be sent now: the first of each instance, unless it rests.
func (x *outbox) next(now core.Time) (out []*outgoing) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.stirred && (x.rested == 0 || now < x.rested) {
		return nil
	}
	x.troubles.sweep(now)
	x.stirred, x.rested = false, 0
	seen := make(map[string]bool, len(x.rows))
	for _, o := range x.rows {
		if seen[o.Instance] {
			continue
		}
		seen[o.Instance] = true
		until, rests := x.troubles.resting(o.key(), now)
		switch {
		case o.flying, !x.mine(o.Instance):
		case rests:
			if x.rested == 0 || until < x.rested {
				x.rested = until
			}
		case x.flying < maxSends:
			o.flying = true
			x.flying++
			out = append(out, o)
		}
	}
	return out
}

// due is when something can be sent, or looked for.
func (x *outbox) due(now core.Time) (core.Time, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	at, ok := x.mayLook(now)
	if x.stirred {
		return now, true
	}
	if x.rested != 0 && (!ok || x.rested < at) {
		return x.rested, true
	}
	return at, ok
}

// sendOne gives an event to the sink, and lets the store know. Where ctx ends before the
// sink has answered, the event stays and is sent again, under the same id.
func (e *Engine) sendOne(ctx context.Context, o *outgoing) {
	err := e.give(ctx, o)
	if err == nil {
		err = e.store.Sent(context.WithoutCancel(ctx), o.Seq)
	}
	switch {
	case err == nil:
		e.stored.Add(1)
	case ctx.Err() != nil:
		err = errGivenUp
	}
	if told := e.outbox.land(o, err, e.now()); told != nil {
		e.report(told)
	}
	e.wakeUp()
}

var errGivenUp = errors.New("the engine ends")

// give gives an event to the sink, unless it has it already.
func (e *Engine) give(ctx context.Context, o *outgoing) error {
	if o.taken {
		return nil
	}
	refused, err := e.handOut(ctx, e.cfg.Sink, "event", o.Event)
	if err != nil {
		return err
	}
	o.taken = true
	e.outbox.count(refused)
	return nil
}

// handOut gives an event to a sink. One that the sink refuses for good is reported, and dropped.
func (e *Engine) handOut(ctx context.Context, sink func(context.Context, event.Event) error, what string, ev event.Event) (refused bool, err error) {
	err = guard(func() error { return sink(ctx, ev) })
	var no interface{ Refused() bool }
	if !errors.As(err, &no) || !no.Refused() {
		return false, err
	}
	e.report(fmt.Errorf("the sink refuses %s %s of %s, type %s, which is dropped: %w", what, ev.ID, ev.Source, ev.Type, err))
	return true, nil
}

func (x *outbox) count(refused bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if refused {
		x.figures.Refused++
	} else {
		x.figures.Sent++
	}
}

// land notes how the sending of an event ended, and returns what is to be told of it.
func (x *outbox) land(o *outgoing, err error, now core.Time) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	o.flying = false
	x.flying--
	x.stirred = true
	switch err {
	case nil:
		x.troubles.forget(o.key())
		x.rows = slices.DeleteFunc(x.rows, func(r *outgoing) bool { return r == o })
		x.landed[o.Seq] = true
		x.failing = 0
		return nil
	case errGivenUp:
		return nil
	}
	x.troubles.fail(o.key(), now)
	x.figures.Failed++
	if x.failing++; x.failing > 1 && now >= x.told && now < x.told+core.Time(tellAgain) {
		return nil
	}
	x.told = now
	return fmt.Errorf("the sink does not take event %s of %s (%d failures in a row); it is sent again: %w", o.Event.ID, o.Event.Source, x.failing, err)
}
