package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// owned is of which shards work is listed; nil: of all.
func (sp *space) owned() []int16 {
	if list := sp.db.shards.Load(); list != nil {
		return *list
	}
	return sp.leases.owned()
}

// own says of which shards work is listed from now on; nil: of all. Only lists of work heed
// it: any process may commit any instance, and the revision decides.
func (db *DB) own(shards []int16) {
	if shards == nil {
		db.shards.Store(nil)
	} else {
		db.shards.Store(&shards)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, sp := range db.spaces {
		sp.queue.forget()
	}
}

// mine narrows a list of work to the shards of this process.
const mine = " AND ($2::smallint[] IS NULL OR shard = ANY ($2)) "

// minesByNumber is mine for what belongs to no instance: by its number, of which others come
// in blocks.
const minesByNumber = " AND ($2::smallint[] IS NULL OR (seq + (seq >> 10)) & 63 = ANY ($2)) "

// Calls lists the calls without an answer.
func (s *Store) Calls(ctx context.Context, id string) (out []store.Call, err error) {
	var narrow []int16
	if list := s.db.shards.Load(); list != nil {
		narrow = *list
	}
	return s.callsOf(ctx, id, narrow)
}

func (s *Store) callsOf(ctx context.Context, id string, shards []int16) (out []store.Call, err error) {
	var damaged store.DamagedError
	const text = "SELECT c.seq, i.id, i.created, c.parked, c.shard, c.call, c.ticket FROM ~.calls c JOIN ~.instances i ON i.ns = c.ns AND i.seq = c.inst WHERE NOT i.aside AND c.ns = $1 "
	err = s.ask(ctx, func(ns int32) error {
		query, args := text+"AND ($2::smallint[] IS NULL OR c.shard = ANY ($2))", []any{ns, shards}
		if id != "" {
			if !storable(id) {
				return nil
			}
			query, args = text+"AND i.id = $2", []any{ns, id}
		}
		return s.db.each(ctx, s.db.pool, query, args, func(r pgx.Rows) error {
			ticket := int64(0)
			c, err := readCall(withMore{r, []any{&ticket}})
			if err == nil && int64(c.Ticket) != ticket {
				err = fmt.Errorf("a call of %s is %w: it is that of ticket %s", c.Instance, store.ErrDamaged, c.Ticket)
			}
			return keep(&out, &damaged, c, c.Seq, c.Instance, err)
		})
	})
	slices.SortFunc(out, func(a, b store.Call) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, cmp.Or(err, damaged.Err())
}

// keep puts what was read into a list, or among those that are damaged.
func keep[T any](out *[]T, damaged *store.DamagedError, v T, seq int64, instance string, err error) error {
	switch {
	case errors.Is(err, store.ErrDamaged):
		damaged.Add(seq, instance, err)
	case err != nil:
		return err
	default:
		*out = append(*out, v)
	}
	return nil
}

// Emits lists the events that are yet to be ingested.
func (s *Store) Emits(ctx context.Context, limit int) ([]store.Emit, error) {
	return s.emits(ctx, false, limit)
}

// Outbound lists the events that the sink did not take yet.
func (s *Store) Outbound(ctx context.Context, limit int) ([]store.Emit, error) {
	return s.emits(ctx, true, limit)
}

// Sent forgets an event that the sink took.
func (s *Store) Sent(ctx context.Context, seq int64) error {
	return s.remove(ctx, "DELETE FROM ~.emits WHERE ns = $1 AND sink AND seq = $2", seq)
}

// newestPos is a position of which holds: whatever becomes visible later has greater numbers.
const newestPos = "SELECT coalesce((SELECT pos FROM ~.history WHERE ns = $1 ORDER BY pos DESC LIMIT 1), 0)"

// emits lists from the first that was there when they were listed last: numbers become visible
// in order, and before it lie all that went since the oldest transaction began.
func (s *Store) emits(ctx context.Context, sink bool, limit int) (out []store.Emit, err error) {
	var damaged store.DamagedError
	which := 0
	if sink {
		which = 1
	}
	err = s.ask(ctx, func(ns int32) error {
		q := &s.queue
		q.mu.Lock()
		parts := s.Parts()
		q.current(parts)
		first := q.emits[which]
		q.mu.Unlock()
		newest := int64(0)
		b := &pgx.Batch{}
		b.Queue(s.db.sql(newestPos), ns).QueryRow(func(r pgx.Row) error { return r.Scan(&newest) })
		b.Queue(s.db.sql("SELECT seq, instance, definition, event FROM ~.emits WHERE ns = $1"+mine+"AND sink = $3 AND seq >= $5 ORDER BY seq LIMIT $4"), ns, s.owned(), sink, limit, first).Query(func(r pgx.Rows) error {
			return drain(r, func(r pgx.Rows) error {
				e, err := readEmit(r, sink)
				return keep(&out, &damaged, e, e.Seq, e.Instance, err)
			})
		})
		if err := s.db.pool.SendBatch(ctx, b).Close(); err != nil || limit <= 0 {
			return wrap(err)
		}
		if len(out) > 0 {
			newest = out[0].Seq
		}
		for _, row := range damaged.Rows {
			newest = min(newest, row.Seq)
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.parts == parts && parts == s.Parts() && q.emits[which] == first { // else others were listed
			q.emits[which] = max(first, newest)
		}
		return nil
	})
	return out, cmp.Or(err, damaged.Err())
}

func readEmit(r pgx.Rows, sink bool) (e store.Emit, err error) {
	var data []byte
	e.Sink = sink
	if err := r.Scan(&e.Seq, &e.Instance, &e.Definition, &data); err != nil {
		return e, err
	}
	if err = codec.DecodeEmit(data, &e); err != nil {
		err = fmt.Errorf("event %d that %s produced is %w: %w", e.Seq, e.Instance, store.ErrDamaged, err)
	}
	return e, err
}

// Unchecked lists the instances that have fresh subscriptions.
func (s *Store) Unchecked(ctx context.Context, limit int) (out []string, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, "SELECT s.id FROM (SELECT DISTINCT inst, id FROM ~.subs WHERE ns = $1 AND fresh AND NOT busy"+mine+") s "+
			"JOIN ~.instances i ON i.ns = $1 AND i.seq = s.inst WHERE NOT i.aside ORDER BY s.inst LIMIT $3", []any{ns, s.owned(), limit}, func(r pgx.Rows) error {
			id := ""
			err := r.Scan(&id)
			out = append(out, id)
			return err
		})
	})
	return out, err
}

// Again lists the events that must be routed again.
func (s *Store) Again(ctx context.Context, limit int) (out []int64, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, "SELECT seq FROM ~.events e WHERE ns = $1 AND again AND "+notForgotten+minesByNumber+"ORDER BY seq LIMIT $3", []any{ns, s.owned(), limit}, func(r pgx.Rows) error {
			seq := int64(0)
			err := r.Scan(&seq)
			out = append(out, seq)
			return err
		})
	})
	return out, err
}

// Expired lists the gatherings whose time is up.
func (s *Store) Expired(ctx context.Context, now core.Time, limit int) (out []store.Gathering, err error) {
	var damaged store.DamagedError
	err = s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, "SELECT "+gatheringFields+" FROM ~.gatherings WHERE ns = $1"+minesByNumber+"AND until <= $3 ORDER BY until, seq LIMIT $4", []any{ns, s.owned(), int64(now), limit}, func(r pgx.Rows) error {
			g, err := readGathering(r)
			return keep(&out, &damaged, g, g.Seq, "", err)
		})
	})
	return out, cmp.Or(err, damaged.Err())
}

// Schedules lists those that are due.
func (s *Store) Schedules(ctx context.Context, now core.Time) (out []store.Schedule, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, "SELECT definition, digest, next FROM ~.schedules WHERE ns = $1 AND next <= $2", []any{ns, int64(now)}, func(r pgx.Rows) error {
			var c store.Schedule
			err := r.Scan(&c.Definition, &c.Digest, &c.Next)
			out = append(out, c)
			return err
		})
	})
	if owned := s.owned(); owned != nil {
		out = slices.DeleteFunc(out, func(c store.Schedule) bool { return !slices.Contains(owned, shardOf(c.Definition)) })
	}
	slices.SortFunc(out, func(a, b store.Schedule) int {
		return cmp.Or(cmp.Compare(a.Next, b.Next), cmp.Compare(a.Definition, b.Definition))
	})
	return out, err
}

// Next is when something will be due. One that was woken sleeps on where the clock stepped
// back.
func (s *Store) Next(ctx context.Context, after core.Time) (at core.Time, found bool, err error) {
	err = s.ask(ctx, func(ns int32) error {
		var first *int64
		s.queue.mu.Lock()
		low, seen := s.queue.low, s.queue.seen
		if parts := s.Parts(); seen < 0 || parts != s.queue.parts {
			low, seen = math.MinInt64, math.MaxInt64 // from the first on, and there are no others
		}
		s.queue.mu.Unlock()
		err := s.db.one(ctx, "SELECT ~.next_due($1, $2, $3, $4)", []any{ns, int64(after), low, seen}, &first)
		if first != nil {
			at, found = core.Time(*first), true
		}
		return err
	})
	return at, found, err
}
