package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// tallyID is the key of an hour.
func (s *Store) tallyID(at core.Time) int64 { return s.ns<<32 | int64(max(at, 0))/int64(time.Hour) }

// tallyOf is the hour with a key.
func tallyOf(id int64) core.Time { return core.Time(id&(1<<32-1)) * core.Time(time.Hour) }

// AddTallies adds to the tallies of some hours.
func (s *Store) AddTallies(ctx context.Context, hours []store.Hour, oldest core.Time) error {
	return s.db.writer.submit(ctx, 0, func(t *tx) error {
		if err := t.use(s.space); err != nil {
			return err
		}
		for _, h := range hours {
			if h.At < max(oldest, 0) {
				continue
			}
			sum := store.Hour{At: h.At}
			_, err := t.conn.one("SELECT data FROM tallies WHERE id = ?", func(r row) error {
				return codec.DecodeHour(blob(r, 0), &sum)
			}, s.tallyID(h.At))
			if err != nil && !errors.Is(err, store.ErrDamaged) {
				return err
			}
			for _, tally := range h.Tallies {
				sum.Add(tally)
			}
			_, err = t.exec("INSERT INTO tallies (id, data) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data",
				s.tallyID(h.At), codec.AppendHour(nil, &sum))
			if err != nil {
				return err
			}
		}
		_, err := t.exec("DELETE FROM tallies WHERE id >= ? AND id < ?", s.tallyID(0), s.tallyID(oldest))
		return err
	})
}

// ListTallies lists hours with their tallies.
func (s *Store) ListTallies(ctx context.Context, from, until core.Time) (out []store.Hour, err error) {
	damaged := &store.DamagedError{}
	err = s.db.read(ctx, func(c *conn) error {
		return c.query("SELECT id, data FROM tallies WHERE id >= ? AND id < ? ORDER BY id", func(r row) error {
			h := store.Hour{At: tallyOf(r.ColumnInt64(0))}
			if err := codec.DecodeHour(blob(r, 1), &h); err != nil {
				damaged.Add(0, "", err)
				return nil
			}
			out = append(out, h)
			return nil
		}, s.tallyID(from+core.Time(time.Hour)-1), s.tallyID(until-1)+1)
	})
	if err == nil {
		err = damaged.Err()
	}
	return out, err
}
