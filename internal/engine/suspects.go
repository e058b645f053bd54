package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// suspects are instances whose step did not end, in this process or in one before. They are paused
// before anything else is done with them, unless a user ends or pauses them first.
type suspects struct {
	mu   sync.Mutex
	look bool            // the store may have others; under Poll's lock
	all  map[string]bool // true: pausing does not help
}

// has reports whether an instance is a suspect.
func (x *suspects) has(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, ok := x.all[id]
	return ok
}

// add adds a suspect. paused: it was paused already, so pausing does not help.
func (x *suspects) add(id string, paused bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all[id] = x.all[id] || paused
}

// suspectWriteTime limits how long a write to the list of suspects is tried.
const suspectWriteTime = 10 * time.Second

// watchdogActor is the actor in the history that pauses suspects.
const watchdogActor = "watchdog"

// recordSuspect records the instance of a step in the store as a suspect, and removes the entry
// if the step ends before it is given up.
func (e *Engine) recordSuspect(ctx context.Context, s *watched) {
	id := s.l.id
	e.report(fmt.Errorf("a step of instance %s has not ended for %s, though it was told to stop after %s; the instance is named in the store as a suspect", id, suspectTime, stepTime))
	write := func(f func(context.Context, string) error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), suspectWriteTime)
		defer cancel()
		if err := f(ctx, id); err != nil {
			e.report(fmt.Errorf("suspect %s: %w", id, err))
		}
	}
	write(e.store.Suspect)
	select {
	case <-s.done:
		if !s.givenUp {
			write(e.store.Unsuspect)
		}
	case <-ctx.Done():
	}
}

// giveUpStep lets others work on the instance of a step that does not return: first of all, the next
// pass pauses it. The caller holds the watchdog's lock.
func (e *Engine) giveUpStep(s *watched) {
	e.suspects.add(s.l.id, s.paused)
	e.live.giveUp(s.l)
}

// reportStuck reports a step that was given up, and gives up the calls of its instance.
func (e *Engine) reportStuck(s *watched) {
	id := s.l.id
	e.report(fmt.Errorf("a step of instance %s has not ended for %s and is given up; this node is stuck until it ends", id, stuckTime))
	e.abandon(instanceKey(id))
	e.wakeUp()
}

// unsuspected leaves out the tasks of suspects.
func (e *Engine) unsuspected(tasks []task) []task {
	x := &e.suspects
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.all) == 0 {
		return tasks
	}
	return slices.DeleteFunc(tasks, func(t task) bool {
		_, suspect := x.all[t.instance]
		return suspect
	})
}

// readSuspects reads which instances other processes named.
func (e *Engine) readSuspects(ctx context.Context) error {
	ids, err := e.store.Suspects(ctx)
	if err != nil {
		return fmt.Errorf("read suspects: %w", err)
	}
	for _, id := range ids {
		if !e.watchdog.has(id) { // else it is known before long whether its step ends
			e.suspects.add(id, false)
		}
	}
	e.suspects.look = false
	return nil
}

// pauseSuspects pauses the suspects. What cannot be paused now stays one, and rests.
func (e *Engine) pauseSuspects(ctx context.Context, tell func(error)) error {
	x := &e.suspects
	if x.look {
		if err := e.readSuspects(ctx); err != nil {
			return err
		}
	}
	x.mu.Lock()
	all := maps.Clone(x.all)
	x.mu.Unlock()
	now := e.now()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		key := taskKey{kind: "suspect", id: id}
		if _, rests := e.troubles.resting(key, now); rests {
			continue
		}
		err := e.pauseExpensive(ctx, id, all[id])
		if err == nil {
			err = e.store.Unsuspect(ctx, id)
		}
		if err != nil {
			e.troubles.fail(key, now) // which also says when to try again
			tell(fmt.Errorf("pause suspect %s: %w", id, err))
			continue
		}
		e.troubles.forget(key)
		x.mu.Lock()
		delete(x.all, id)
		x.mu.Unlock()
		e.changed(id)
	}
	return nil
}

// pauseExpensive pauses an instance whose steps take too long, and gives it nothing else. One
// that cannot be paused, because it has no state or none that can be read, is set aside; so is one
// that is paused already where that does not help: what comes is evaluated all the same.
func (e *Engine) pauseExpensive(ctx context.Context, id string, again bool) error {
	l, err := e.seize(ctx, id)
	if err != nil {
		return err
	}
	defer e.live.release(l)
	for range maxConflicts {
		if err = e.pauseOnce(ctx, l, again); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return err
}

func (e *Engine) pauseOnce(ctx context.Context, l *live, again bool) error {
	l.forget()
	err := e.load(ctx, l)
	var broken *brokenError
	switch {
	case isMissing(err):
		return nil
	case errors.As(err, &broken):
		return e.setAside(ctx, l, err, nil)
	case err != nil:
		return err
	case l.row.Status.Final() || l.row.Quarantine != "" || l.row.Status == core.Paused && !again:
		return nil
	case l.row.Status == core.Paused:
		return e.setAside(ctx, l, &brokenError{fmt.Errorf("a step did not end though it is paused (%s)", core.TooExpensive)}, nil)
	case l.state == nil:
		return e.setAside(ctx, l, &brokenError{fmt.Errorf("its first step did not end (%s)", core.TooExpensive)}, nil)
	}
	f := e.newFold(l)
	pause := core.Control{Verb: core.VerbSuspend, Actor: watchdogActor, TooExpensive: true}
	if _, rejected, err := f.run(ctx, []input{{in: pause, at: e.now(), extra: 1}}); err != nil || rejected != nil {
		l.forget()
		return errors.Join(err, rejected)
	}
	return e.commit(ctx, f)
}
