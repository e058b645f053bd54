package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const (
	// batch is how many items of one kind a pass takes.
	batch = 1024
	// maxPasses is how often work may make more work at one instant ("poll-passes").
	maxPasses = 200_000 // as one item after the other of a long list does
)

// task is one thing to do. Where it fails it is tried again later, and keeps no other
// from being done.
type task struct {
	key      taskKey
	instance string // whose it is, if one's alone
	do       func(context.Context) error
	// expensive does it in the expensive lane, where do fails with errExpensive.
	expensive func(context.Context) error
}

type taskKey struct {
	kind, id string
	seq      int64
}

// source lists tasks of one kind that can be done now.
type source struct {
	kind    string
	list    func(ctx context.Context, now core.Time, limit int) ([]task, error)
	abreast bool // they may be done side by side
	// has reports whether the list may have something by what a shared store said; nil: the store does not know.
	has func(store.Glance) bool
}

// sources are the kinds of work, in the order in which a pass does them.
func (e *Engine) sources() []source {
	return []source{
		{kind: "schedules", list: e.schedules, abreast: true, has: func(w store.Glance) bool { return w.Schedules }},
		{kind: "gatherings", list: e.expired, has: func(w store.Glance) bool { return w.Gatherings }},
		{kind: "events", list: e.unrouted, has: func(w store.Glance) bool { return w.Events }},
		{kind: "subscriptions", list: e.fresh, abreast: true, has: func(w store.Glance) bool { return w.Subscriptions }},
		{kind: "instances", list: e.ready, abreast: true, has: func(w store.Glance) bool { return w.Instances || e.calls.holds() }},
		{kind: "instances", list: e.released, abreast: true},
		{kind: "produced", list: e.produced, has: func(w store.Glance) bool { return w.Emits }},
	}
}

// workKinds are the kinds of sources, for figures.
var workKinds = []string{"schedules", "gatherings", "events", "subscriptions", "instances", "produced"}

// Poll does everything that can be done now, and tells whether that was anything. With
// Inline it also makes the calls and gives events to the sink; else it begins them, and
// they come back by themselves. What fails is left alone for a while; the rest is done nevertheless.
func (e *Engine) Poll(ctx context.Context) (progress bool, err error) {
	var errs []error
	progress, err = e.poll(ctx, context.WithoutCancel(ctx), 0, func(err error) { errs = append(errs, err) })
	return progress, errors.Join(append(errs, err)...)
}

// ErrRunaway says that time stands still while there is always more to do: instances
// keep calling or starting one another without any delay.
var ErrRunaway = errors.New("there is always more to do at one instant (limit poll-passes): is this a loop of calls, events or workflows without a delay?")

// poll is Poll with a separate context for calls, which may outlive it. For concurrent work of one
// kind it waits at most wait; 0: until it is done. Errors of single tasks go to tell; an error
// that is returned concerns everything.
func (e *Engine) poll(ctx, calls context.Context, wait time.Duration, tell func(error)) (progress bool, err error) {
	e.cfg.Probe.lock(&e.pollLock)
	defer e.pollLock.Unlock()
	if now := e.now(); e.mayPurge(now) {
		if err := e.store.Purge(ctx, now); err != nil {
			return false, fmt.Errorf("purge events: %w", err)
		}
	}
	since, passes := e.now(), 0
	for {
		e.watchdog.passBegins()
		did, err := e.pass(ctx, calls, wait, tell)
		e.watchdog.passEnds()
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
func (e *Engine) pass(ctx, calls context.Context, wait time.Duration, tell func(error)) (did bool, err error) {
	now := e.now()
	e.troubles.sweep(now)
	var unread []error
	work, err := e.glance(ctx, now)
	if err != nil {
		unread = append(unread, err)
	}
	if err := e.takeCalls(ctx, now, work); err != nil {
		unread = append(unread, err)
	}
	if err := e.followPolicies(ctx, now, work); err != nil {
		unread = append(unread, err)
	}
	e.unshelveResumed()
	if err := e.pauseSuspects(ctx, tell); err != nil {
		unread = append(unread, err)
	}
	e.setDamagedAside(ctx)
	done := 0
	for _, s := range e.work {
		if done == 0 && s.has != nil && !s.has(work) { // what was done may have made more
			e.figures.due[s.kind].Store(0)
			continue
		}
		tasks, err := e.tasks(ctx, s, now, batch)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		e.figures.due[s.kind].Store(int64(len(tasks)))
		if e.shardsChanged() { // a suspect may be among what came: it is looked for first
			did = true
			break
		}
		e.carryOut(ctx, tasks, s.abreast, wait)
		done += e.collect()
	}
	did = did || done > 0
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
		e.dismiss() // then everything fails
		return did, err
	}
	if err := e.judge(ctx, done, now, tell); err != nil {
		unread = append(unread, err)
	}
	return did, errors.Join(unread...)
}

// carryOut does tasks: side by side where that is allowed, else in order.
func (e *Engine) carryOut(ctx context.Context, tasks []task, abreast bool, wait time.Duration) {
	if len(tasks) == 0 {
		return
	}
	if abreast && !e.cfg.Inline {
		var patience <-chan time.Time
		if wait > 0 {
			alarm := time.NewTimer(wait)
			defer alarm.Stop()
			patience = alarm.C
		}
		e.workOn(ctx, tasks, patience)
		return
	}
	for _, t := range tasks {
		err := guard(func() error { return t.do(ctx) })
		e.crew.note(t, err)
		e.watchdog.progress()
	}
}

// collect takes notice of what ended, and counts what was done.
func (e *Engine) collect() (done int) {
	for _, o := range e.crew.take() {
		if o.err != nil {
			e.failed = append(e.failed, failure(o))
			continue
		}
		e.troubles.forget(o.task.key)
		done++
	}
	return done
}

// tasks lists what a source has to do now, without what failed lately and what is under way.
func (e *Engine) tasks(ctx context.Context, s source, now core.Time, limit int) ([]task, error) {
	list, err := s.list(ctx, now, limit+e.troubles.count()+e.crew.count())
	if err != nil {
		return nil, err
	}
	return e.unsuspected(e.crew.idle(e.troubles.rested(list, now))), nil
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
		out[i] = e.instanceTask(id, answers[id])
	}
	return out, nil
}

// instanceTask is to give an instance what waits for it, and answers that were held.
func (e *Engine) instanceTask(id string, answers []input) task {
	do := func(ctx context.Context, how mode) error {
		err := e.apply(ctx, id, how, answers...)
		switch {
		case errors.Is(err, errHeld):
			e.keepAnswers(id, answers)
			return nil
		case err != nil && !isMissing(err): // it was deleted
			return fmt.Errorf("instance %s: %w", id, err)
		}
		for _, in := range answers {
			e.calls.done(callKey(id, in.call), in.created)
		}
		return nil
	}
	return task{
		key: instanceKey(id), instance: id,
		do:        func(ctx context.Context) error { return do(ctx, ordinary) },
		expensive: func(ctx context.Context) error { return do(ctx, inLane) },
	}
}

// instanceKey names the task of giving an instance what waits for it.
func instanceKey(id string) taskKey { return taskKey{kind: "instance", id: id} }

// each does independent tasks, concurrently unless Inline, and waits for all of them. A panic is the
// error of its task.
func (e *Engine) each(ctx context.Context, tasks []task) []error {
	errs := make([]error, len(tasks))
	do := func(i int) { errs[i] = guard(func() error { return tasks[i].do(ctx) }) }
	if e.cfg.Inline || len(tasks) < 2 {
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
	if err = e.withoutDamage(ctx, err); err != nil {
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
	return e.sooner(now, at, ok)
}

// sooner is the next instant after one at which there is something to do, where that is what the store has.
func (e *Engine) sooner(now, at core.Time, ok bool) (time.Time, bool) {
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
	sooner(e.chains.next())
	sooner(now+core.Time(firstRest), len(e.damages.list()) > 0)
	if e.cfg.Sink != nil && !joined {
		sooner(e.outbox.due(now))
	}
	if e.has(housekeeper) {
		sooner(e.house.due())
	}
	if !ok {
		return time.Time{}, false
	}
	return max(at, now).Std(), true
}
