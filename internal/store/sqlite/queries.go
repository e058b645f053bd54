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

const instanceColumns = "SELECT seq, id, rev, kind, status, created, updated, ended, parent, rest, told, aside FROM instances "

// readInstance reads a row; names tells what its kind is. An output that refers to chunks is left out, unless
// they can be read from somewhere.
func readInstance(r row, names func(int64) kind, chunks *conn) (store.Instance, error) {
	k := names(r.ColumnInt64(3))
	in := store.Instance{
		Seq: r.ColumnInt64(0), ID: r.ColumnText(1), Rev: r.ColumnInt64(2), Definition: k.definition, Version: k.version, Digest: k.digest,
		Status: codec.StatusOf(r.ColumnInt64(4)), Created: core.Time(r.ColumnInt64(5)), Updated: core.Time(r.ColumnInt64(6)),
		Ended: core.Time(r.ColumnInt64(7)), Parent: r.ColumnText(8), Records: r.ColumnInt64(10),
	}
	rest := blob(r, 9)
	var source *codec.ChunkSource
	if chunks != nil && codec.Refers(rest) {
		source = chunks.chunks(in.Seq, in.ID)
	}
	if err := codec.DecodeRest(rest, &in, source); err != nil {
		return in, damagedRow(in.ID, err)
	}
	in.Held = !r.ColumnIsNull(11) && in.Quarantine == ""
	return in, nil
}

func damagedRow(id string, err error) error {
	if !errors.Is(err, store.ErrDamaged) {
		return err
	}
	return fmt.Errorf("instance %s: its row is %w: %w", id, store.ErrDamaged, err)
}

// instance reads one row; a bare one is without a large output.
func (c *conn) instance(names func(int64) kind, bare bool, where string, args ...any) (in store.Instance, ok bool, err error) {
	chunks := c
	if bare {
		chunks = nil
	}
	ok, err = c.one(instanceColumns+where, func(r row) (err error) {
		in, err = readInstance(r, names, chunks)
		return err
	}, args...)
	return in, ok, err
}

// chunks reads the large values of an instance from its history.
func (c *conn) chunks(inst int64, id string) *codec.ChunkSource {
	return &codec.ChunkSource{Rows: func(told []int64, give func(codec.Told, []byte) error) error {
		for _, n := range told {
			_, err := c.one("SELECT records, at, status FROM history WHERE inst = ? AND told = ? AND records IS NOT NULL", func(r row) error {
				return give(codec.Told{Instance: id, At: core.Time(r.ColumnInt64(1)), Status: codec.StatusOf(r.ColumnInt64(2)), Total: n}, blob(r, 0))
			}, inst, n)
			if err != nil {
				return err
			}
		}
		return nil
	}}
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
	var h *head
	err = s.db.read(ctx, func(c *conn) error {
		h, in, err = c.head(s.ns, id, s.db.names(c), false)
		return err
	})
	switch {
	case err != nil:
	case h == nil:
		err = fmt.Errorf("instance %s: %w", id, store.ErrNotFound)
	case h.damaged != nil:
		err = h.damaged
	default:
		s.db.offered.put(headKey{s.ns, id}, h)
	}
	return in, err
}

// Pages reads an instance's state.
func (s *Store) Pages(ctx context.Context, id string) (out []core.Page, err error) {
	err = s.db.read(ctx, func(c *conn) error {
		state := store.State{ID: id}
		found, apart, err := c.rowState(s.ns, &state)
		if apart != 0 {
			err = c.snapshot(func() (err error) {
				found, err = c.state(s.ns, &state)
				return err
			})
		}
		if err == nil && !found {
			err = fmt.Errorf("instance %s: %w", id, store.ErrNotFound)
		}
		out = state.Pages
		return cmp.Or(err, state.Damaged)
	})
	return out, err
}

// rowState reads the state of an instance if it is in its row; else apart is the number by which the tables have it. What the
// pages in the row refer to is read at the row, so that both are of one moment.
func (c *conn) rowState(ns int64, s *store.State) (found bool, apart int64, err error) {
	found, err = c.one("SELECT seq, rev, created, pages FROM instances WHERE ns = ? AND id = ?", func(r row) (err error) {
		seq := r.ColumnInt64(0)
		s.Rev, s.Created = r.ColumnInt64(1), core.Time(r.ColumnInt64(2))
		if r.ColumnIsNull(3) {
			apart = seq
			return nil
		}
		inRow := blob(r, 3)
		if s.Pages, s.Damaged = codec.DecodeState([]core.Page{}, inRow, s.ID, s.Created); s.Damaged != nil {
			s.Pages = []core.Page{{Data: inRow}} // removing it removes all
			return nil
		}
		if s.Pages, err = c.refer(seq, s.ID, s.Pages); errors.Is(err, store.ErrDamaged) {
			s.Damaged, err = err, nil
		}
		return err
	}, ns, s.ID)
	return found, apart, err
}

// refer appends the large values to which pages refer.
func (c *conn) refer(seq int64, id string, pages []core.Page) ([]core.Page, error) {
	pages, err := c.chunks(seq, id).Pages(pages)
	if errors.Is(err, store.ErrDamaged) {
		err = fmt.Errorf("instance %s: a page is %w: %w", id, store.ErrDamaged, err)
	}
	return pages, err
}

// state reads the state of an instance.
func (c *conn) state(ns int64, s *store.State) (found bool, err error) {
	found, apart, err := c.rowState(ns, s)
	if err != nil || apart == 0 {
		return found, err
	}
	s.Pages, err = c.pages(ns, apart, s.ID, s.Created)
	if errors.Is(err, store.ErrDamaged) {
		s.Damaged, err = err, nil
	}
	return found, err
}

// pages reads the pages of an instance from their tables. Where one is damaged it reads the others, too.
func (c *conn) pages(ns, seq int64, id string, created core.Time) ([]core.Page, error) {
	out := []core.Page{}
	var damaged error
	err := c.query("SELECT frame, part, data FROM pages WHERE ns = ? AND inst = ? UNION ALL SELECT frame, part, data FROM bulk WHERE ns = ? AND inst = ? ORDER BY frame, part", func(r row) error {
		p := core.Page{Frame: core.FrameID(r.ColumnInt64(0)), Part: int32(r.ColumnInt64(1)), Data: blob(r, 2)}
		damaged = cmp.Or(damaged, codec.DecodePage(id, created, &p))
		out = append(out, p)
		return nil
	}, ns, seq, ns, seq)
	if err != nil || damaged != nil {
		return out, cmp.Or(err, damaged)
	}
	return c.refer(seq, id, out)
}

// States reads the pages of several instances, all of one moment.
func (s *Store) States(ctx context.Context, ids []string) (out []store.State, through int, err error) {
	err = s.db.snapshot(ctx, func(c *conn) error {
		bytes := 0
		for _, id := range ids {
			state := store.State{ID: id}
			found, err := c.state(s.ns, &state)
			if err != nil {
				return err
			}
			if found {
				for _, p := range state.Pages {
					bytes += len(p.Data)
				}
				if len(out) > 0 && bytes > store.MaxStateBytes {
					return nil
				}
				out = append(out, state)
			}
			through++
		}
		return nil
	})
	return out, through, err
}

// Records reads a part of an instance's history: the commits that tell of it are found by
// how many records there were with each.
func (s *Store) Records(ctx context.Context, id string, after int64, limit int) (out []core.Record, err error) {
	after = max(after, 0)
	err = s.db.snapshot(ctx, func(c *conn) error {
		seq, err := c.seq(s.ns, id)
		if err != nil {
			return err
		}
		have, chunks := after, c.chunks(seq, id)
		err = c.query("SELECT told, records, at, status FROM history WHERE inst = ? AND told > ? AND records IS NOT NULL ORDER BY told", func(r row) error {
			of := codec.Told{Instance: id, At: core.Time(r.ColumnInt64(2)), Status: codec.StatusOf(r.ColumnInt64(3)), Total: r.ColumnInt64(0)}
			list, err := codec.DecodeRecords(blob(r, 1), of, chunks)
			if err != nil && !errors.Is(err, store.ErrDamaged) {
				return err
			}
			if err != nil {
				return fmt.Errorf("the records up to %d are %w: %w", r.ColumnInt64(0), store.ErrDamaged, err)
			}
			told := r.ColumnInt64(0)
			skip := have - (told - int64(len(list)))
			if skip < 0 || skip >= int64(len(list)) {
				return fmt.Errorf("%w: records %d to %d are missing", store.ErrDamaged, have+1, told-int64(len(list)))
			}
			have = told
			out = append(out, list[skip:]...)
			if limit > 0 && len(out) >= limit {
				out = out[:limit]
				return errEnough
			}
			return nil
		}, seq, after)
		if err != nil && err != errEnough {
			return fmt.Errorf("history of %s: %w", id, err)
		}
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
		out, err = c.subs(subColumns+"WHERE s.ns = ? AND s.inst = ?", nil, s.ns, seq)
		return err
	})
	return out, err
}

// Events lists kept events: of a type by its index, else as they came, those of other
// namespaces between them.
func (s *Store) Events(ctx context.Context, q store.EventQuery) (out store.EventPage, err error) {
	query, args := eventFields+", events.ns FROM events NOT INDEXED WHERE", []any{}
	if q.Type != "" {
		query, args = eventFields+", events.ns FROM events INDEXED BY events_type WHERE ns = ? AND type = ? AND", []any{s.ns, q.Type}
	}
	switch {
	case q.Newest && q.After == 0:
		query, args = query+" seq < ? ORDER BY seq DESC", append(args, int64(never))
	case q.Newest:
		query, args = query+" seq < ? ORDER BY seq DESC", append(args, q.After)
	default:
		query, args = query+" seq > ? ORDER BY seq", append(args, q.After)
	}
	seen, last := 0, int64(0)
	var damaged store.DamagedError
	err = s.db.read(ctx, func(c *conn) error {
		return c.query(query, func(r row) error {
			if seen == store.MaxEventScan || q.Limit > 0 && len(out.Events) >= q.Limit {
				out.Next = last
				return errEnough
			}
			seen++
			last = r.ColumnInt64(0)
			if r.ColumnInt64(8) != s.ns || q.Outside && r.ColumnText(3) != "" || q.Untaken && r.ColumnInt64(7) != 0 {
				return nil
			}
			e, err := readEvent(r)
			switch {
			case err != nil:
				damaged.Add(e.Seq, "", err)
			case q.Selects(&e):
				out.Events = append(out.Events, e)
			}
			return nil
		}, args...)
	})
	if err == errEnough {
		err = nil
	}
	return out, cmp.Or(err, damaged.Err())
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
		sources := map[int64]*codec.ChunkSource{}
		size := 0
		err = c.query(
			"SELECT h.pos, h.at, h.status, h.records, coalesce(i.id, g.id), i.kind, g.definition, coalesce(i.client, g.client), h.inst, h.told FROM history h "+
				"LEFT JOIN instances i ON i.seq = h.inst LEFT JOIN gone g ON g.inst = h.inst WHERE h.pos > ? AND h.ns = ? ORDER BY h.pos LIMIT ?",
			func(r row) error {
				item := store.FeedItem{
					Pos: r.ColumnInt64(0), At: core.Time(r.ColumnInt64(1)), Status: codec.StatusOf(r.ColumnInt64(2)),
					Instance: r.ColumnText(4), Definition: r.ColumnText(6), Client: r.ColumnText(7),
				}
				if !r.ColumnIsNull(3) {
					var err error
					data, inst := blob(r, 3), r.ColumnInt64(8)
					of := codec.Told{Instance: item.Instance, At: item.At, Status: item.Status, Total: r.ColumnInt64(9)}
					source := sources[inst]
					if source == nil && codec.Refers(data) {
						source = c.chunks(inst, item.Instance)
						sources[inst] = source
					}
					if item.Records, err = codec.DecodeRecords(data, of, source); errors.Is(err, store.ErrDamaged) {
						item.Records = codec.Unreadable(item, err)
					} else if err != nil {
						return err
					}
					if size += len(data); source != nil {
						size += source.Size(data, of)
					}
					if size > store.MaxFeedBytes && len(out.Items) > 0 {
						return errEnough
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
		out.Next, out.Last = max(after, end), max(end, out.Oldest)
		if n := len(out.Items); n > 0 && (n == limit || err == errEnough) {
			out.Next = out.Items[n-1].Pos
		}
		if err == errEnough {
			err = nil
		}
		return err
	})
	return out, err
}
