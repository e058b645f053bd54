package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

const instanceFields = "i.seq, i.id, i.rev, k.definition, k.version, k.digest, i.status, i.created, i.updated, i.ended, i.parent, i.client, i.state, i.grp, i.rest, i.told, i.aside"

// readInstance reads a row, without an output that refers to chunks.
func readInstance(r pgx.Rows) (in store.Instance, err error) {
	in, _, err = readRow(r)
	return in, err
}

// readRow is readInstance, with what largeOutput needs.
func readRow(r pgx.Rows) (in store.Instance, rest []byte, err error) {
	var status int16
	var parent, client, state, group pgtype.Text
	aside := false
	err = r.Scan(&in.Seq, &in.ID, &in.Rev, &in.Definition, &in.Version, &in.Digest, &status, &in.Created, &in.Updated, &in.Ended, &parent, &client, &state, &group, &rest, &in.Records, &aside)
	if err != nil {
		return in, nil, err
	}
	in.Status, in.Parent = codec.StatusOf(int64(status)), parent.String
	if err := codec.DecodeRest(rest, &in, nil); err != nil {
		return in, nil, damagedRow(in.ID, err)
	}
	in.Held = aside && in.Quarantine == ""
	in.Job = store.Job{Client: client.String, State: state.String, Group: group.String}
	if !codec.Refers(rest) {
		rest = nil
	}
	return in, rest, nil
}

func damagedRow(id string, err error) error {
	if !errors.Is(err, store.ErrDamaged) {
		return err
	}
	return fmt.Errorf("instance %s: its row is %w: %w", id, store.ErrDamaged, err)
}

// ask reads; an id that cannot be stored does not exist.
func (s *Store) ask(ctx context.Context, f func(ns int32) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ns, err := s.ns(ctx)
	if err != nil {
		return err
	}
	return f(ns)
}

// write is ask for what changes something: it counts as being under way, and a database that a later version has changed refuses it.
func (s *Store) write(ctx context.Context, f func(ns int32) error) error {
	return s.ask(ctx, func(ns int32) error {
		if err := s.db.enter(); err != nil {
			return err
		}
		defer s.db.flying.Done()
		err := f(ns)
		s.db.note(err)
		return err
	})
}

func nobody(id string) error { return fmt.Errorf("instance %s: %w", id, store.ErrNotFound) }

// of lists what belongs to an instance, with one statement: its first row is the instance.
func (s *Store) of(ctx context.Context, id, fields, table, where string, args []any, each func(pgx.Rows) error) error {
	return s.ask(ctx, func(ns int32) error {
		if !storable(id) {
			return nobody(id)
		}
		b := &pgx.Batch{}
		found := false
		b.Queue(s.db.sql("SELECT 1 FROM ~.instances WHERE ns = $1 AND id = $2"), ns, id).Query(func(r pgx.Rows) error {
			return drain(r, func(pgx.Rows) error { found = true; return nil })
		})
		text := "SELECT " + fields + " FROM ~.instances i JOIN ~." + table + " x ON x.ns = i.ns AND x.inst = i.seq WHERE i.ns = $1 AND i.id = $2 " + where
		b.Queue(s.db.sql(text), append([]any{ns, id}, args...)...).Query(func(r pgx.Rows) error { return drain(r, each) })
		err := wrap(s.db.pool.SendBatch(ctx, b).Close())
		if err == nil && !found {
			err = nobody(id)
		}
		return err
	})
}

// Pages reads an instance's state.
func (s *Store) Pages(ctx context.Context, id string) ([]core.Page, error) {
	out := []core.Page{}
	var damaged error
	inst := int64(0)
	err := s.of(ctx, id, "i.seq, i.created, x.frame, x.part, x.data", "pages", "ORDER BY x.frame, x.part", nil, func(r pgx.Rows) error {
		var p core.Page
		var frame, created int64
		if err := r.Scan(&inst, &created, &frame, &p.Part, &p.Data); err != nil {
			return err
		}
		p.Frame = core.FrameID(frame)
		damaged = cmp.Or(damaged, codec.DecodePage(id, core.Time(created), &p))
		out = append(out, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if damaged != nil {
		return out, damaged
	}
	return pagesWith(s.db.chunks(ctx, s.db.pool, inst, id), id, out)
}

// pagesWith appends the chunks to which pages refer.
func pagesWith(chunks *codec.ChunkSource, id string, pages []core.Page) ([]core.Page, error) {
	pages, err := chunks.Pages(pages)
	if errors.Is(err, store.ErrDamaged) {
		err = fmt.Errorf("instance %s: a page is %w: %w", id, store.ErrDamaged, err)
	}
	return pages, err
}

// Subscriptions lists what an instance waits for.
func (s *Store) Subscriptions(ctx context.Context, id string) (out []store.Subscription, err error) {
	var damaged store.DamagedError
	err = s.of(ctx, id, "x.id, x.inst, x.ticket, x.name, x.filter", "subs", "", nil, func(r pgx.Rows) error {
		sub, err := readSub(r)
		return keep(&out, &damaged, sub, 0, sub.Instance, err)
	})
	store.SortSubscriptions(out)
	return out, cmp.Or(err, damaged.Err())
}

// Records reads a part of an instance's history: the commits that tell of it are found by
// how many records there were with each.
func (s *Store) Records(ctx context.Context, id string, after int64, limit int) (out []core.Record, err error) {
	after = max(after, 0)
	type row struct {
		codec.Told
		records []byte
	}
	var rows []row
	inst := int64(0)
	end, args := "", []any{after}
	if limit > 0 { // each has one at least
		end, args = " LIMIT $4", append(args, limit+1)
	}
	err = s.of(ctx, id, "x.inst, x.told, x.records, x.at, x.status", "history", "AND x.told > $3 AND x.records IS NOT NULL ORDER BY x.told"+end, args, func(r pgx.Rows) error {
		x := row{Told: codec.Told{Instance: id}}
		var status int16
		err := r.Scan(&inst, &x.Total, &x.records, &x.At, &status)
		x.Status = codec.StatusOf(int64(status))
		rows = append(rows, x)
		return err
	})
	if err != nil {
		return nil, err
	}
	have, chunks := after, s.db.chunks(ctx, s.db.pool, inst, id)
	for _, x := range rows {
		records, err := codec.DecodeRecords(x.records, x.Told, chunks)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			return out, err
		}
		if err != nil {
			return out, fmt.Errorf("history of %s: the records up to %d are %w: %w", id, x.Total, store.ErrDamaged, err)
		}
		skip := have - (x.Total - int64(len(records)))
		if skip < 0 || skip >= int64(len(records)) {
			return out, fmt.Errorf("history of %s is %w: records %d to %d are missing", id, store.ErrDamaged, have+1, x.Total-int64(len(records)))
		}
		have = x.Total
		out = append(out, records[skip:]...)
		if limit > 0 && len(out) >= limit {
			return out[:limit], nil
		}
	}
	return out, nil
}

// maxForgotten is how many events one query looks at, most of them forgotten ("forgotten-scan").
const maxForgotten = 64 * store.MaxEventScan

// Events lists kept events: of a type by its index, else as they came. Where very many that are forgotten
// lie between them, a page has few, or none.
func (s *Store) Events(ctx context.Context, q store.EventQuery) (out store.EventPage, err error) {
	var damaged store.DamagedError
	err = s.ask(ctx, func(ns int32) error {
		from, args := "FROM ~.events e WHERE e.ns = $1 AND ", []any{ns}
		if q.Type != "" {
			from, args = from+"e.typ = $2 AND ", append(args, typeOf(q.Type))
		}
		after, order, way := q.After, " ORDER BY e.seq", ">"
		if q.Newest {
			order, way, after = order+" DESC", "<", cmp.Or(after, never)
		}
		from += fmt.Sprintf("e.seq %s $%d", way, len(args)+1) + order
		args = append(args, after)
		// One view: if a generation were emptied in between, the edge would lie behind events that nobody looked at.
		return s.db.look(ctx, func(t *tx) error {
			last, err := t.events(ctx, &q, from, order, args, &out, &damaged)
			if err != nil || out.Next != 0 {
				return err
			}
			edge := int64(0) // the first that was not looked at
			err = t.one(ctx, fmt.Sprint("SELECT e.seq ", from, " OFFSET ", maxForgotten, " LIMIT 1"), args, &edge)
			switch {
			case errors.Is(err, pgx.ErrNoRows):
				return nil
			case q.Newest:
				out.Next = min(edge+1, cmp.Or(last, never))
			default:
				out.Next = max(edge-1, last)
			}
			return err
		})
	})
	return out, cmp.Or(err, damaged.Err())
}

// events reads a page of events, and tells the last one that it looked at. Next is set where the page is full.
func (t *tx) events(ctx context.Context, q *store.EventQuery, from, order string, args []any, out *store.EventPage, damaged *store.DamagedError) (last int64, err error) {
	most := store.MaxEventScan
	if q.Limit > 0 && !q.Untaken && !q.Outside {
		most = min(most, q.Limit)
	}
	text := fmt.Sprint("SELECT ", eventFields, " FROM (SELECT * ", from, " LIMIT ", maxForgotten, ") e WHERE ", notForgotten, order, " LIMIT ", most+1)
	seen := 0
	err = t.each(ctx, text, args, func(r pgx.Rows) error {
		if out.Next != 0 {
			return nil
		}
		if seen == store.MaxEventScan || q.Limit > 0 && len(out.Events) >= q.Limit {
			out.Next = last
			return nil
		}
		e, err := readEvent(r)
		seen, last = seen+1, e.Seq
		if err == nil && !q.Selects(&e) {
			return nil
		}
		return keep(&out.Events, damaged, e, e.Seq, "", err)
	})
	return last, err
}

// never is later than anything.
const never = 1<<63 - 1

// Feed lists what commits did. Positions become visible in order: nothing comes before the
// last one that was seen.
func (s *Store) Feed(ctx context.Context, after int64, limit int) (out store.Feed, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.snapshot(ctx, func(t *tx) error {
			end := int64(0)
			err := t.one(ctx, "SELECT oldest, coalesce((SELECT max(pos) FROM ~.history WHERE ns = $1), 0) FROM ~.namespaces WHERE ns = $1", []any{ns}, &out.Oldest, &end)
			if err != nil {
				return err
			}
			after = max(after, out.Oldest)
			var records [][]byte
			err = t.each(ctx, "SELECT h.pos, h.instance, k.definition, h.client, h.status, h.at, h.records FROM "+
				"(SELECT *, row_number() OVER w AS n, sum(coalesce(octet_length(records), 0)) OVER w AS size FROM "+
				"~.feed($1, $2, $3) part WINDOW w AS (ORDER BY pos)) h "+
				"JOIN ~.kinds k ON k.kind = h.kind WHERE h.n = 1 OR h.size <= $4 ORDER BY h.pos",
				[]any{ns, after, limit, int64(store.MaxFeedBytes)}, func(r pgx.Rows) error {
					item, data, err := readItem(r)
					out.Items, records = append(out.Items, item), append(records, data)
					return err
				})
			if err == nil {
				err = t.readFeed(ctx, ns, &out, records)
			}
			out.Next, out.Last = max(after, end), max(end, out.Oldest)
			if n := len(out.Items); n > 0 {
				out.Next = out.Items[n-1].Pos
			}
			return err
		})
	})
	return out, err
}

// readItem reads an item of the feed, but for its records.
func readItem(r pgx.Rows) (item store.FeedItem, records []byte, err error) {
	var status int16
	var client pgtype.Text
	err = r.Scan(&item.Pos, &item.Instance, &item.Definition, &client, &status, &item.At, &records)
	item.Client, item.Status = client.String, codec.StatusOf(int64(status))
	return item, records, err
}

// readFeed decodes the records of the feed, up to its limit.
func (t *tx) readFeed(ctx context.Context, ns int32, feed *store.Feed, records [][]byte) error {
	sources := map[int64]*codec.ChunkSource{}
	size := 0
	for i, data := range records {
		if data == nil {
			continue
		}
		item := &feed.Items[i]
		of := codec.Told{Instance: item.Instance, At: item.At, Status: item.Status}
		var source *codec.ChunkSource
		if codec.Refers(data) {
			inst := int64(0)
			if err := t.one(ctx, "SELECT inst, told FROM ~.history WHERE ns = $1 AND pos = $2", []any{ns, item.Pos}, &inst, &of.Total); err != nil {
				return err
			}
			if source = sources[inst]; source == nil {
				source = t.db.chunks(ctx, t.Tx, inst, item.Instance)
				sources[inst] = source
			}
		}
		var err error
		if item.Records, err = codec.DecodeRecords(data, of, source); errors.Is(err, store.ErrDamaged) {
			item.Records = codec.Unreadable(*item, err)
		} else if err != nil {
			return err
		}
		if size += len(data); source != nil {
			size += source.Size(data, of)
		}
		if size > store.MaxFeedBytes && i > 0 {
			feed.Items = feed.Items[:i]
			return nil
		}
	}
	return nil
}
