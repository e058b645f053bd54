package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// maxIngests is how often an event is looked at while others of the same source and id come
// and go ("ingest-looks").
const maxIngests = 16

// Ingest takes an event and routes it. Its Seq is given out before the router runs, without a
// lock: of two that come at the same time, the one with the greater Seq may be there
// first. One that comes after this returned has a greater one.
func (s *Store) Ingest(ctx context.Context, e store.Event, emit int64, route store.EventRouter) (store.Event, error) {
	return s.take(ctx, e, emit, route, nil)
}

// take is Ingest, together with the step of the instance that gets the event if step is not nil.
func (s *Store) take(ctx context.Context, e store.Event, emit int64, route store.EventRouter, step *commitRequest) (store.Event, error) {
	if !storable(e.Producer, e.Origin) {
		return store.Event{}, fmt.Errorf("event %s of %s: its producer: %w", e.Event.ID, e.Event.Source, store.ErrText)
	}
	data := codec.AppendEvent(nil, &e)
	for range maxIngests {
		out, err := s.takeOnce(ctx, e, data, emit, route, step)
		switch {
		case errors.Is(err, errKnown):
			continue // another one came meanwhile: look at it
		case errors.Is(err, store.ErrDuplicate):
			return out, err
		case err != nil:
			return store.Event{}, err
		}
		return out, nil
	}
	return store.Event{}, fmt.Errorf("event %s of %s: others like it come and go: %w", e.Event.ID, e.Event.Source, store.ErrConflict)
}

// takeOnce routes an event that is not a duplicate. The router may run several times: each run begins
// with the event as it came.
func (s *Store) takeOnce(ctx context.Context, came store.Event, data []byte, emit int64, route store.EventRouter, step *commitRequest) (store.Event, error) {
	var known *store.Event
	var kept store.Event
	err := s.routing(ctx, step, func(v *view) (*decision, error) {
		taken := came
		var err error
		if known, err = v.arrive(&taken); err != nil {
			return nil, err
		}
		if known != nil {
			return nil, errKnown
		}
		routing, err := store.Decide(func() (store.Routing, error) { return route(taken, v) }, &v.err)
		if err != nil {
			return nil, err
		}
		stored := taken
		d, err := s.decide(v.ctx, v.ns, routing, &stored)
		if err != nil {
			return nil, err
		}
		if step != nil {
			if err := d.fits(step); err != nil {
				return nil, err
			}
		}
		v.noteShapes()
		d.data, d.emit, d.keys = codec.SealEvent(data, &taken), emit, keysOf(v.known.shapes, &taken.Event)
		kept = stored
		kept.Taken = len(kept.Used) > 0
		for _, x := range routing.Deliver {
			if x.Event == kept.Seq {
				kept.Taken = true
				kept.For = slices.DeleteFunc(slices.Clone(kept.For), func(id string) bool { return id == x.Instance })
			}
		}
		return d, nil
	})
	if !errors.Is(err, errKnown) || known == nil {
		return kept, err
	}
	if known.Until <= came.Received { // its time is up
		if err := s.purgeAll(ctx, came.Received); err != nil {
			return came, err
		}
		return came, errKnown
	}
	if err := s.emitted(ctx, emit); err != nil {
		return came, err
	}
	return *known, fmt.Errorf("event %s of %s: %w", came.Event.ID, came.Event.Source, store.ErrDuplicate)
}

// Preview routes an event without taking it.
func (s *Store) Preview(ctx context.Context, e store.Event, route store.EventRouter) error {
	return s.ask(ctx, func(ns int32) error {
		known, err := s.shapesOf(ctx, ns)
		if err != nil {
			return err
		}
		e.Seq = math.MaxInt64
		v := &view{ctx: ctx, sp: s.space, ns: ns, q: s.db.pool, known: known}
		b := &pgx.Batch{}
		v.expect(b, &e)
		v.send(b)
		_, err = store.Decide(func() (store.Routing, error) { return route(e, v) }, &v.err)
		return err
	})
}

// arrive looks for an event of the same source and id, and gives out a Seq.
func (v *view) arrive(e *store.Event) (known *store.Event, err error) {
	b := &pgx.Batch{}
	b.Queue(v.sp.db.sql("SELECT * FROM ~.arrived($1, $2)"), v.ns, eventID(&e.Event)).Query(func(r pgx.Rows) error {
		return drain(r, func(r pgx.Rows) error {
			found, err := readEvent(r)
			known = &found
			return err
		})
	})
	b.Queue(v.sp.db.sql("SELECT nextval('~.seqs')")).QueryRow(func(r pgx.Row) error { return r.Scan(&e.Seq) })
	v.expect(b, e)
	v.send(b)
	return known, v.err
}

// expect reads what waits for the event that is being taken.
func (v *view) expect(b *pgx.Batch, e *store.Event) {
	v.pending = e
	if v.sp.db.has.standing {
		v.queueSubscriptions(b, e.Event, &v.waiting)
	}
}

// emitted forgets an emit.
func (s *Store) emitted(ctx context.Context, seq int64) error {
	if seq == 0 {
		return nil
	}
	return s.remove(ctx, "DELETE FROM ~.emits WHERE ns = $1 AND NOT sink AND seq = $2", seq)
}

// remove deletes something by its number; what is not there is gone already.
func (s *Store) remove(ctx context.Context, text string, seq int64) error {
	return s.write(ctx, func(ns int32) error {
		return s.db.retry(ctx, func(ctx context.Context) error {
			_, err := s.db.pool.Exec(ctx, s.db.sql(text), ns, seq)
			return wrap(err)
		})
	})
}

const (
	// purgeBatch is how many events one transaction forgets, and purgeBatches how many such
	// transactions one call of Purge asks for ("purge-batch").
	purgeBatch   = 1024
	purgeBatches = 16
)

// Purge forgets events whose time is up.
func (s *Store) Purge(ctx context.Context, now core.Time) error {
	return s.write(ctx, func(ns int32) error {
		if _, err := s.purgeEvents(ctx, ns, now); err != nil {
			return err
		}
		if err := s.foldRest(ctx); err != nil {
			return err
		}
		if at := time.Now(); at.UnixNano() > s.db.forgot.Load()+int64(forgetPause) {
			if err := s.db.forgetOutcomes(ctx); err != nil {
				return err
			}
			s.db.forgot.Store(at.UnixNano())
		}
		s.db.keepHouseSometimes()
		return nil
	})
}

// purgeAll forgets all events whose time is up, however many: one of them is in the way.
func (s *Store) purgeAll(ctx context.Context, now core.Time) error {
	return s.write(ctx, func(ns int32) error {
		for {
			if more, err := s.purgeEvents(ctx, ns, now); err != nil || !more {
				return err
			}
		}
	})
}

// purgeEvents forgets some, and tells whether there may be more.
func (s *Store) purgeEvents(ctx context.Context, ns int32, now core.Time) (more bool, err error) {
	for range purgeBatches {
		n := 0
		err := s.db.retry(ctx, func(ctx context.Context) error {
			return s.db.one(ctx, "SELECT ~.purge_events($1, $2, $3)", []any{ns, int64(now), s.db.opts.house.purge}, &n)
		})
		if err != nil {
			return false, err
		}
		if n < s.db.opts.house.purge { // more, if many end at one instant
			return false, nil
		}
	}
	return true, nil
}
