package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Sent is what became of an event.
type Sent struct {
	Duplicate bool     // it was here before; nothing happened
	Matched   []string // instances that get it
	Started   []string // instances that it started
	Kept      bool     // nobody has it yet
	Why       []string // what differed from what others wait for, or whom it is kept for
}

// Send takes an event: once per source and id while it is kept. When Send returns, the
// event is stored. Where exactly one instance waited for it, that has gone on; Poll lets all
// others go on.
func (e *Engine) Send(ctx context.Context, ev event.Event) (Sent, error) {
	if err := ev.Check(); err != nil {
		return Sent{}, err
	}
	if e.isLifecycle(&ev) {
		return Sent{Why: []string{"it is a lifecycle event of this server, which workflows do not get"}}, nil
	}
	r, err := e.ingest(ctx, store.Event{Event: ev}, 0)
	if errors.Is(err, store.ErrDuplicate) {
		if !expr.Equal(r.earlier.Value(), ev.Value()) {
			return Sent{}, &EventConflictError{ev.Source, ev.ID}
		}
		return Sent{Duplicate: true}, nil
	}
	if err != nil {
		return Sent{}, fmt.Errorf("take event %s of %s: %w", ev.ID, ev.Source, err)
	}
	out := Sent{Kept: r.kept, Why: r.why}
	seen := map[string]bool{}
	for _, d := range r.routing.Deliver {
		if d.Event == r.seq && !seen[d.Instance] {
			seen[d.Instance] = true
			out.Matched = append(out.Matched, d.Instance)
		}
	}
	for _, n := range r.routing.Start {
		out.Started = append(out.Started, n.Instance.ID)
	}
	return out, nil
}

// ingested is how an event was routed.
type ingested struct {
	seq     int64
	routing store.Routing
	kept    bool
	why     []string
	earlier event.Event // of a duplicate
}

// ingest stores and routes an event. The emit with that Seq is done by it.
func (e *Engine) ingest(ctx context.Context, row store.Event, emit int64) (out ingested, err error) {
	for range maxConflicts {
		if out, err = e.ingestOnce(ctx, row, emit); !e.outdated(ctx, err) {
			break
		}
	}
	return out, err
}

// ingestion is an event that is being ingested.
type ingestion struct {
	e       *Engine
	r       *router
	row     store.Event
	emit    int64
	out     ingested
	damaged error
	direct  bool        // its step was stored with it
	decided atomic.Bool // whether the event goes directly: by its step, or by whoever does not wait for that
}

func (e *Engine) ingestOnce(ctx context.Context, row store.Event, emit int64) (ingested, error) {
	i := &ingestion{e: e, row: row, emit: emit}
	if err := i.run(ctx); err != nil {
		return ingested{earlier: i.out.earlier}, err
	}
	e.stored.Add(1)
	e.quotas.created(i.out.routing.Start)
	if !i.direct {
		e.wakeUp()
	}
	return i.out, e.withoutDamage(ctx, i.damaged)
}

// begin takes the time and the definitions by which the event is routed.
func (i *ingestion) begin() {
	i.r = i.e.newRouter()
	i.row.Received = i.r.now
	i.row.Until = i.r.now + core.Time(i.e.cfg.EventWindow)
}

// put stores the event and does what it is routed to do.
func (i *ingestion) put(ctx context.Context) error {
	stored, err := i.e.store.Ingest(ctx, i.row, i.emit, i.router(func(*store.Routing) error { return nil }))
	if errors.Is(err, store.ErrDuplicate) {
		i.out = ingested{earlier: stored.Event}
	}
	return err
}

// router routes the event. decide sees the routing; after an error of it nothing has happened.
func (i *ingestion) router(decide func(*store.Routing) error) store.EventRouter {
	return func(ev store.Event, v store.View) (store.Routing, error) {
		err := guard(func() error {
			d := i.r.event(ev, v, false)
			i.out = ingested{seq: ev.Seq, routing: d.Routing, kept: !d.taken, why: d.row.Why}
			if d.over != nil && i.emit == 0 {
				return d.over // its sender sends it again; an instance cannot
			}
			return decide(&i.out.routing)
		})
		i.damaged = v.Damaged()
		return i.out.routing, err
	}
}

// route decides again about kept events. A panic is an error: nothing happened then.
func (e *Engine) route(ctx context.Context, decide func(*router, store.View) store.Routing) (err error) {
	var damaged error
	var out store.Routing
	for range maxConflicts {
		if err := e.upToDate(ctx); err != nil {
			return err
		}
		r := e.newRouter()
		err = e.store.Route(ctx, func(v store.View) (store.Routing, error) {
			err := guard(func() error { out = decide(r, v); return nil })
			damaged = v.Damaged()
			return out, err
		})
		if !e.outdated(ctx, err) {
			break
		}
	}
	if err != nil {
		return err
	}
	e.stored.Add(1)
	e.quotas.created(out.Start)
	return e.withoutDamage(ctx, damaged)
}

// unrouted are events whose instance ended without taking them.
func (e *Engine) unrouted(ctx context.Context, _ core.Time, limit int) ([]task, error) {
	seqs, err := e.store.Again(ctx, limit)
	if err != nil {
		return nil, fmt.Errorf("read kept events: %w", err)
	}
	var out []task
	for _, seq := range seqs {
		out = append(out, task{key: taskKey{kind: "event", seq: seq}, do: func(ctx context.Context) error {
			var damaged error
			err := e.route(ctx, func(r *router, v store.View) store.Routing {
				ev, ok := v.Event(seq)
				if !ok {
					damaged = v.Damaged()
					return store.Routing{}
				}
				return r.event(ev, v, true).Routing
			})
			if err == nil && damaged != nil { // it stays in the list until its time is up
				err = damaged
			}
			if err != nil {
				return fmt.Errorf("route event %d again: %w", seq, err)
			}
			return nil
		}})
	}
	return out, nil
}

// fresh are new subscriptions, to be compared with the events that are kept. One is
// stored before this looks, and an event before its routing looks at subscriptions: they
// cannot miss each other.
func (e *Engine) fresh(ctx context.Context, _ core.Time, limit int) ([]task, error) {
	ids, err := e.store.Unchecked(ctx, limit)
	if err != nil {
		return nil, fmt.Errorf("read new subscriptions: %w", err)
	}
	var out []task
	for _, id := range ids {
		out = append(out, task{key: taskKey{kind: "subscriptions", id: id}, instance: id, do: func(ctx context.Context) error {
			if err := e.route(ctx, func(r *router, v store.View) store.Routing { return r.fresh(id, v) }); err != nil {
				return fmt.Errorf("match subscriptions of %s: %w", id, err)
			}
			return nil
		}})
	}
	return out, nil
}

// expired are starts whose events did not all come in time.
func (e *Engine) expired(ctx context.Context, now core.Time, limit int) ([]task, error) {
	list, err := e.store.Expired(ctx, now, limit)
	if err = e.withoutDamage(ctx, err); err != nil {
		return nil, fmt.Errorf("read gatherings: %w", err)
	}
	var out []task
	for _, g := range list {
		out = append(out, task{key: taskKey{kind: "gathering", seq: g.Seq}, do: func(ctx context.Context) error {
			if err := e.superseded(ctx, g); err != nil {
				return err
			}
			if err := e.route(ctx, func(r *router, v store.View) store.Routing { return r.expire(g, v) }); err != nil {
				return fmt.Errorf("expire gathering of %s: %w", g.Definition, err)
			}
			return nil
		}})
	}
	return out, nil
}
