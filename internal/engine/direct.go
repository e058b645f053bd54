package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Most events are for one instance that waits for nothing else at the moment. Its step then shares the
// commit of the event: no message, no second commit, no look for work. A step may take long, so it cannot run
// inside the store's transaction, where the routing is decided. The event is therefore routed twice: first, outside
// of a transaction, to learn which instance waits, then, after its step, to find that this is still so.

// errOtherRoute ends the commit of a step with its event: the event is for others by now.
var errOtherRoute = errors.New("another instance waits for the event")

// oneWaits reports whether the routing does nothing but give the event to one subscription.
func (i *ingestion) oneWaits() bool {
	r := &i.out.routing
	return len(r.Deliver) == 1 && r.Deliver[0].Event == i.out.seq && len(r.Start)+len(r.Gather)+len(r.Drop)+len(r.Again) == 0 &&
		!slices.ContainsFunc(r.Checked, func(id string) bool { return id != r.Deliver[0].Instance })
}

// run stores the event, together with the step of the instance that waits for it where there is exactly one,
// and this node does the work of that. In a shared store the commit of the step compares the deployments that the
// router knows; an event that goes by the inbox is routed by what is deployed now.
func (i *ingestion) run(ctx context.Context) error {
	i.begin()
	if i.e.shared == nil || i.r.deployed != 0 {
		if to, ok := i.preview(ctx); ok && i.e.has(to.Instance) && i.advanceInTime(ctx, to) {
			return nil
		}
	}
	if i.e.shared != nil {
		if err := i.e.upToDate(ctx); err != nil {
			return err
		}
		i.begin()
	}
	return i.put(ctx)
}

// preview finds the one delivery that taking the event would make. What it cannot tell shows when the event is
// taken.
func (i *ingestion) preview(ctx context.Context) (to store.Delivery, ok bool) {
	err := i.e.store.Preview(ctx, i.row, i.router(func(r *store.Routing) error {
		if ok = i.oneWaits(); ok {
			to = r.Deliver[0]
		}
		return nil
	}))
	return to, ok && err == nil
}

// directTime is how long the sender of an event waits for the step that shares its commit.
const directTime = 100 * time.Millisecond

// advanceInTime is advance, unless the step takes too long. A step may even never end: the watchdog handles
// that, and the event is stored without it meanwhile.
func (i *ingestion) advanceInTime(ctx context.Context, to store.Delivery) (stored bool) {
	if i.e.cfg.Inline {
		return i.advance(ctx, to)
	}
	done := make(chan bool, 1)
	step, stop := context.WithCancel(ctx)
	defer stop() // nobody needs a step that comes too late
	go func() {
		ok := false
		_ = guard(func() error { ok = i.advance(step, to); return nil })
		done <- ok
	}()
	late := time.NewTimer(directTime)
	defer late.Stop()
	select {
	case stored := <-done:
		return stored
	case <-late.C:
	case <-ctx.Done():
	}
	if i.decided.CompareAndSwap(false, true) {
		return false // the step will not be stored
	}
	return <-done // its commit is under way
}

// advance runs the step of the one instance that waits for the event, and stores both with one commit. It
// reports false, and nothing is stored, where the event must go by the inbox, or the step fails: that shows
// again when Poll repeats it.
func (i *ingestion) advance(ctx context.Context, to store.Delivery) (stored bool) {
	e := i.e
	l := e.live.acquireIdle(to.Instance)
	if l == nil {
		return false
	}
	defer e.live.release(l)
	e.renewSecrets(l)
	if (!l.trusted || l.state == nil) && e.load(ctx, l) != nil || !e.onlyWaits(l) {
		return false
	}
	f := e.newFold(l)
	_, _, err := f.run(ctx, []input{{in: to.Reply, at: to.At, event: true, extra: 1}})
	if err == nil && !f.did {
		return false
	}
	if err != nil || !i.decided.CompareAndSwap(false, true) {
		f.giveUp()
		l.forget() // the step is not stored
		return false
	}
	f.c.Unread = true // a message that came before must not be overtaken
	f.c.Deployed = i.r.deployed
	f.c.Event = &store.Arrival{Event: i.row, Emit: i.emit, Route: i.router(func(r *store.Routing) error {
		if !i.oneWaits() || r.Deliver[0].Instance != to.Instance || r.Deliver[0].Reply.Ticket != to.Reply.Ticket {
			return errOtherRoute
		}
		return nil
	})}
	err = e.commit(ctx, f)
	e.outdated(ctx, err)
	i.direct = err == nil
	return i.direct
}

// onlyWaits reports whether an instance has nothing to do before it may be given an event.
func (e *Engine) onlyWaits(l *live) bool {
	return l.state != nil && (l.row.Status == core.Waiting || l.row.Status == core.Running) && !l.row.Aside() && !e.holds(l.row.Definition) &&
		!l.row.More &&
		!e.overdue(l) && !e.suspects.has(l.id) && !e.calls.answered(l.id, e.timeFor(l))
}
