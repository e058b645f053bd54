package postgres

import "context"

// Published returns up to where the feed is published.
func (s *Store) Published(ctx context.Context) (pos int64, ok bool, err error) {
	err = s.ask(ctx, func(ns int32) error {
		return s.db.one(ctx, "SELECT coalesce(published, 0), published IS NOT NULL FROM ~.namespaces WHERE ns = $1", []any{ns}, &pos, &ok)
	})
	return pos, ok, err
}

// SetPublished says up to where the feed is published.
func (s *Store) SetPublished(ctx context.Context, pos int64) error {
	return s.write(ctx, func(ns int32) error {
		return s.db.retry(ctx, func(ctx context.Context) error {
			_, err := s.db.pool.Exec(ctx, s.db.sql("UPDATE ~.namespaces SET published = greatest(published, $2) WHERE ns = $1"), ns, pos)
			return wrap(err)
		})
	})
}
