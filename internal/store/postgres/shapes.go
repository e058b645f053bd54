package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// known caches the shapes of a namespace, with a sum of them as they were read. Other nodes may add
// shapes, so a caller that relies on the cache has the sum compared.
type known struct {
	shapes map[int64][]codec.Shape // by type
	sum    int64
}

// shapesOf lists the shapes by which events are found.
func (sp *space) shapesOf(ctx context.Context, ns int32) (*known, error) {
	sp.mu.Lock()
	k := sp.known
	sp.mu.Unlock()
	if k != nil {
		return k, nil
	}
	return sp.readShapes(ctx, ns)
}

func (sp *space) readShapes(ctx context.Context, ns int32) (*known, error) {
	k := &known{shapes: map[int64][]codec.Shape{}}
	err := sp.db.retry(ctx, func(ctx context.Context) error {
		clear(k.shapes)
		b := &pgx.Batch{}
		b.Queue(sp.db.sql("SELECT ~.seen($1, 'h', 0, 0, '', '')"), ns).QueryRow(func(r pgx.Row) error { return r.Scan(&k.sum) })
		b.Queue(sp.db.sql("SELECT typ, places FROM ~.shapes WHERE ns = $1 ORDER BY typ, places"), ns).Query(func(r pgx.Rows) error {
			return drain(r, func(r pgx.Rows) error {
				typ, places := int64(0), ""
				if err := r.Scan(&typ, &places); err != nil {
					return err
				}
				s, err := codec.ParseShape(places)
				k.shapes[typ] = append(k.shapes[typ], s)
				return err
			})
		})
		return wrap(sp.db.conn(ctx).SendBatch(ctx, b).Close())
	})
	if err != nil {
		return nil, fmt.Errorf("read how events are found: %w", err)
	}
	sp.mu.Lock()
	sp.known = k
	sp.mu.Unlock()
	return k, nil
}

func (k *known) has(typ int64, s codec.Shape) bool {
	return slices.ContainsFunc(k.shapes[typ], func(o codec.Shape) bool { return slices.Equal(o, s) })
}

// learn files events under a new shape: those that come, and those that are kept.
func (sp *space) learn(ctx context.Context, ns int32, typ int64, s codec.Shape) error {
	k, err := sp.shapesOf(ctx, ns)
	if err != nil || k.has(typ, s) {
		return err
	}
	var found filing
	err = sp.db.retry(ctx, func(ctx context.Context) error { // most of it before others have to wait
		found = filing{typ: typ, shape: s}
		return found.read(ctx, sp.db, ns)
	})
	if err != nil {
		return err
	}
	err = (&Store{sp.db, sp}).transact(ctx, func(ctx context.Context, t *tx) error {
		if err := t.exclusive(ctx); err != nil {
			return err
		}
		n, err := t.do(ctx, "INSERT INTO ~.shapes (ns, typ, places) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", ns, typ, s.Text())
		if err != nil || n == 0 {
			return err // another process knows it already
		}
		all := found.clone() // it may be done again
		if err := all.read(ctx, sp.db, ns); err != nil {
			return err
		}
		return all.write(ctx, t)
	})
	if err != nil {
		return err
	}
	_, err = sp.readShapes(ctx, ns)
	return err
}

// filing is what is kept of a type, as it is found by a shape.
type filing struct {
	typ            int64
	shape          codec.Shape
	seen           []int64 // events
	matches, event []int64 // belong together
}

func (f *filing) clone() filing {
	return filing{f.typ, f.shape, slices.Clone(f.seen), slices.Clone(f.matches), slices.Clone(f.event)}
}

// read adds the events that were not seen yet.
func (f *filing) read(ctx context.Context, db *DB, ns int32) error {
	args := []any{ns, f.typ, list(f.seen)}
	return db.each(ctx, db.conn(ctx), "SELECT seq, received, producer, origin, event FROM ~.events e WHERE ns = $1 AND ($2::bigint = 0 OR typ = $2) AND NOT seq = ANY ($3) AND "+notForgotten, args, func(r pgx.Rows) error {
		var e store.Event
		var data []byte
		if err := r.Scan(&e.Seq, &e.Received, &e.Producer, &e.Origin, &data); err != nil {
			return err
		}
		f.seen = append(f.seen, e.Seq)
		if codec.DecodeEvent(data, &e) != nil {
			return nil // whoever would get it is told
		}
		for _, m := range f.shape.Matches(&e.Event) {
			f.matches, f.event = append(f.matches, m), append(f.event, e.Seq)
		}
		return nil
	})
}

// write files those of them that are still there.
func (f *filing) write(ctx context.Context, t *tx) error {
	_, err := t.do(ctx, "INSERT INTO ~.event_keys (ns, gen, typ, match, event) SELECT e.ns, e.gen, $2, u.match, e.seq FROM unnest($3::bigint[], $4::bigint[]) u(match, event) "+
		"JOIN ~.events e ON e.ns = $1 AND e.seq = u.event ON CONFLICT DO NOTHING", t.ns, f.typ, list(f.matches), list(f.event))
	return err
}

// stateKey is a state that a job was in.
type stateKey struct {
	kind         int32
	state, group string
}

// learnState notes a state that jobs are in: so that those in it are found.
func (sp *space) learnState(ctx context.Context, ns, kind int32, job *store.Job) error {
	if job.State == "" {
		return nil
	}
	key := stateKey{kind, job.State, job.Group}
	sp.mu.Lock()
	there := sp.states[key]
	sp.mu.Unlock()
	if there {
		return nil
	}
	err := sp.db.retry(ctx, func(ctx context.Context) error {
		_, err := sp.db.conn(ctx).Exec(ctx, sp.db.sql("INSERT INTO ~.job_states (ns, kind, state, grp) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"), ns, kind, job.State, job.Group)
		return wrap(err)
	})
	if err != nil || within(ctx) != nil { // it may be rolled back
		return err
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.states == nil || len(sp.states) >= maxKinds {
		sp.states = map[stateKey]bool{}
	}
	sp.states[key] = true
	return nil
}
