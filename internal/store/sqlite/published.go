package sqlite

import (
	"context"
	"fmt"
)

// publishedKey is the row of meta that says up to where the feed of a namespace is published.
func (s *Store) publishedKey() string { return fmt.Sprintf("published %d", s.ns) }

// Published returns up to where the feed is published.
func (s *Store) Published(ctx context.Context) (pos int64, ok bool, err error) {
	err = s.db.read(ctx, func(c *conn) error {
		pos, ok, err = c.number("SELECT value FROM meta WHERE name = ?", s.publishedKey())
		return err
	})
	return pos, ok, err
}

// SetPublished says up to where the feed is published.
func (s *Store) SetPublished(ctx context.Context, pos int64) error {
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		if err := t.use(s.space); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)", s.publishedKey(), pos)
		return err
	})
}
