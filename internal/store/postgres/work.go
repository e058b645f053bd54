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

// owned returns the shards whose work is listed; nil: all shards.
func (sp *space) owned() []int16 {
	if list := sp.db.shards.Load(); list != nil {
		return *list
	}
	return sp.leases.owned()
}

// listOnly restricts the lists of work to some shards; nil: to none. Only the lists are
// restricted: any process may commit any instance, and the revision decides.
func (db *DB) listOnly(shards []int16) {
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

// inOwnedShards restricts a list of work to the shards of this process.
const inOwnedShards = " AND ($2::smallint[] IS NULL OR shard = ANY ($2)) "

// seqInOwnedShards does the same for rows that belong to no instance: it derives a shard from the
// sequence number. The shift mixes in higher bits because numbers are allocated in blocks.
const seqInOwnedShards = " AND ($2::smallint[] IS NULL OR (seq + (seq >> 10)) & 63 = ANY ($2)) "

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
	const text = "SELECT c.seq, i.id, i.created, c.parked, c.shard, c.call, c.ticket " +
		"FROM ~.calls c JOIN ~.instances i ON i.ns = c.ns AND i.seq = c.inst WHERE NOT i.aside AND c.ns = $1 "
	err = s.ask(ctx, func(ns int32) error {
		query, args := text+"AND ($2::smallint[] IS NULL OR c.shard = ANY ($2))", []any{ns, shards}
		if id != "" {
			if !storable(id) {
				return nil
			}
			query, args = text+"AND i.id = $2", []any{ns, id}
		}
		var rows []storedCall
		err := s.db.each(ctx, s.db.pool, query, args, func(r pgx.Rows) error {
			ticket := int64(0)
			c, err := readCall(withMore{r, []any{&ticket}})
			c.ticket = ticket
			rows = append(rows, c)
			return err
		})
		if err != nil {
			return err
		}
		return s.decodeCalls(ctx, ns, rows, &out, &damaged)
	})
	slices.SortFunc(out, func(a, b store.Call) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, cmp.Or(err, damaged.Err())
}

// keep appends a row to out, or if it is damaged to damaged.
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

// Outbound lists the events that the sink has not accepted yet.
func (s *Store) Outbound(ctx context.Context, limit int) ([]store.Emit, error) {
	return s.emits(ctx, true, limit)
}

// Sent removes an event that the sink accepted.
func (s *Store) Sent(ctx context.Context, seq int64) error {
	return s.remove(ctx, "DELETE FROM ~.emits WHERE ns = $1 AND sink AND seq = $2", seq)
}

// newestPos selects the newest visible position: rows that become visible later have greater numbers.
const newestPos = "SELECT coalesce((SELECT pos FROM ~.history WHERE ns = $1 ORDER BY pos DESC LIMIT 1), 0)"

// emits starts at the first emit that it found last time. Numbers become visible in order, so none
// can appear before it, and the scan skips the dead rows of emits that were sent since the oldest
// transaction began.
func (s *Store) emits(ctx context.Context, sink bool, limit int) (out []store.Emit, err error) {
	var damaged store.DamagedError
	which := 0
	if sink {
		which = 1
	}
	err = s.ask(ctx, func(ns int32) error {
		q := &s.queue
		q.mu.Lock()
		changes := s.ShardChanges()
		q.current(changes)
		first := q.emits[which]
		q.mu.Unlock()
		newest := int64(0)
		b := &pgx.Batch{}
		b.Queue(s.db.sql(newestPos), ns).QueryRow(func(r pgx.Row) error { return r.Scan(&newest) })
		query := "SELECT seq, instance, definition, event FROM ~.emits WHERE ns = $1" + inOwnedShards +
			"AND sink = $3 AND seq >= $5 ORDER BY seq LIMIT $4"
		b.Queue(s.db.sql(query), ns, s.owned(), sink, limit, first).Query(func(r pgx.Rows) error {
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
		// Otherwise the shards changed meanwhile, or another call listed them first.
		if q.shardChanges == changes && changes == s.ShardChanges() && q.emits[which] == first {
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
		query := "SELECT s.id FROM (SELECT DISTINCT inst, id FROM ~.subs WHERE ns = $1 AND fresh AND NOT busy" + inOwnedShards + ") s " +
			"JOIN ~.instances i ON i.ns = $1 AND i.seq = s.inst WHERE NOT i.aside ORDER BY s.inst LIMIT $3"
		return s.db.each(ctx, s.db.pool, query, []any{ns, s.owned(), limit}, func(r pgx.Rows) error {
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
		query := "SELECT seq FROM ~.events e WHERE ns = $1 AND again AND " + notForgotten + seqInOwnedShards +
			"ORDER BY seq LIMIT $3"
		return s.db.each(ctx, s.db.pool, query, []any{ns, s.owned(), limit}, func(r pgx.Rows) error {
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
		query := "SELECT " + gatheringFields + " FROM ~.gatherings WHERE ns = $1" + seqInOwnedShards +
			"AND until <= $3 ORDER BY until, seq LIMIT $4"
		return s.db.each(ctx, s.db.pool, query, []any{ns, s.owned(), int64(now), limit}, func(r pgx.Rows) error {
			g, err := readGathering(r)
			return keep(&out, &damaged, g, g.Seq, "", err)
		})
	})
	return out, cmp.Or(err, damaged.Err())
}

// Schedules lists the schedules that are due.
func (s *Store) Schedules(ctx context.Context, now core.Time) (out []store.Schedule, err error) {
	err = s.ask(ctx, func(ns int32) error {
		out, err = s.schedules(ctx, ns, now)
		return err
	})
	if owned := s.owned(); owned != nil {
		out = slices.DeleteFunc(out, func(c store.Schedule) bool { return !slices.Contains(owned, shardOf(c.Definition)) })
	}
	slices.SortFunc(out, func(a, b store.Schedule) int {
		return cmp.Or(cmp.Compare(a.Next, b.Next), cmp.Compare(a.Definition, b.Definition))
	})
	return out, err
}

// ListSchedules lists all schedules.
func (s *Store) ListSchedules(ctx context.Context) (out []store.Schedule, err error) {
	err = s.ask(ctx, func(ns int32) error {
		out, err = s.schedules(ctx, ns, math.MaxInt64)
		return err
	})
	slices.SortFunc(out, func(a, b store.Schedule) int { return cmp.Compare(a.Definition, b.Definition) })
	return out, err
}

func (s *Store) schedules(ctx context.Context, ns int32, now core.Time) (out []store.Schedule, err error) {
	const query = "SELECT definition, digest, next, fires FROM ~.schedules WHERE ns = $1 AND next <= $2"
	err = s.db.each(ctx, s.db.pool, query, []any{ns, int64(now)}, func(r pgx.Rows) error {
		var c store.Schedule
		err := r.Scan(&c.Definition, &c.Digest, &c.Next, &c.Fires)
		out = append(out, c)
		return err
	})
	return out, err
}

// Next is when the next timer, gathering or schedule is due. If the clock stepped back, an
// instance that was already woken counts as sleeping again.
func (s *Store) Next(ctx context.Context, after core.Time) (at core.Time, found bool, err error) {
	err = s.ask(ctx, func(ns int32) error {
		var first *int64
		s.queue.mu.Lock()
		low, seen := s.queue.low, s.queue.seen
		if seen < 0 || s.ShardChanges() != s.queue.shardChanges {
			low, seen = math.MinInt64, math.MaxInt64 // what was seen is unknown: search them all
		}
		s.queue.mu.Unlock()
		args := pgx.NamedArgs{"ns": ns, "after": int64(after), "low": low, "seen": seen}
		err := s.db.named(ctx, "SELECT ~.next_due(p_ns => @ns, p_after => @after, p_low => @low, p_seen => @seen)", args, &first)
		if first != nil {
			at, found = core.Time(*first), true
		}
		return err
	})
	return at, found, err
}
