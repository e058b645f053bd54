package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// lookup is something that is read by an instance's id, together with what others read. Most
// of what one costs is the statement.
type lookup[T any] struct {
	waiter
	id    string
	found bool
	value T
}

func (*lookup[T]) size() int   { return 0 }
func (*lookup[T]) key() string { return "" }

// ask waits for an answer. The database is asked after the request was made: it sees all that
// was committed before.
func (g *gatherer[R]) ask(ctx context.Context, r R, done <-chan struct{}) error {
	if err := g.submit(r); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer runs a query for the ids of a batch and gives every request what f read of it. An error of
// f about one instance is its own.
func answer[T any](sp *space, batch []*lookup[T], text string, f func(pgx.Rows, func(id string, add func(*T), err error)) error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout) // others wait, too
	defer cancel()
	of := map[string][]*lookup[T]{}
	var ids []string
	for _, r := range batch {
		if of[r.id] == nil {
			ids = append(ids, r.id)
		}
		of[r.id] = append(of[r.id], r)
	}
	failed := map[string]error{}
	ns, err := sp.ns(ctx)
	if err == nil {
		err = sp.db.each(ctx, sp.db.pool, text, []any{ns, ids}, func(rows pgx.Rows) error {
			return f(rows, func(id string, add func(*T), err error) {
				if err != nil {
					failed[id] = err
				}
				for _, r := range of[id] {
					r.found = true
					add(&r.value)
				}
			})
		})
	}
	for _, r := range batch {
		if err != nil {
			r.finish(err)
		} else {
			r.finish(failed[r.id])
		}
	}
}

// byID finds instances by their ids ($2), each by the index.
const byID = " FROM unnest($2::text[]) u(id) CROSS JOIN LATERAL (SELECT * FROM ~.instances x WHERE x.id = u.id AND x.ns + 0 = $1 OFFSET 0) i "

// instanceAnswer is an instance with what largeOutput needs.
type instanceAnswer struct {
	store.Instance
	rest []byte
}

func (sp *space) readInstances(batch []*lookup[instanceAnswer]) {
	answer(sp, batch, "SELECT "+instanceFields+byID+"JOIN ~.kinds k ON k.kind = i.kind", func(r pgx.Rows, give func(string, func(*instanceAnswer), error)) error {
		in, rest, err := readRow(r)
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			return err
		}
		give(in.ID, func(to *instanceAnswer) { *to = instanceAnswer{in, rest} }, err)
		return nil
	})
}

func (sp *space) readInboxes(batch []*lookup[[]store.Message]) {
	const fields = "SELECT i.id, m.seq, m.at, m.event, m.input" + byID + "CROSS JOIN LATERAL (SELECT * FROM ~.inbox x WHERE x.ns = $1 AND x.inst = i.seq OFFSET 0) m ORDER BY m.seq"
	answer(sp, batch, fields, func(r pgx.Rows, give func(string, func(*[]store.Message), error)) error {
		var m store.Message
		var input []byte
		if err := r.Scan(&m.To, &m.Seq, &m.At, &m.Event, &input); err != nil {
			return err
		}
		err := codec.DecodeInput(input, &m)
		if err != nil {
			err = fmt.Errorf("message %d to %s is %w: %w", m.Seq, m.To, store.ErrDamaged, err)
		}
		give(m.To, func(to *[]store.Message) { *to = append(*to, m) }, err)
		return nil
	})
}

// Instance reads a row.
func (s *Store) Instance(ctx context.Context, id string) (store.Instance, error) {
	if !storable(id) {
		return store.Instance{}, nobody(id)
	}
	r := &lookup[instanceAnswer]{waiter: newWaiter(ctx), id: id}
	if err := s.instances.ask(ctx, r, r.done); err != nil {
		return store.Instance{}, err
	}
	if r.err == nil && !r.found {
		r.err = nobody(id)
	}
	in := r.value.Instance
	if r.err == nil {
		r.err = s.db.largeOutput(ctx, s.db.pool, &in, r.value.rest)
	}
	return in, r.err
}

// Messages lists an inbox.
func (s *Store) Messages(ctx context.Context, id string) ([]store.Message, error) {
	if !storable(id) {
		return nil, nil
	}
	r := &lookup[[]store.Message]{waiter: newWaiter(ctx), id: id}
	if err := s.inboxes.ask(ctx, r, r.done); err != nil {
		return nil, err
	}
	return r.value, r.err
}

// chunksOfStates reads the chunks to which the pages of states refer with one statement, up to MaxStateBytes.
func (s *Store) chunksOfStates(ctx context.Context, states []store.State, insts []int64) ([]*codec.ChunkSource, error) {
	sources := make([]*codec.ChunkSource, len(states))
	var of, told []int64
	for i := range states {
		sources[i] = s.db.chunks(ctx, s.db.pool, insts[i], states[i].ID)
		var rows []int64
		for _, p := range states[i].Pages {
			refs, _ := core.PageRefs(p.Data)
			for _, r := range refs {
				rows = append(rows, r.Told())
			}
		}
		slices.Sort(rows)
		for _, n := range slices.Compact(rows) {
			of, told = append(of, int64(i)), append(told, n)
		}
	}
	if len(of) == 0 {
		return sources, nil
	}
	rows := make([]int64, len(of))
	for k, i := range of {
		rows[k] = insts[i]
	}
	const sizes = "SELECT u.i, h.told, h.at, h.status, h.records, sum(octet_length(h.records)) OVER (ORDER BY u.n) AS size FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY u(i, inst, told, n) " +
		"CROSS JOIN LATERAL (SELECT * FROM ~.history x WHERE x.inst = u.inst AND x.told = u.told AND x.records IS NOT NULL OFFSET 0) h"
	err := s.db.each(ctx, s.db.pool, "SELECT s.i, s.told, s.at, s.status, s.records FROM ("+sizes+") s WHERE s.size <= $4", []any{of, rows, told, int64(store.MaxStateBytes)}, func(r pgx.Rows) error {
		var of codec.Told
		var i int64
		var status int16
		var records []byte
		if err := r.Scan(&i, &of.Total, &of.At, &status, &records); err != nil {
			return err
		}
		of.Instance, of.Status = states[i].ID, codec.StatusOf(int64(status))
		sources[i].Take(of, records)
		return nil
	})
	return sources, err
}

// States reads the pages of several instances with one statement, and so of one moment. Of
// those that are too large together it has the first with their pages, and that the others are there.
func (s *Store) States(ctx context.Context, ids []string) (out []store.State, through int, err error) {
	asked := slices.Clone(ids)
	for i, id := range asked {
		if !storable(id) {
			asked[i] = "" // nobody's, as it is
		}
	}
	// A page is that much larger where it is stored: 5 is codec.PageOverhead.
	const sizes = "SELECT u.n, i.id, i.seq, i.rev, i.created, p.frame, p.part, p.data, min(u.n) OVER () AS first, sum(coalesce(octet_length(p.data) - 5, 0)) OVER (ORDER BY u.n) AS size " +
		"FROM unnest($2::text[]) WITH ORDINALITY u(id, n) CROSS JOIN LATERAL (SELECT * FROM ~.instances x WHERE x.id = u.id AND x.ns + 0 = $1 OFFSET 0) i " +
		"LEFT JOIN LATERAL (SELECT * FROM ~.pages x WHERE x.ns = $1 AND x.inst = i.seq OFFSET 0) p ON true"
	const text = "SELECT s.n, s.id, s.seq, s.rev, s.created, s.frame, s.part, CASE WHEN s.n = s.first OR s.size <= $3 THEN s.data END, s.n = s.first OR s.size <= $3 FROM (" + sizes + ") s ORDER BY s.n, s.frame, s.part"
	through = len(ids)
	last := int64(0)
	var insts, places []int64
	err = s.ask(ctx, func(ns int32) error {
		return s.db.each(ctx, s.db.pool, text, []any{ns, list(asked), int64(store.MaxStateBytes)}, func(r pgx.Rows) error {
			var n, inst int64
			var state store.State
			var frame *int64
			var part *int32
			var data []byte
			var fits bool
			if err := r.Scan(&n, &state.ID, &inst, &state.Rev, &state.Created, &frame, &part, &data, &fits); err != nil {
				return err
			}
			if !fits {
				through = min(through, int(n)-1)
				return nil
			}
			if n != last {
				last = n
				out, insts, places = append(out, state), append(insts, inst), append(places, n)
			}
			if frame != nil {
				of := &out[len(out)-1]
				p := core.Page{Frame: core.FrameID(*frame), Part: *part, Data: data}
				of.Damaged = cmp.Or(of.Damaged, codec.DecodePage(of.ID, of.Created, &p))
				of.Pages = append(of.Pages, p)
			}
			return nil
		})
	})
	if err != nil {
		return out, through, err
	}
	sources, err := s.chunksOfStates(ctx, out, insts)
	if err != nil {
		return nil, 0, err
	}
	bytes := 0
	for i := range out {
		of := &out[i]
		if of.Damaged == nil {
			if of.Pages, of.Damaged = pagesWith(sources[i], of.ID, of.Pages); of.Damaged != nil && !errors.Is(of.Damaged, store.ErrDamaged) {
				return nil, 0, of.Damaged
			}
		}
		for _, p := range of.Pages {
			bytes += len(p.Data)
		}
		if i > 0 && bytes > store.MaxStateBytes {
			return out[:i], int(places[i]) - 1, nil
		}
	}
	return out, through, nil
}
