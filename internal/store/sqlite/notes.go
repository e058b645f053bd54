package sqlite

import (
	"cmp"
	"context"
	"math"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// PutNote stores a note.
func (s *Store) PutNote(ctx context.Context, n store.Note, now core.Time) error {
	if err := n.CheckText(); err != nil {
		return err
	}
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		if err := t.use(s.space); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO notes (ns, kind, key, value, until) VALUES (?, ?, ?, ?, ?) ON CONFLICT (ns, kind, key) DO UPDATE SET value = excluded.value, until = excluded.until",
			s.ns, n.Kind, n.Key, n.Value, int64(n.Until))
		if err != nil {
			return err
		}
		_, err = t.exec("DELETE FROM notes WHERE ns = ?1 AND (kind, key) IN (SELECT kind, key FROM notes WHERE ns = ?1 AND until > 0 AND until < ?2 ORDER BY until, kind, key LIMIT ?3)",
			s.ns, int64(now), store.Forgotten)
		return err
	})
}

const noteColumns = "SELECT kind, key, value, until FROM notes "

func readNote(r row) store.Note {
	return store.Note{Kind: r.ColumnText(0), Key: r.ColumnText(1), Value: r.ColumnText(2), Until: core.Time(r.ColumnInt64(3))}
}

// Note returns a note.
func (s *Store) Note(ctx context.Context, kind, key string) (n store.Note, err error) {
	err = s.db.read(ctx, func(c *conn) error {
		found, err := c.one(noteColumns+"WHERE ns = ? AND kind = ? AND key = ?", func(r row) error {
			n = readNote(r)
			return nil
		}, s.ns, kind, key)
		if err == nil && !found {
			return store.ErrNotFound
		}
		return err
	})
	return n, err
}

// Notes lists notes.
func (s *Store) Notes(ctx context.Context, kind, after string, limit int) (out []store.Note, err error) {
	err = s.db.read(ctx, func(c *conn) error {
		return c.query(noteColumns+"WHERE ns = ? AND kind = ? AND key > ? ORDER BY key LIMIT ?", func(r row) error {
			out = append(out, readNote(r))
			return nil
		}, s.ns, kind, after, limit)
	})
	return out, err
}

// DeleteNote removes a note.
func (s *Store) DeleteNote(ctx context.Context, kind, key string) (had bool, err error) {
	err = s.db.writer.submit(ctx, 0, func(t *tx) error {
		n, err := t.exec("DELETE FROM notes WHERE ns = ? AND kind = ? AND key = ?", s.ns, kind, key)
		had = n > 0
		return err
	})
	return had, err
}

// AppendEntry appends to the audit log.
func (s *Store) AppendEntry(ctx context.Context, e store.Entry, oldest core.Time) error {
	if err := e.CheckText(); err != nil {
		return err
	}
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		if err := t.use(s.space); err != nil {
			return err
		}
		_, err := t.exec("INSERT INTO audit (ns, id, at, who, operation, target, detail) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (ns, id) DO NOTHING",
			s.ns, e.ID, int64(e.At), e.Who, e.Operation, e.Target, e.Detail)
		if err != nil {
			return err
		}
		_, err = t.exec("DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE ns = ? AND at < ? ORDER BY at LIMIT ?)", s.ns, int64(oldest), store.Forgotten)
		return err
	})
}

// Entries lists the audit log.
func (s *Store) Entries(ctx context.Context, q store.EntryQuery) (out []store.Entry, err error) {
	before := cmp.Or(q.Before, math.MaxInt64)
	err = s.db.read(ctx, func(c *conn) error {
		return c.query(`SELECT seq, id, at, who, operation, target, detail FROM audit WHERE ns = ?1 AND seq < ?2
			AND (?3 = '' OR who = ?3) AND (?4 = '' OR operation = ?4) AND (?5 = '' OR target = ?5) ORDER BY seq DESC LIMIT ?6`, func(r row) error {
			out = append(out, store.Entry{
				Seq: r.ColumnInt64(0), ID: r.ColumnText(1), At: core.Time(r.ColumnInt64(2)),
				Who: r.ColumnText(3), Operation: r.ColumnText(4), Target: r.ColumnText(5), Detail: r.ColumnText(6),
			})
			return nil
		}, s.ns, before, q.Who, q.Operation, q.Target, q.Limit)
	})
	return out, err
}
