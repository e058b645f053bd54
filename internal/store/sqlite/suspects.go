package sqlite

import "context"

// Suspect adds a suspect.
func (s *Store) Suspect(ctx context.Context, instance string) error {
	return s.changeSuspects(ctx, "INSERT OR IGNORE INTO suspects (ns, id) VALUES (?, ?)", instance)
}

// Unsuspect removes a suspect.
func (s *Store) Unsuspect(ctx context.Context, instance string) error {
	return s.changeSuspects(ctx, "DELETE FROM suspects WHERE ns = ? AND id = ?", instance)
}

func (s *Store) changeSuspects(ctx context.Context, query, instance string) error {
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		_, err := t.exec(query, s.ns, instance)
		return err
	})
}

// Suspects lists the suspects.
func (s *Store) Suspects(ctx context.Context) (out []string, err error) {
	err = s.db.read(ctx, func(c *conn) error {
		return c.query("SELECT id FROM suspects WHERE ns = ? ORDER BY id", func(r row) error {
			out = append(out, r.ColumnText(0))
			return nil
		}, s.ns)
	})
	return out, err
}
