package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Policies lists what operators decided about definitions.
func (s *Store) Policies(ctx context.Context) (out []store.Policy, err error) {
	err = s.db.read(ctx, func(c *conn) error {
		return c.query("SELECT definition, rev, data FROM policies WHERE ns = ? ORDER BY definition", func(r row) error {
			out = append(out, store.Policy{Definition: r.ColumnText(0), Rev: r.ColumnInt64(1), Data: r.ColumnText(2)})
			return nil
		}, s.ns)
	})
	return out, err
}

// SetPolicy stores the next revision of a policy.
func (s *Store) SetPolicy(ctx context.Context, p store.Policy) error {
	return s.db.writer.submit(ctx, len(p.Data), func(t *tx) error {
		defined, _, err := t.conn.number("SELECT EXISTS (SELECT 1 FROM aliases WHERE ns = ? AND id = ?)", s.ns, p.Definition)
		if err != nil {
			return err
		}
		if defined == 0 {
			return fmt.Errorf("definition %s: %w", p.Definition, store.ErrNotFound)
		}
		rev, _, err := t.conn.number("SELECT rev FROM policies WHERE ns = ? AND definition = ?", s.ns, p.Definition)
		if err != nil {
			return err
		}
		if rev != p.Rev {
			return fmt.Errorf("policy of %s: %w", p.Definition, store.ErrConflict)
		}
		_, err = t.exec("INSERT OR REPLACE INTO policies (ns, definition, rev, data) VALUES (?, ?, ?, ?)", s.ns, p.Definition, p.Rev+1, p.Data)
		return err
	})
}

// Held lists the instances of a definition that are held. Those in quarantine, which are few, have the same
// mark in the table.
func (s *Store) Held(ctx context.Context, definition string, limit int) ([]string, error) {
	var found []store.Instance
	err := s.db.snapshot(ctx, func(c *conn) error {
		names := s.db.names(c)
		var kinds []int64
		err := c.query("SELECT kind FROM kinds WHERE ns = ? AND definition = ?", func(r row) error {
			kinds = append(kinds, r.ColumnInt64(0))
			return nil
		}, s.ns, definition)
		for _, kind := range kinds {
			if err != nil {
				break
			}
			n := 0
			err = c.query(instanceColumns+"INDEXED BY instances_aside WHERE ns = ? AND kind = ? AND aside IS NOT NULL ORDER BY seq", func(r row) error {
				if in, err := readInstance(r, names, nil); err == nil && in.Held { // a damaged one is in quarantine before long
					found = append(found, in)
					n++
				}
				if n >= limit {
					return errEnough
				}
				return nil
			}, s.ns, kind)
			if err == errEnough {
				err = nil
			}
		}
		return err
	})
	slices.SortFunc(found, func(a, b store.Instance) int { return int(a.Seq - b.Seq) })
	var out []string
	for _, in := range found[:min(limit, len(found))] {
		out = append(out, in.ID)
	}
	return out, err
}
