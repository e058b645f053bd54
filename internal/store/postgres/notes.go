package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// change runs a statement that may be done twice.
func (s *Store) change(ctx context.Context, text string, args ...any) (rows int64, err error) {
	err = s.write(ctx, func(ns int32) error {
		return s.db.retry(ctx, func(ctx context.Context) error {
			tag, err := s.db.pool.Exec(ctx, s.db.sql(text), append([]any{ns}, args...)...)
			rows = tag.RowsAffected()
			return wrap(err)
		})
	})
	return rows, err
}

// PutNote stores a note.
func (s *Store) PutNote(ctx context.Context, n store.Note, now core.Time) error {
	if err := n.CheckText(); err != nil {
		return err
	}
	_, err := s.change(ctx, "SELECT ~.put_note($1, $2, $3, $4, $5, $6, $7)", n.Kind, n.Key, n.Value, int64(n.Until), int64(now), store.Forgotten)
	return err
}

const noteColumns = "SELECT kind, key, value, until FROM ~.notes "

func scanNote(r pgx.Rows) (n store.Note, err error) {
	return n, r.Scan(&n.Kind, &n.Key, &n.Value, &n.Until)
}

// Note returns a note.
func (s *Store) Note(ctx context.Context, kind, key string) (n store.Note, err error) {
	if !storable(kind, key) {
		return n, store.ErrNotFound
	}
	err = s.ask(ctx, func(ns int32) error {
		return s.db.retry(ctx, func(ctx context.Context) error {
			return s.db.one(ctx, noteColumns+"WHERE ns = $1 AND kind = $2 AND key = $3", []any{ns, kind, key}, &n.Kind, &n.Key, &n.Value, &n.Until)
		})
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = store.ErrNotFound
	}
	return n, err
}

// Notes lists notes.
func (s *Store) Notes(ctx context.Context, kind, after string, limit int) (out []store.Note, err error) {
	if !storable(kind, after) {
		return nil, nil
	}
	err = s.ask(ctx, func(ns int32) error {
		return s.db.retry(ctx, func(ctx context.Context) error {
			out = nil
			return s.db.each(ctx, s.db.pool, noteColumns+"WHERE ns = $1 AND kind = $2 AND key > $3 ORDER BY key LIMIT $4", []any{ns, kind, after, limit}, func(r pgx.Rows) error {
				n, err := scanNote(r)
				out = append(out, n)
				return err
			})
		})
	})
	return out, err
}

// DeleteNote removes a note.
func (s *Store) DeleteNote(ctx context.Context, kind, key string) (bool, error) {
	if !storable(kind, key) {
		return false, nil
	}
	n := int64(0)
	err := s.transact(ctx, func(ctx context.Context, t *tx) (err error) {
		n, err = t.do(ctx, "DELETE FROM ~.notes WHERE ns = $1 AND kind = $2 AND key = $3", t.ns, kind, key)
		return err
	})
	return n > 0, err
}

// AppendEntry appends to the audit log.
func (s *Store) AppendEntry(ctx context.Context, e store.Entry, oldest core.Time) error {
	if err := e.CheckText(); err != nil {
		return err
	}
	_, err := s.change(ctx, "SELECT ~.append_audit($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		e.ID, int64(e.At), e.Who, e.Operation, e.Target, e.Detail, int64(oldest), store.Forgotten)
	return err
}

// Entries lists the audit log.
func (s *Store) Entries(ctx context.Context, q store.EntryQuery) (out []store.Entry, err error) {
	if !storable(q.Who, q.Operation, q.Target) {
		return nil, nil
	}
	err = s.ask(ctx, func(ns int32) error {
		return s.db.retry(ctx, func(ctx context.Context) error {
			out = nil
			return s.db.each(ctx, s.db.pool, `SELECT seq, id, at, who, operation, target, detail FROM ~.audit WHERE ns = $1 AND ($2 = 0 OR seq < $2)
				AND ($3 = '' OR who = $3) AND ($4 = '' OR operation = $4) AND ($5 = '' OR target = $5) ORDER BY seq DESC LIMIT $6`,
				[]any{ns, q.Before, q.Who, q.Operation, q.Target, q.Limit}, func(r pgx.Rows) error {
					var e store.Entry
					err := r.Scan(&e.Seq, &e.ID, &e.At, &e.Who, &e.Operation, &e.Target, &e.Detail)
					out = append(out, e)
					return err
				})
		})
	})
	return out, err
}
