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
	// workers apply inputs side by side, unless Inline. They mostly wait for the store,
	// which makes one commit of those that wait together.
	workers = 128
)

// task is one thing to do. Where it fails it is tried again later, and keeps no other
// from being done.
type task struct {
	key      taskKey
	instance string // whose it is, if one's alone
	do       func(context.Context) error
}

type taskKey struct {
	kind, id string
	seq      int64
}

// source lists tasks of one kind that can be done now.
type source struct {
	list    func(ctx context.Context, now core.Time, limit int) ([]task, error)
	abreast bool // they may be done side by side
}

// sources are the kinds of work, in the order in which a pass does them.
func (e *Engine) sources() []source {
	return []source{
		{list: e.schedules},
		{list: e.expired},
		{list: e.unrouted},
		{list: e.fresh, abreast: true},
		{list: e.ready, abreast: true},
		{list: e.produced},
	}
}

// Poll does everything that can be done now, and tells whether that was anything. With
// Inline it also makes the calls and gives events to the sink; else it begins them, and
// they come back by themselves. What fails is left alone for a while; the rest is done nevertheless.
func (e *Engine) Poll(ctx context.Context) (progress bool, err error) {
	var errs []error
	progress, err = e.poll(ctx, context.WithoutCancel(ctx), func(err error) { errs = append(errs, err) })
	return progress, errors.Join(append(errs, err)...)
}

// ErrRunaway says that time stands still while there is always more to do: instances
// keep calling or starting one another without any delay.
var ErrRunaway = errors.New("there is always more to do at one instant (limit poll-passes): is this a loop of calls, events or workflows without a delay?")

// poll is Poll with a context of its own for calls, which may outlive it. What goes
// wrong with single things is told; an error is everybody's.
func (e *Engine) poll(ctx, calls context.Context, tell func(error)) (progress bool, err error) {
	e.pollLock.Lock()
	defer e.pollLock.Unlock()
	if now := e.now(); e.mayPurge(now) {
		if err := e.store.Purge(ctx, now); err != nil {
			return false, fmt.Errorf("purge events: %w", err)
		}
	}
	since, passes := e.now(), 0
	for {
		did, err := e.pass(ctx, calls, tell)
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

// pass looks once for every kind of work. Its error says that the store fails: some kind
// cannot be listed, or nothing that was tried could be done.
func (e *Engine) pass(ctx, calls context.Context, tell func(error)) (did bool, err error) {
	now := e.now()
	e.troubles.sweep(now)
	var unread []error
	var failed []failure
	done := 0
	if err := e.share(ctx, now); err != nil {
		unread = append(unread, err)
	}
	for _, s := range e.work {
		tasks, err := e.tasks(ctx, s, now, batch)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		for i, err := range e.each(ctx, tasks, s.abreast) {
			if err != nil {
				failed = append(failed, failure{tasks[i], err})
				continue
			}
			e.troubles.forget(tasks[i].key)
			done++
		}
	}
	did = done > 0
	if e.cfg.Inline {
		called, err := e.callInline(ctx)
		if err != nil {
			tell(err)
		}
		did = did || called
	} else {
		did = e.dispatch(calls) || did
	}
	sent, err := e.sendOut(ctx, calls)
	if err != nil {
		unread = append(unread, err)
	}
	swept, err := e.keepHouse(ctx, now, tell)
	if err != nil {
		unread = append(unread, err)
	}
	did = did || sent || swept
	if err := ctx.Err(); err != nil {
		return did, err // then everything fails
	}
	if err := e.outage(failed, done, now); err != nil {
		return did, errors.Join(append(unread, err)...)
	}
	for _, f := range failed {
		tell(e.leaveAlone(ctx, f, now))
	}
	return did, errors.Join(unread...)
}

// tasks lists what a source has to do now, without what failed lately.
func (e *Engine) tasks(ctx context.Context, s source, now core.Time, limit int) ([]task, error) {
	list, err := s.list(ctx, now, limit+e.troubles.count())
	if err != nil {
		return nil, err
	}
	return e.troubles.rested(list, now), nil
}

// ready are instances that something waits for: messages, timers, held answers.
func (e *Engine) ready(ctx context.Context, now core.Time, limit int) ([]task, error) {
	ids, err := e.store.Ready(ctx, now, limit)
	if err != nil {
		return nil, fmt.Errorf("read ready instances: %w", err)
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
		answers[id] = append(answers[id], input{in: c.reply, at: c.due, call: c.reply.Ticket, created: c.row.Created})
	}
	out := make([]task, len(ids))
	for i, id := range ids {
		out[i] = task{key: taskKey{kind: "instance", id: id}, instance: id, do: func(ctx context.Context) error {
			if err := e.apply(ctx, id, answers[id]...); err != nil && !isMissing(err) { // it was deleted
				return fmt.Errorf("instance %s: %w", id, err)
			}
			for _, in := range answers[id] {
				e.calls.done(callKey(id, in.call), in.created)
			}
			return nil
		}}
	}
	return out, nil
}

// each does the tasks: in order, or side by side where that is allowed. A panic is the
// error of its task.
func (e *Engine) each(ctx context.Context, tasks []task, abreast bool) []error {
	errs := make([]error, len(tasks))
	do := func(i int) { errs[i] = guard(func() error { return tasks[i].do(ctx) }) }
	if e.cfg.Inline || !abreast || len(tasks) < 2 {
		for i := range tasks {
			do(i)
		}
		return errs
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(workers, len(tasks)) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range tasks {
		next <- i
	}
	close(next)
	wg.Wait()
	return errs
}

// produced are events of instances, to be ingested.
func (e *Engine) produced(ctx context.Context, _ core.Time, limit int) ([]task, error) {
	emits, err := e.store.Emits(ctx, limit)
	if err != nil {
		return nil, fmt.Errorf("read produced events: %w", err)
	}
	var out []task
	for _, m := range emits {
		out = append(out, task{key: taskKey{kind: "emit", seq: m.Seq}, do: func(ctx context.Context) error {
			_, err := e.ingest(ctx, store.Event{Event: m.Event, Producer: m.Instance, Origin: m.Definition}, m.Seq)
			switch {
			case errors.Is(err, store.ErrDuplicate): // it was published before a crash
			case err != nil:
				return fmt.Errorf("publish event of %s: %w", m.Instance, err)
			case e.cfg.OnEmit != nil:
				e.cfg.OnEmit(m.Instance, m.Event)
			}
			return nil
		}})
	}
	return out, nil
}

// Next is the next instant at which Poll has something to do. It is not after now where
// there is something already. Calls in flight do not count: they come back whenever.
func (e *Engine) Next() (time.Time, bool) {
	ctx := context.Background()
	now := e.now()
	for _, s := range e.work {
		if tasks, err := e.tasks(ctx, s, now, 1); err != nil || len(tasks) > 0 {
			return now.Std(), true // an error will be told by Poll
		}
	}
	return e.later(ctx, now)
}

// later is the next instant after one at which there is something to do that is not yet
// among the work, or that instant.
func (e *Engine) later(ctx context.Context, now core.Time) (time.Time, bool) {
	at, ok, err := e.store.Next(ctx, now)
	if err != nil {
		return now.Std(), true
	}
	sooner := func(t core.Time, there bool) {
		if there && (!ok || t < at) {
			at, ok = t, true
		}
	}
	joined := e.cluster.joined.Load() // then it looks for all of it every now and then
	if !joined || e.shared.Leased() {
		sooner(e.calls.next(e.cfg.MaxCalls, now))
	}
	sooner(e.troubles.next(now))
	if e.cfg.Sink != nil && !joined {
		sooner(e.outbox.due(now))
	}
	if e.mine(housekeeper) {
		sooner(e.house.due())
	}
	if !ok {
		return time.Time{}, false
	}
	return max(at, now).Std(), true
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
