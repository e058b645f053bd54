package engine

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

const (
	// workers apply inputs side by side, unless Inline. They mostly wait for the store,
	// which makes one commit of those that wait together.
	workers = 128
	// patience is how long a pass waits for the tasks that it began. Then it goes on with other
	// work; the tasks go on too, and are left out of the next passes until they are done.
	patience = 100 * time.Millisecond
)

// crew works on tasks side by side. There are two lanes, so that expensive instances, however
// many, leave processors to the others. Every step begins in the ordinary lane, in any of
// many workers, with a small allowance. Whatever needs more is discarded and done again in the
// expensive lane, a queue with as many workers as half of the processors; so is what continues
// after a step that ended in More, which goes to the back of the queue. The same holds for
// steps outside of passes: a start that is expensive is stored for the lane, and so is the
// answer to a call held for it. A step that a caller waits for (a choice, an intervention)
// is run at once, but only one.
type crew struct {
	places chan struct{} // of the ordinary lane

	mu    sync.Mutex
	busy  map[taskKey]*entry // tasks under way, those in the queue, and failures not judged yet
	queue []*entry           // of the expensive lane
	free  int                // workers of it
	ended []outcome          // not taken by a pass yet
	quiet chan struct{}      // closed when all tasks have ended; nil: nothing waits for that
}

// entry is a task under way.
type entry struct {
	task
	ctx   context.Context
	pass  *begun
	late  bool // the pass that began it does not wait for it any more
	lane  bool // it is in the expensive lane
	works bool
	lost  bool // its step does not return: it was given up
	over  bool // and failed
}

// begun is what one pass waits for.
type begun struct {
	left    int
	done    chan struct{}
	barrier bool // for all of it, also in the expensive lane
}

// outcome is how a task ended.
type outcome struct {
	task task
	err  error
}

func (c *crew) init() {
	c.places = make(chan struct{}, workers)
	c.busy = map[taskKey]*entry{}
	c.free = laneWorkers()
}

// laneWorkers is how many work in the expensive lane.
func laneWorkers() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// Working is how much is being worked on, so that Next does not tell of it.
func (e *Engine) Working() int { return e.crew.count() }

// count is how many tasks are not to be listed.
func (c *crew) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.busy)
}

// idle leaves out the tasks that are under way.
func (c *crew) idle(tasks []task) []task {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.busy) == 0 {
		return tasks
	}
	out := tasks[:0]
	for _, t := range tasks {
		if c.busy[t.key] == nil {
			out = append(out, t)
		}
	}
	return out
}

// workOn does tasks side by side, and waits until all of them are done, or for its patience;
// nil: without end. Tasks that no worker was free for are not begun.
func (e *Engine) workOn(ctx context.Context, tasks []task, patience <-chan time.Time) {
	c, b := &e.crew, &begun{left: 1, done: make(chan struct{}), barrier: patience == nil}
	over := false // the alarm tells only once
begin:
	for _, t := range tasks {
		select {
		case c.places <- struct{}{}:
		case <-patience:
			over = true
			break begin
		case <-ctx.Done():
			break begin
		}
		x := &entry{task: t, ctx: ctx, pass: b, works: true}
		c.mu.Lock()
		c.busy[t.key] = x
		b.left++
		c.mu.Unlock()
		go func() { e.worked(x, guard(func() error { return t.do(ctx) })) }()
	}
	c.mu.Lock()
	b.leave()
	c.mu.Unlock()
	if !over {
		select {
		case <-b.done:
			return
		case <-patience:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.busy {
		x.late = x.late || x.pass == b
	}
}

// leave is for one that is waited for. The caller has the crew's lock.
func (b *begun) leave() {
	if b.left--; b.left == 0 {
		close(b.done)
	}
}

// worked is called when a worker is done with a task.
func (e *Engine) worked(x *entry, err error) {
	e.watchdog.progress()
	c := &e.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.lost { // its place is another's already
		return
	}
	c.vacate(x)
	if errors.Is(err, errExpensive) && x.expensive != nil && x.ctx.Err() == nil {
		x.lane = true
		c.queue = append(c.queue, x)
		if !x.pass.barrier && !x.late {
			x.late = true
			x.pass.leave()
		}
	} else {
		e.ended(x, err)
	}
	e.staff()
	c.settled()
}

// vacate frees the place of a worker. The caller has the lock.
func (c *crew) vacate(x *entry) {
	switch {
	case !x.works:
	case x.lane:
		c.free++
	default:
		<-c.places
	}
	x.works = false
}

// ended notes how a task ended. What failed stays out of the lists until it is judged. The caller
// has the lock.
func (e *Engine) ended(x *entry, err error) {
	c := &e.crew
	if errors.Is(err, errUnfinished) {
		err = nil // it got on
	}
	again := errors.Is(err, errInterrupted) || x.ctx.Err() != nil
	failed := err != nil && !again
	if x.over = failed; !failed {
		delete(c.busy, x.key)
	}
	if err == nil || failed {
		c.ended = append(c.ended, outcome{x.task, err})
	}
	if x.late {
		e.wakeUp()
	} else {
		x.pass.leave()
	}
}

// settled wakes the caller that waits for the end of all tasks. The caller holds the lock.
func (c *crew) settled() {
	if c.quiet == nil {
		return
	}
	for _, x := range c.busy {
		if x.works {
			return
		}
	}
	close(c.quiet)
	c.quiet = nil
}

// staff lets the free workers of the expensive lane take the next tasks. The caller has the lock.
func (e *Engine) staff() {
	c := &e.crew
	for c.free > 0 && len(c.queue) > 0 {
		x := c.queue[0]
		c.queue = c.queue[1:]
		c.free--
		x.works = true
		go func() { e.worked(x, guard(func() error { return x.expensive(x.ctx) })) }()
	}
}

// take returns what ended since it was called last.
func (c *crew) take() []outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.ended
	c.ended = nil
	return out
}

// note is for a task that nobody but the pass worked on.
func (c *crew) note(t task, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = append(c.ended, outcome{t, err})
}

// judged lets failures be listed again, which then rest.
func (c *crew) judged(failed []failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range failed {
		if x := c.busy[f.task.key]; x != nil && x.over {
			delete(c.busy, f.task.key)
		}
	}
}

// working reports whether tasks are under way outside of the expensive lane.
func (c *crew) working() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.busy {
		if x.works && !x.lane {
			return true
		}
	}
	return false
}

// abandon frees the place of a task whose step does not return.
func (e *Engine) abandon(key taskKey) {
	c := &e.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.busy[key]
	if x == nil || !x.works {
		return
	}
	c.vacate(x)
	x.lost = true
	delete(c.busy, key)
	if !x.late {
		x.pass.leave()
	}
	e.staff()
	c.settled()
	e.wakeUp()
}

// over returns a channel that is closed once no task is under way.
func (c *crew) over() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := make(chan struct{})
	c.quiet = done
	c.settled()
	return done
}
