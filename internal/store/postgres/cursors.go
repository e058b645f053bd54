package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Cursor returns up to where the feed is passed on.
func (s *Store) Cursor(ctx context.Context, name string) (pos int64, ok bool, err error) {
	err = s.ask(ctx, func(ns int32) error {
		err := s.db.one(ctx, "SELECT pos FROM ~.cursors WHERE ns = $1 AND name = $2", []any{ns, name}, &pos)
		ok = err == nil
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return pos, ok, err
}

// SetCursor says up to where the feed is passed on.
func (s *Store) SetCursor(ctx context.Context, name string, pos int64) error {
	return s.write(ctx, func(ns int32) error {
		return s.db.retry(ctx, func(ctx context.Context) error {
			_, err := s.db.pool.Exec(ctx, s.db.sql(`INSERT INTO ~.cursors AS c (ns, name, pos) VALUES ($1, $2, $3)
				ON CONFLICT (ns, name) DO UPDATE SET pos = greatest(c.pos, excluded.pos)`), ns, name, pos)
			return wrap(err)
		})
	})
}

// Size is how many bytes the tables take, with their indexes.
func (s *Store) Size(ctx context.Context) (size int64, err error) {
	err = s.db.one(ctx, `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'm')`, []any{s.db.opts.Schema}, &size)
	return size, err
}
