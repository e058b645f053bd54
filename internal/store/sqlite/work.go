package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// wakeBatch is how many instances are woken at least when there are so many; the others
// stay in the file until it is their turn ("wake-batch").
const wakeBatch = 1024

// Ready lists instances that have something to do.
func (s *Store) Ready(ctx context.Context, now core.Time, limit int) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.db.mu.Lock()
	s.stepBack(now)
	wake := s.wakes <= now && s.due < max(limit, wakeBatch)
	s.db.mu.Unlock()
	if wake {
		// In the writer's order: what it finds, no commit can change meanwhile.
		if err := s.db.writer.submit(ctx, 0, func(t *tx) error { return t.wake(s.space, now, limit) }); err != nil {
			return nil, fmt.Errorf("read wake times: %w", err)
		}
	}
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	out := make([]string, 0, min(limit, s.ready.Len()))
	for e := s.ready.Front(); e != nil && len(out) < limit; e = e.Next() {
		out = append(out, e.Value.(*work).id)
	}
	return out, nil
}

// wake makes those ready whose time has come, the earliest first.
func (t *tx) wake(sp *space, now core.Time, limit int) error {
	type sleeper struct {
		seq  int64
		id   string
		wake core.Time
	}
	var list []sleeper
	t.w.db.mu.Lock()
	most := max(limit, wakeBatch) + sp.due
	t.w.db.mu.Unlock()
	err := t.conn.query("SELECT seq, id, wake FROM instances WHERE ns = ? AND wake <= ? ORDER BY wake, seq LIMIT ?", func(r row) error {
		list = append(list, sleeper{r.ColumnInt64(0), r.ColumnText(1), core.Time(r.ColumnInt64(2))})
		return nil
	}, sp.ns, int64(now), most)
	if err != nil {
		return err
	}
	next, some := int64(now), true // there are more
	if len(list) < most {
		if next, some, err = t.conn.number("SELECT min(wake) FROM instances WHERE ns = ? AND wake > ?", sp.ns, int64(now)); err != nil {
			return err
		}
		if !some {
			next = int64(never)
		}
	}
	t.then(func() {
		sp.wakes, sp.wakeExact = core.Time(next), some && len(list) < most
		for _, x := range list {
			w := sp.entry(x.seq, x.id)
			if !w.due {
				w.wake = x.wake
				sp.setDue(w, true)
				sp.file(w)
			}
		}
	})
	return nil
}

// Messages lists an inbox.
func (s *Store) Messages(ctx context.Context, id string) (out []store.Message, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.db.mu.Lock()
	w := s.byID[id]
	some := w != nil && w.messages > 0
	seq := int64(0)
	if some {
		seq = w.seq
	}
	s.db.mu.Unlock()
	if !some {
		return nil, nil
	}
	err = s.db.read(ctx, func(c *conn) error {
		out, err = c.messages(s.ns, seq, id)
		return err
	})
	return out, err
}

// messages reads an inbox; one that is damaged is there without its input.
func (c *conn) messages(ns, inst int64, id string) (out []store.Message, err error) {
	var damaged error
	err = c.query("SELECT seq, at, event, input FROM inbox WHERE ns = ? AND inst = ? ORDER BY seq", func(r row) error {
		m := store.Message{Seq: r.ColumnInt64(0), To: id, At: core.Time(r.ColumnInt64(1)), Event: r.ColumnInt64(2)}
		if err := codec.DecodeInput(blob(r, 3), &m); err != nil {
			damaged = cmp.Or(damaged, fmt.Errorf("message %d to %s is %w: %w", m.Seq, m.To, store.ErrDamaged, err))
		}
		out = append(out, m)
		return nil
	}, ns, inst)
	return out, cmp.Or(err, damaged)
}

// Calls lists the calls without an answer.
func (s *Store) Calls(ctx context.Context, id string) (out []store.Call, err error) {
	const query = "SELECT c.seq, i.id, c.call, i.created, c.ticket, c.inst FROM calls c CROSS JOIN instances i ON i.seq = c.inst WHERE i.aside IS NULL AND c.ns = ?"
	var damaged store.DamagedError
	var c *conn
	read := func(r row) error {
		call := store.Call{Seq: r.ColumnInt64(0), Instance: r.ColumnText(1), Created: core.Time(r.ColumnInt64(3))}
		data := blob(r, 2)
		var chunks *codec.ChunkSource
		if codec.Refers(data) {
			chunks = c.chunks(r.ColumnInt64(5), call.Instance)
		}
		err := codec.DecodeInvoke(data, &call, chunks)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			return err
		}
		if err == nil && int64(call.Ticket) != r.ColumnInt64(4) {
			err = fmt.Errorf("it is that of ticket %s", call.Ticket)
		}
		if err != nil {
			damaged.Add(call.Seq, call.Instance, fmt.Errorf("a call of %s is %w: %w", call.Instance, store.ErrDamaged, err))
			return nil
		}
		out = append(out, call)
		return nil
	}
	err = s.db.read(ctx, func(reader *conn) error {
		c = reader
		if id == "" {
			return c.query(query, read, s.ns)
		}
		return c.query(query+" AND c.inst = (SELECT seq FROM instances WHERE ns = ? AND id = ?)", read, s.ns, s.ns, id)
	})
	slices.SortFunc(out, func(a, b store.Call) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, cmp.Or(err, damaged.Err())
}

// list reads a list unless it is known to be empty.
func (s *Store) list(ctx context.Context, known *maybe, read func(*conn) (int, error)) error {
	s.db.mu.Lock()
	some, gen := known.some, known.gen
	s.db.mu.Unlock()
	if !some {
		return ctx.Err()
	}
	n := 0
	err := s.db.read(ctx, func(c *conn) (err error) {
		n, err = read(c)
		return err
	})
	if err == nil && n == 0 {
		s.db.mu.Lock()
		known.clear(gen)
		s.db.mu.Unlock()
	}
	return err
}

// Emits lists the events that are yet to be ingested.
func (s *Store) Emits(ctx context.Context, limit int) (out []store.Emit, err error) {
	return s.emitted(ctx, &s.emits, false, limit)
}

// Outbound lists the events that the sink did not take yet.
func (s *Store) Outbound(ctx context.Context, limit int) (out []store.Emit, err error) {
	return s.emitted(ctx, &s.sends, true, limit)
}

// Sent forgets an event that the sink took.
func (s *Store) Sent(ctx context.Context, seq int64) error {
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		_, err := t.exec("DELETE FROM emits WHERE ns = ? AND sink = 1 AND seq = ?", s.ns, seq)
		return err
	})
}

func (s *Store) emitted(ctx context.Context, known *maybe, sink bool, limit int) (out []store.Emit, err error) {
	var damaged store.DamagedError
	err = s.list(ctx, known, func(c *conn) (int, error) {
		err := c.query("SELECT seq, instance, definition, event FROM emits WHERE ns = ? AND sink = ? ORDER BY seq LIMIT ?", func(r row) error {
			e := store.Emit{Seq: r.ColumnInt64(0), Instance: r.ColumnText(1), Definition: r.ColumnText(2), Sink: sink}
			if err := codec.DecodeEmit(blob(r, 3), &e); err != nil {
				damaged.Add(e.Seq, e.Instance, fmt.Errorf("event %d that %s produced is %w: %w", e.Seq, e.Instance, store.ErrDamaged, err))
				return nil
			}
			out = append(out, e)
			return nil
		}, s.ns, sink, limit)
		return len(out), cmp.Or(err, damaged.Err())
	})
	return out, err
}

// Unchecked lists the instances that have fresh subscriptions. Those in quarantine keep
// the list from being known as empty; they are few.
func (s *Store) Unchecked(ctx context.Context, limit int) (out []string, err error) {
	err = s.list(ctx, &s.unchecked, func(c *conn) (int, error) {
		seen, last := 0, int64(0)
		err := c.query("SELECT s.inst, i.id, i.aside FROM subs s INDEXED BY subs_fresh CROSS JOIN instances i ON i.seq = s.inst "+
			"WHERE s.ns = ? AND s.fresh = 1 AND s.busy = 0 ORDER BY s.inst", func(r row) error {
			seen++
			if inst := r.ColumnInt64(0); inst != last && r.ColumnIsNull(2) {
				last = inst
				out = append(out, r.ColumnText(1))
			}
			if len(out) == limit {
				return errEnough
			}
			return nil
		}, s.ns)
		if err == errEnough {
			err = nil
		}
		return seen, err
	})
	return out, err
}

// errEnough ends a query early.
var errEnough = errors.New("enough")

// Again lists the events that must be routed again.
func (s *Store) Again(ctx context.Context, limit int) (out []int64, err error) {
	err = s.list(ctx, &s.again, func(c *conn) (int, error) {
		err := c.query("SELECT seq FROM events WHERE ns = ? AND again IS NOT NULL ORDER BY seq LIMIT ?", func(r row) error {
			out = append(out, r.ColumnInt64(0))
			return nil
		}, s.ns, limit)
		return len(out), err
	})
	return out, err
}

// Expired lists the gatherings whose time is up.
func (s *Store) Expired(ctx context.Context, now core.Time, limit int) (out []store.Gathering, err error) {
	err = s.list(ctx, &s.gatherings, func(c *conn) (int, error) {
		if out, err = c.gatherings("WHERE ns = ? AND until <= ? ORDER BY until, seq LIMIT ?", s.ns, int64(now), limit); err != nil || len(out) > 0 {
			return len(out), err
		}
		n, _, err := c.number("SELECT EXISTS (SELECT 1 FROM gatherings WHERE ns = ?)", s.ns)
		return int(n), err
	})
	return out, err
}

// Schedules lists those that are due.
func (s *Store) Schedules(ctx context.Context, now core.Time) ([]store.Schedule, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	var out []store.Schedule
	for _, c := range s.schedules {
		if c.Next <= now {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b store.Schedule) int {
		return cmp.Or(cmp.Compare(a.Next, b.Next), cmp.Compare(a.Definition, b.Definition))
	})
	return out, ctx.Err()
}

// ListSchedules lists all schedules.
func (s *Store) ListSchedules(ctx context.Context) ([]store.Schedule, error) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.schedules), func(a, b store.Schedule) int { return cmp.Compare(a.Definition, b.Definition) }), ctx.Err()
}

// Next is when something will be due.
func (s *Store) Next(ctx context.Context, after core.Time) (at core.Time, found bool, err error) {
	count := func(t core.Time) {
		if t > after && (!found || t < at) {
			at, found = t, true
		}
	}
	s.db.mu.Lock()
	s.stepBack(after)
	for _, c := range s.schedules {
		count(c.Next)
	}
	asleep := s.wakes == never
	known := asleep || s.wakeExact && s.wakes > after
	if !asleep && known {
		count(s.wakes)
	}
	s.db.mu.Unlock()
	if !known {
		err := s.db.read(ctx, func(c *conn) error {
			t, ok, err := c.number("SELECT min(wake) FROM instances WHERE ns = ? AND wake > ?", s.ns, int64(after))
			if ok {
				count(core.Time(t))
			}
			return err
		})
		if err != nil {
			return 0, false, err
		}
	}
	err = s.list(ctx, &s.gatherings, func(c *conn) (int, error) {
		t, ok, err := c.number("SELECT min(until) FROM gatherings WHERE ns = ? AND until > ?", s.ns, int64(after))
		if ok {
			count(core.Time(t))
		}
		return 1, err
	})
	return at, found, err
}
