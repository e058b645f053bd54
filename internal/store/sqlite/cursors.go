package sqlite

import (
	"context"
	"fmt"
	"os"
)

// cursorKey is the row of meta that says up to where the feed of a namespace is passed on.
func (s *Store) cursorKey(name string) string { return fmt.Sprintf("cursor %d %s", s.ns, name) }

// Cursor returns up to where the feed is passed on.
func (s *Store) Cursor(ctx context.Context, name string) (pos int64, ok bool, err error) {
	err = s.db.read(ctx, func(c *conn) error {
		pos, ok, err = c.number("SELECT value FROM meta WHERE name = ?", s.cursorKey(name))
		return err
	})
	return pos, ok, err
}

// SetCursor says up to where the feed is passed on.
func (s *Store) SetCursor(ctx context.Context, name string, pos int64) error {
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		if err := t.use(s.space); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)", s.cursorKey(name), pos)
		return err
	})
}

// Size is how many bytes the database takes: the file and its log.
func (s *Store) Size(context.Context) (size int64, err error) {
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(s.db.path + suffix)
		if err != nil {
			return 0, fmt.Errorf("size of the store: %w", err)
		}
		size += info.Size()
	}
	return size, nil
}
