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

// The watchdog counts how long steps and passes have been under way, by ticks of its own: a
// process that was stopped for an hour is one tick older. A step is stopped at stepTime. One that
// does not stop has its instance named in the store at suspectTime, so that the next process
// knows it, however this one ends; the name is removed when the step ends after all. At
// stuckTime the node is stuck: it says so, gives up its lease, lets others work on the
// instance and pauses it. So does a node whose pass makes no progress for passTime.
const (
	watchTick = time.Second
	// stepTime is after how long a step is told to stop ("step-time").
	stepTime = 5 * time.Second
	// suspectTime is after how long its instance is named ("suspect-time").
	suspectTime = 10 * time.Second
	// stuckTime is after how long it is given up ("stuck-time"); callers wait longer.
	stuckTime = 15 * time.Second
	// passTime is how long a pass may make no progress ("pass-time").
	passTime = 60 * time.Second
)

// watchdog knows what is under way. It sleeps while that is nothing.
type watchdog struct {
	tick   time.Duration // watchTick; tests do not want to wait so long
	asleep atomic.Bool
	awake  chan struct{}

	mu    sync.Mutex
	steps map[*watched]bool
	stuck []*watched // of them, those that were given up

	pass  time.Time     // when it began; zero: there is none
	quiet time.Duration // how long it has made no progress
	last  time.Time     // when the last one ended
}

// watched is a step under way.
type watched struct {
	of    *watchdog
	l     *live
	began time.Time
	// paused says that the instance was paused when it began: pausing it once more changes nothing.
	paused bool
	late   atomic.Bool // it is to stop

	age  time.Duration // under the watch's lock; likewise:
	done chan struct{} // closed when it ends; nil: its instance is not named
	lost bool          // it was given up
}

func (w *watchdog) init() {
	w.tick = watchTick
	w.awake, w.steps = make(chan struct{}, 1), map[*watched]bool{}
}

// begin begins to watch a step of an instance, whose lock the caller has.
func (w *watchdog) begin(l *live) *watched {
	s := &watched{of: w, l: l, began: time.Now(), paused: l.row.Status == core.Paused}
	w.mu.Lock()
	w.steps[s] = true
	w.mu.Unlock()
	w.rouse()
	return s
}

// end is for a step that returned. It reports false where that was given up.
func (s *watched) end() bool {
	w := s.of
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.steps, s)
	if s.done != nil {
		close(s.done)
	}
	if s.lost {
		w.stuck = slices.DeleteFunc(w.stuck, func(o *watched) bool { return o == s })
	}
	return !s.lost
}

// has reports whether a step of an instance is under way that was not given up.
func (w *watchdog) has(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.steps {
		if s.l.id == id && !s.lost {
			return true
		}
	}
	return false
}

// rouse wakes the watchdog.
func (w *watchdog) rouse() {
	if w.asleep.CompareAndSwap(true, false) {
		w.awake <- struct{}{}
	}
}

func (w *watchdog) passBegins() {
	w.mu.Lock()
	w.pass, w.quiet = time.Now(), 0
	w.mu.Unlock()
	w.rouse()
}

// progress notes that a pass gets on.
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

// count counts a tick, and returns the steps whose instances are to be named, and those that it
// gave up by lose: under the lock, so that a step either ended before or does so for nothing.
func (w *watchdog) count(lose func(*watched)) (name, lost []*watched, idle bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.pass.IsZero() {
		w.quiet += watchTick
	}
	for s := range w.steps {
		switch s.age += watchTick; {
		case s.lost:
		case s.age >= stuckTime:
			s.lost = true
			w.stuck = append(w.stuck, s)
			lose(s)
			lost = append(lost, s)
		case s.age >= suspectTime && s.done == nil:
			s.done = make(chan struct{})
			name = append(name, s)
		case s.age >= stepTime:
			s.late.Store(true)
		}
	}
	return name, lost, len(w.steps) == 0 && w.pass.IsZero()
}

// guardSteps is the watchdog. It ends with ctx.
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
		name, lost, idle := w.count(e.lose)
		for _, s := range name {
			go e.name(ctx, s)
		}
		for _, s := range lost {
			e.gaveUp(s)
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

// sleep says that the watchdog sleeps, unless something has begun meanwhile.
func (w *watchdog) sleep() bool {
	w.asleep.Store(true)
	w.mu.Lock()
	busy := len(w.steps) > 0 || !w.pass.IsZero()
	w.mu.Unlock()
	return !busy || !w.asleep.CompareAndSwap(true, false)
}

// Stuck says why this node makes no progress; empty: it does, as far as is known.
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

// under lists the steps under way as Stuck names them; empty: there is none.
func (w *watchdog) under() string {
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

// Activity is what an engine is at.
type Activity struct {
	LastPass time.Time     // when the last pass over what is to be done ended; zero: none has
	Pass     time.Duration // how long the pass under way takes; 0: there is none
	Step     time.Duration // how long the longest of the steps under way takes; 0: there is none
	Waiting  int           // instances that wait for the expensive lane
}

// Activity tells what the engine is at.
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
