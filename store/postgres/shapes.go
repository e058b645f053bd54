package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/store"
	"github.com/lockstep-workflows/lockstep/store/codec"
)

// known is what is remembered of the shapes of a namespace, and what it was when it was
// read. Others may add shapes: who relies on it has it compared.
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
	err = (&Store{sp.db, sp}).transact(ctx, func(ctx context.Context, t *tx) error {
		if err := t.exclusive(ctx); err != nil {
			return err
		}
		n, err := t.do(ctx, "INSERT INTO ~.shapes VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", ns, typ, s.Text())
		if err != nil || n == 0 {
			return err // another process knows it already
		}
		return t.fileUnder(ctx, typ, s)
	})
	if err != nil {
		return err
	}
	_, err = sp.readShapes(ctx, ns)
	return err
}

// fileUnder files the events that are kept under a shape.
func (t *tx) fileUnder(ctx context.Context, typ int64, s codec.Shape) error {
	found := map[eventKey][]int64{}
	err := t.each(ctx, "SELECT seq, event FROM ~.events WHERE ns = $1 AND ($2::bigint = 0 OR typ = $2)", []any{t.ns, typ}, func(r pgx.Rows) error {
		seq, data := int64(0), []byte(nil)
		if err := r.Scan(&seq, &data); err != nil {
			return err
		}
		e, err := codec.DecodeEvent(data)
		if err != nil {
			return fmt.Errorf("event %d: %w", seq, err)
		}
		for _, m := range s.Matches(&e) {
			found[eventKey{typ, m}] = append(found[eventKey{typ, m}], seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range slices.SortedFunc(maps.Keys(found), func(a, b eventKey) int { return cmp.Compare(a.match, b.match) }) {
		if _, err := t.do(ctx, "INSERT INTO ~.event_keys SELECT $1, $2, $3, unnest($4::bigint[]) ON CONFLICT DO NOTHING", t.ns, k.typ, k.match, found[k]); err != nil {
			return err
		}
	}
	return nil
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
		_, err := sp.db.conn(ctx).Exec(ctx, sp.db.sql("INSERT INTO ~.job_states VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"), ns, kind, job.State, job.Group)
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
