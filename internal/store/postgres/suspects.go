package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Suspect names an instance.
func (s *Store) Suspect(ctx context.Context, instance string) error {
	return s.changeSuspects(ctx, "INSERT INTO ~.suspects (ns, id, shard) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", instance, shardOf(instance))
}

// Unsuspect removes a name.
func (s *Store) Unsuspect(ctx context.Context, instance string) error {
	return s.changeSuspects(ctx, "DELETE FROM ~.suspects WHERE ns = $1 AND id = $2", instance)
}

func (s *Store) changeSuspects(ctx context.Context, text, instance string, args ...any) error {
	return s.write(ctx, func(ns int32) error {
		if !storable(instance) {
			return nil // no instance has that id
		}
		return s.db.retry(ctx, func(ctx context.Context) error {
			_, err := s.db.pool.Exec(ctx, s.db.sql(text), append([]any{ns, instance}, args...)...)
			return wrap(err)
		})
	})
}

// Suspects lists the named instances that this node has.
func (s *Store) Suspects(ctx context.Context) (out []string, err error) {
	owned := s.leases.owned()
	err = s.ask(ctx, func(ns int32) error {
		out = nil
		return s.db.each(ctx, s.db.pool, `SELECT id FROM ~.suspects WHERE ns = $1 AND ($2::smallint[] IS NULL OR shard = ANY ($2)) ORDER BY id COLLATE "C"`, []any{ns, owned}, func(r pgx.Rows) error {
			id := ""
			err := r.Scan(&id)
			out = append(out, id)
			return err
		})
	})
	return out, err
}
