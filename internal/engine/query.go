package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Instance is the row of an instance: what can be read without its state.
type Instance = store.Instance

// Get reads an instance.
func (e *Engine) Get(ctx context.Context, id string) (Instance, error) {
	row, err := e.store.Instance(ctx, id)
	return row, notFound(err, id)
}

func notFound(err error, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return &NotFoundError{Kind: "instance", ID: id}
	}
	return err
}

// List reads all instances, oldest first.
func (e *Engine) List(ctx context.Context) ([]Instance, error) {
	return e.store.Instances(ctx, store.Query{})
}

// History reads the records of an instance.
func (e *Engine) History(ctx context.Context, id string) ([]core.Record, error) {
	list, err := e.store.Records(ctx, id, 0, 0)
	return list, notFound(err, id)
}

// Kept lists the newest store.MaxEventScan kept events, oldest first. Events that are not
// Taken are unmatched; Why has the reasons.
func (e *Engine) Kept(ctx context.Context) ([]store.Event, error) {
	page, err := e.EventPage(ctx, store.EventQuery{Newest: true})
	slices.Reverse(page.Events)
	return page.Events, err
}

// NearMiss is an event that almost matched what an instance waits for, and what differs.
type NearMiss struct {
	Event    store.Event
	Name     string // of the event that the instance waits for
	Why      string
	Distance int // how far it is from a match: see distance
}

// Waiting says what an instance waits for.
type Waiting struct {
	Instance      Instance
	Open          []core.Open
	Subscriptions []store.Subscription
	NearMisses    []NearMiss // kept events of the types that it waits for: the closest first, then the newest
	Others        int        // those left out because they are for other instances
}

// maxNearMisses limits both the event types and the kept events of each type that are compared
// with what an instance waits for ("near-misses").
const maxNearMisses = 50

// Waiting reads what an instance waits for.
func (e *Engine) Waiting(ctx context.Context, id string) (Waiting, error) {
	row, err := e.Get(ctx, id)
	if err != nil {
		return Waiting{}, err
	}
	out := Waiting{Instance: row}
	err = e.look(ctx, &row, func(prog *core.Program, state *core.State) { out.Open = state.Open(prog) })
	if err != nil {
		return Waiting{}, err
	}
	out.Subscriptions, err = e.store.Subscriptions(ctx, id)
	if err = e.withoutDamage(ctx, err); err != nil {
		return Waiting{}, err
	}
	if len(out.Subscriptions) == 0 {
		return out, nil
	}
	misses, err := e.nearMisses(ctx, out.Subscriptions)
	out.NearMisses, out.Others = closest(misses)
	return out, err
}

// look shows the stored state of an instance, if it has one that can be trusted.
func (e *Engine) look(ctx context.Context, row *Instance, at func(*core.Program, *core.State)) error {
	pages, err := e.store.Pages(ctx, row.ID)
	if err != nil && (row.Quarantine == "" || !errors.Is(err, store.ErrDamaged)) {
		return err
	}
	prog, err := e.program(ctx, row.Digest)
	if err != nil || len(pages) == 0 || row.Quarantine != "" {
		return err
	}
	state, err := decode(prog, pages, nil)
	if err == nil {
		err = guard(func() error { at(prog, state); return nil })
	}
	if err != nil {
		return fmt.Errorf("instance %s: %w", row.ID, err)
	}
	return nil
}

// Items lists items of a foreach that an instance runs or failed in, and the index that the next page begins
// with; 0: there is none. Without such a foreach it is a *[NotFoundError].
func (e *Engine) Items(ctx context.Context, id string, q core.ItemQuery) (out []core.ListedItem, next int, err error) {
	row, err := e.Get(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	known := false
	err = e.look(ctx, &row, func(prog *core.Program, state *core.State) { out, next, known = state.Items(prog, q) })
	if err == nil && !known {
		err = &NotFoundError{Kind: "foreach", ID: q.State}
	}
	return out, next, err
}

// nearMisses compares subscriptions with the newest kept events of their types.
func (e *Engine) nearMisses(ctx context.Context, subs []store.Subscription) (out []NearMiss, err error) {
	byType := map[string][]store.Event{}
	for _, s := range subs {
		events, read := byType[s.Filter.Type]
		if !read {
			if len(byType) == maxNearMisses {
				continue
			}
			page, err := e.EventPage(ctx, store.EventQuery{Type: s.Filter.Type, Newest: true, Limit: maxNearMisses})
			if err != nil {
				return nil, err
			}
			events = page.Events
			slices.Reverse(events)
			byType[s.Filter.Type] = events
		}
		for _, ev := range events {
			if ev.Taken || len(ev.For) > 0 { // it was for another instance
				continue
			}
			if why := missed(ev, s); why != "" {
				out = append(out, NearMiss{ev, s.Name, why, distance(ev.Event, s.Filter)})
			}
		}
	}
	return out, nil
}

// missed returns why a subscription does not get an event of its type.
func missed(ev store.Event, s store.Subscription) string {
	ok, why := s.Filter.Match(ev.Event)
	switch {
	case s.Filter.Type != "" && s.Filter.Type != ev.Event.Type:
		return ""
	case !ok:
		return why
	case ev.Producer == s.Instance:
		return "the instance produced it itself"
	case ev.Seq < s.InstanceSeq && !s.Filter.Correlated():
		return "it came before the instance was created, and nothing correlates them"
	}
	return ""
}

// Wait blocks until an instance is over, or set aside.
func (e *Engine) Wait(ctx context.Context, id string) (Instance, error) {
	return e.WaitUntil(ctx, id, nil, nil)
}

// WaitUntil is Wait up to a time, or until stop is closed: then it returns the instance as it is.
func (e *Engine) WaitUntil(ctx context.Context, id string, late <-chan time.Time, stop <-chan struct{}) (Instance, error) {
	for mayWait := true; ; {
		w := e.watch(id)
		var row Instance
		known := false
		if e.cacheIsCurrent() {
			row, known = e.live.idleRow(id)
		} else if mayWait && e.live.has(id) {
			changed, ended := e.changesSoon(ctx, w, late, stop)
			if ended {
				e.unwatch(id, w)
				return e.Get(ctx, id)
			}
			if changed {
				if w.over() {
					return *w.row, nil
				}
				mayWait = w.row != nil // without a row, another node may have ended it: read it
				continue
			}
			if err := ctx.Err(); err != nil {
				e.unwatch(id, w)
				return row, err
			}
		}
		if !known {
			var err error
			if row, err = e.Get(ctx, id); err != nil {
				e.wakeWatchers(id, nil) // so that the other callers of Wait read it too
				return row, err
			}
		}
		if row.Status.Final() || row.Quarantine != "" {
			e.wakeWatchers(id, &row)
			return row, nil
		}
		select {
		case <-w.changed:
			if w.over() {
				return *w.row, nil
			}
			mayWait = w.row != nil
		case <-late:
			e.unwatch(id, w)
			return e.Get(ctx, id)
		case <-stop:
			e.unwatch(id, w)
			return e.Get(ctx, id)
		case <-ctx.Done():
			e.unwatch(id, w)
			return row, ctx.Err()
		}
	}
}

// watch is shared by all callers that wait for one instance.
type watch struct {
	changed chan struct{}
	callers int
	away    bool      // the instance was not in memory when the watch began
	row     *Instance // once changed is closed: the committed row, if known
}

// over reports whether the committed row is final. Call it only after changed is closed.
func (w *watch) over() bool {
	return w.row != nil && (w.row.Status.Final() || w.row.Quarantine != "")
}

// readDelay is how long Wait puts off reading an instance that is in memory here. Most instances
// end before that, which saves a query.
const readDelay = 100 * time.Millisecond

// changesSoon waits readDelay for a change, and reports whether one came, or whether the wait is to end.
func (e *Engine) changesSoon(ctx context.Context, w *watch, late <-chan time.Time, stop <-chan struct{}) (changed, ended bool) {
	alarm := time.NewTimer(readDelay)
	defer alarm.Stop()
	select {
	case <-w.changed:
		return true, false
	case <-late:
		return false, true
	case <-stop:
		return false, true
	case <-alarm.C:
	case <-ctx.Done():
	}
	return false, false
}

func (e *Engine) watch(id string) *watch {
	e.mu.Lock()
	defer e.mu.Unlock()
	w := e.watches[id]
	if w == nil {
		w = &watch{changed: make(chan struct{}), away: !e.live.has(id)}
		e.watches[id] = w
	}
	w.callers++
	return w
}

// unwatch removes a caller that stops waiting.
func (e *Engine) unwatch(id string, w *watch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w.callers--
	if w.callers == 0 && e.watches[id] == w {
		delete(e.watches, id)
	}
}

// wakeWatchers wakes the callers that wait for an instance to change, and gives them the committed row.
// A schedule may wait for its end, too.
func (e *Engine) wakeWatchers(id string, row *Instance) {
	if (row == nil || row.Status.Final()) && e.chains.ended(id) {
		e.wakeUp()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if w := e.watches[id]; w != nil {
		if w.row = nil; row != nil {
			own := *row // it changes with the next step
			w.row = &own
		}
		close(w.changed)
		delete(e.watches, id)
	}
}
