package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/codec"
)

const instanceColumns = "SELECT seq, id, rev, kind, status, created, updated, ended, parent, rest FROM instances "

// readInstance reads a row; names tells what its kind is.
func readInstance(r row, names func(int64) kind) (store.Instance, error) {
	k := names(r.ColumnInt64(3))
	in := store.Instance{
		Seq: r.ColumnInt64(0), ID: r.ColumnText(1), Rev: r.ColumnInt64(2), Definition: k.definition, Version: k.version, Digest: k.digest,
		Status: codec.StatusOf(r.ColumnInt64(4)), Created: core.Time(r.ColumnInt64(5)), Updated: core.Time(r.ColumnInt64(6)),
		Ended: core.Time(r.ColumnInt64(7)), Parent: r.ColumnText(8),
	}
	if err := codec.DecodeRest(blob(r, 9), &in); err != nil {
		return in, fmt.Errorf("instance %s: %w", in.ID, err)
	}
	return in, nil
}

func (c *conn) instance(names func(int64) kind, where string, args ...any) (in store.Instance, ok bool, err error) {
	ok, err = c.one(instanceColumns+where, func(r row) (err error) {
		in, err = readInstance(r, names)
		return err
	}, args...)
	return in, ok, err
}

// names tells what a kind is. Readers may see a row before the writer's mirrors say
// what it is of: then the table is asked.
func (db *DB) names(c *conn) func(int64) kind {
	return func(n int64) kind {
		db.mu.Lock()
		k, ok := db.kinds.rows[n]
		db.mu.Unlock()
		if !ok {
			_, _ = c.one("SELECT ns, definition, version, digest FROM kinds WHERE kind = ?", func(r row) error {
				k = kind{r.ColumnInt64(0), r.ColumnText(1), r.ColumnText(2), r.ColumnText(3)}
				return nil
			}, n)
		}
		return k
	}
}

// seq finds the number of an instance.
func (c *conn) seq(ns int64, id string) (int64, error) {
	seq, ok, err := c.number("SELECT seq FROM instances WHERE ns = ? AND id = ?", ns, id)
	if err == nil && !ok {
		err = fmt.Errorf("instance %s: %w", id, store.ErrNotFound)
	}
	return seq, err
}

// Instance reads a row.
func (s *Store) Instance(ctx context.Context, id string) (in store.Instance, err error) {
	err = s.db.read(ctx, func(c *conn) error {
		var ok bool
		if in, ok, err = c.instance(s.db.names(c), "WHERE ns = ? AND id = ?", s.ns, id); err == nil && !ok {
			err = fmt.Errorf("instance %s: %w", id, store.ErrNotFound)
		}
		return err
	})
	return in, err
}

// Pages reads an instance's state.
func (s *Store) Pages(ctx context.Context, id string) (out []core.Page, err error) {
	out = []core.Page{}
	err = s.db.snapshot(ctx, func(c *conn) error {
		seq, err := c.seq(s.ns, id)
		if err != nil {
			return err
		}
		return c.query("SELECT frame, part, data FROM pages WHERE ns = ? AND inst = ? ORDER BY frame, part", func(r row) error {
			out = append(out, core.Page{Frame: core.FrameID(r.ColumnInt64(0)), Part: int32(r.ColumnInt64(1)), Data: blob(r, 2)})
			return nil
		}, s.ns, seq)
	})
	return out, err
}

// Records reads an instance's history, from its end.
func (s *Store) Records(ctx context.Context, id string) (out []core.Record, err error) {
	err = s.db.snapshot(ctx, func(c *conn) error {
		last, ok, err := c.number("SELECT last FROM instances WHERE ns = ? AND id = ?", s.ns, id)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("instance %s: %w", id, store.ErrNotFound)
		}
		var parts [][]core.Record
		for last != 0 {
			pos := last
			ok, err := c.one("SELECT prev, records FROM history WHERE pos = ?", func(r row) error {
				last = r.ColumnInt64(0)
				if r.ColumnIsNull(1) {
					return nil
				}
				list, err := codec.DecodeRecords(blob(r, 1))
				parts = append(parts, list)
				return err
			}, pos)
			if err == nil && !ok {
				err = fmt.Errorf("position %d is missing", pos)
			}
			if err != nil {
				return fmt.Errorf("history of %s: %w", id, err)
			}
		}
		slices.Reverse(parts)
		out = slices.Concat(parts...)
		return nil
	})
	return out, err
}

// Subscriptions lists what an instance waits for.
func (s *Store) Subscriptions(ctx context.Context, id string) (out []store.Subscription, err error) {
	err = s.db.snapshot(ctx, func(c *conn) error {
		seq, err := c.seq(s.ns, id)
		if err != nil {
			return err
		}
		out, err = c.subs(subColumns+"WHERE s.ns = ? AND s.inst = ?", s.ns, seq)
		return err
	})
	return out, err
}

// Events lists the kept events.
func (s *Store) Events(ctx context.Context) (out []store.Event, err error) {
	err = s.db.read(ctx, func(c *conn) error {
		return c.query(eventColumns+"WHERE ns = ? ORDER BY seq", func(r row) error {
			e, err := readEvent(r)
			out = append(out, e)
			return err
		}, s.ns)
	})
	return out, err
}

// Stats counts instances.
func (s *Store) Stats(ctx context.Context) ([]store.Stat, error) {
	sums := map[store.Stat]int64{}
	s.db.mu.Lock()
	for key, n := range s.db.kinds.counts {
		if key.ns == s.ns {
			k := s.db.kinds.rows[key.kind]
			sums[store.Stat{Definition: k.definition, Version: k.version, Status: codec.StatusOf(key.status)}] += n
		}
	}
	s.db.mu.Unlock()
	out := slices.SortedFunc(maps.Keys(sums), func(a, b store.Stat) int {
		return cmp.Or(cmp.Compare(a.Definition, b.Definition), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Status, b.Status))
	})
	for i := range out {
		out[i].Count = sums[out[i]]
	}
	return out, ctx.Err()
}

// Feed lists what commits did. Where little happens in a namespace, the next call begins
// behind what happened in others.
func (s *Store) Feed(ctx context.Context, after int64, limit int) (out store.Feed, err error) {
	err = s.db.snapshot(ctx, func(c *conn) error {
		if out.Oldest, _, err = c.number("SELECT oldest FROM namespaces WHERE ns = ?", s.ns); err != nil {
			return err
		}
		after = max(after, out.Oldest)
		end, _, err := c.number("SELECT max(pos) FROM history")
		if err != nil {
			return err
		}
		names := s.db.names(c)
		var kinds []int64
		err = c.query(
			"SELECT h.pos, h.at, h.status, h.records, coalesce(i.id, g.id), i.kind, g.definition FROM history h "+
				"LEFT JOIN instances i ON i.seq = h.inst LEFT JOIN gone g ON g.inst = h.inst WHERE h.pos > ? AND h.ns = ? ORDER BY h.pos LIMIT ?",
			func(r row) error {
				item := store.FeedItem{
					Pos: r.ColumnInt64(0), At: core.Time(r.ColumnInt64(1)), Status: codec.StatusOf(r.ColumnInt64(2)),
					Instance: r.ColumnText(4), Definition: r.ColumnText(6),
				}
				if !r.ColumnIsNull(3) {
					var err error
					if item.Records, err = codec.DecodeRecords(blob(r, 3)); err != nil {
						return fmt.Errorf("history at %d: %w", item.Pos, err)
					}
				}
				out.Items = append(out.Items, item)
				kinds = append(kinds, r.ColumnInt64(5))
				return nil
			}, after, s.ns, limit)
		for i, k := range kinds {
			if k != 0 { // else the instance is gone
				out.Items[i].Definition = names(k).definition
			}
		}
		out.Next = max(after, end)
		if n := len(out.Items); n > 0 && n == limit {
			out.Next = out.Items[n-1].Pos
		}
		return err
	})
	return out, err
}
