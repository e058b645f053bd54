package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
)

// The watchdog counts how long steps and passes have been running. It counts its own ticks instead
// of reading the clock: a process that was stopped for an hour is one tick older.
//
// At stepTime a step is asked to stop. If it has not by suspectTime, its instance is recorded in the
// store as a suspect, so that the next process knows of it however this one ends; the entry is
// removed if the step ends after all. At stuckTime the step is given up: the node reports that it is
// stuck, gives up its lease, lets others work on the instance, and pauses it. A node whose pass
// makes no progress for passTime is stuck as well.
const (
	watchTick = time.Second
	// stepTime is when a step is asked to stop ("step-time").
	stepTime = 5 * time.Second
	// suspectTime is when its instance becomes a suspect ("suspect-time").
	suspectTime = 10 * time.Second
	// stuckTime is when the step is given up ("stuck-time"); callers wait longer.
	stuckTime = 15 * time.Second
	// passTime is how long a pass may make no progress ("pass-time").
	passTime = 60 * time.Second
)

// watchdog knows the steps and the pass that are running. It sleeps while there are none.
type watchdog struct {
	tick   time.Duration // watchTick; shorter in tests
	asleep atomic.Bool
	awake  chan struct{}

	mu    sync.Mutex
	steps map[*watched]bool
	stuck []*watched // the steps that were given up and have not ended

	pass  time.Time     // when the running pass began; zero: none is running
	quiet time.Duration // how long it has made no progress
	last  time.Time     // when the last one ended
}

// watched is a running step.
type watched struct {
	of    *watchdog
	l     *live
	began time.Time
	// paused: the instance was paused when the step began, so pausing it again does not help.
	paused bool
	late   atomic.Bool // asked to stop

	// Under the watchdog's lock:
	age     time.Duration
	done    chan struct{} // closed when the step ends; nil: its instance is not a suspect
	givenUp bool
}

func (w *watchdog) init() {
	w.tick = watchTick
	w.awake, w.steps = make(chan struct{}, 1), map[*watched]bool{}
}

// begin starts watching a step of an instance. The caller holds the instance's lock.
func (w *watchdog) begin(l *live) *watched {
	s := &watched{of: w, l: l, began: time.Now(), paused: l.row.Status == core.Paused}
	w.mu.Lock()
	w.steps[s] = true
	w.mu.Unlock()
	w.wake()
	return s
}

// end stops watching a step that returned. It reports false if the step was given up meanwhile.
func (s *watched) end() bool {
	w := s.of
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.steps, s)
	if s.done != nil {
		close(s.done)
	}
	if s.givenUp {
		w.stuck = slices.DeleteFunc(w.stuck, func(o *watched) bool { return o == s })
	}
	return !s.givenUp
}

// has reports whether a step of an instance is running that was not given up.
func (w *watchdog) has(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.steps {
		if s.l.id == id && !s.givenUp {
			return true
		}
	}
	return false
}

// wake wakes the watchdog.
func (w *watchdog) wake() {
	if w.asleep.CompareAndSwap(true, false) {
		w.awake <- struct{}{}
	}
}

func (w *watchdog) passBegins() {
	w.mu.Lock()
	w.pass, w.quiet = time.Now(), 0
	w.mu.Unlock()
	w.wake()
}

// progress notes that the pass is making progress.
func (w *watchdog) progress() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quiet = 0
}

func (w *watchdog) passEnds() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pass, w.last, w.quiet = time.Time{}, time.Now(), 0
}

// count counts a tick. It returns the steps whose instances become suspects, and the steps that it
// gave up. giveUp is called under the lock: a step that ends later finds that it was given up.
func (w *watchdog) count(giveUp func(*watched)) (suspect, stuck []*watched, idle bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.pass.IsZero() {
		w.quiet += watchTick
	}
	for s := range w.steps {
		s.age += watchTick
		switch {
		case s.givenUp:
		case s.age >= stuckTime:
			s.givenUp = true
			w.stuck = append(w.stuck, s)
			giveUp(s)
			stuck = append(stuck, s)
		case s.age >= suspectTime && s.done == nil:
			s.done = make(chan struct{})
			suspect = append(suspect, s)
		case s.age >= stepTime:
			s.late.Store(true)
		}
	}
	return suspect, stuck, len(w.steps) == 0 && w.pass.IsZero()
}

// guardSteps runs the watchdog until ctx ends.
func (e *Engine) guardSteps(ctx context.Context) {
	w := &e.watchdog
	ticks := time.NewTimer(w.tick)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		suspect, stuck, idle := w.count(e.giveUpStep)
		for _, s := range suspect {
			go e.recordSuspect(ctx, s)
		}
		for _, s := range stuck {
			e.reportStuck(s)
		}
		if idle && w.sleep() {
			select {
			case <-ctx.Done():
				return
			case <-w.awake:
			}
		}
		ticks.Reset(w.tick)
	}
}

// sleep marks the watchdog as asleep, and reports false if something began meanwhile.
func (w *watchdog) sleep() bool {
	w.asleep.Store(true)
	w.mu.Lock()
	busy := len(w.steps) > 0 || !w.pass.IsZero()
	w.mu.Unlock()
	return !busy || !w.asleep.CompareAndSwap(true, false)
}

// Stuck returns why this node makes no progress, or "" if it is not known to be stuck.
func (e *Engine) Stuck() string {
	w := &e.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case len(w.stuck) > 0:
		return fmt.Sprintf("a step of %s does not end (limit stuck-time, %s)", instancesOf(w.stuck), stuckTime)
	case w.quiet >= passTime:
		return fmt.Sprintf("a pass over what is to be done makes no progress (limit pass-time, %s)", passTime)
	}
	return ""
}

// instancesOf names the instances of steps.
func instancesOf(steps []*watched) string {
	var ids []string
	for _, s := range steps {
		ids = append(ids, s.l.id)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	const most = 5
	if len(ids) > most {
		ids = append(ids[:most], fmt.Sprintf("%d more", len(ids)-most))
	}
	return "instance " + strings.Join(ids, ", ")
}

// running names the instances of running steps as Stuck does; "": there are none.
func (w *watchdog) running() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*watched
	for s := range w.steps {
		list = append(list, s)
	}
	if len(list) == 0 {
		return ""
	}
	return instancesOf(list)
}

// Activity is what an engine is doing.
type Activity struct {
	LastPass time.Time     // when the last pass over all due work ended; zero: none has
	Pass     time.Duration // age of the running pass; 0: none is running
	Step     time.Duration // age of the oldest running step; 0: none is running
	Waiting  int           // instances that wait for the expensive lane
}

// Activity returns what the engine is doing now.
func (e *Engine) Activity() (a Activity) {
	w, now := &e.watchdog, time.Now()
	w.mu.Lock()
	a.LastPass = w.last
	if !w.pass.IsZero() {
		a.Pass = now.Sub(w.pass)
	}
	for s := range w.steps {
		a.Step = max(a.Step, now.Sub(s.began))
	}
	w.mu.Unlock()
	e.crew.mu.Lock()
	a.Waiting = len(e.crew.queue)
	e.crew.mu.Unlock()
	return a
}
