package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// AddTallies adds to the tallies of some hours. Nodes take the rows in the order of time.
func (s *Store) AddTallies(ctx context.Context, hours []store.Hour, oldest core.Time) error {
	return s.transact(ctx, func(ctx context.Context, t *tx) error {
		for i := range hours {
			if h := &hours[i]; h.At >= oldest {
				if err := t.addTallies(ctx, h, oldest); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// addTallies adds to the tallies of an hour, and with a new one forgets those that are too old.
func (t *tx) addTallies(ctx context.Context, h *store.Hour, oldest core.Time) error {
	sum := store.Hour{At: h.At}
	var data []byte
	read := func() error {
		return t.one(ctx, "SELECT data FROM ~.tallies WHERE ns = $1 AND hour = $2 FOR UPDATE", []any{t.ns, int64(h.At)}, &data)
	}
	err := read()
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = t.do(ctx, "INSERT INTO ~.tallies (ns, hour, data) VALUES ($1, $2, $3) ON CONFLICT (ns, hour) DO NOTHING",
			t.ns, int64(h.At), codec.AppendHour(nil, &sum))
		if err == nil {
			_, err = t.do(ctx, "DELETE FROM ~.tallies WHERE ns = $1 AND hour < $2", t.ns, int64(oldest))
		}
		if err == nil {
			err = read()
		}
	}
	if err != nil {
		return err
	}
	_ = codec.DecodeHour(data, &sum) // a damaged one begins anew
	for _, tally := range h.Tallies {
		sum.Add(tally)
	}
	_, err = t.do(ctx, "UPDATE ~.tallies SET data = $3 WHERE ns = $1 AND hour = $2", t.ns, int64(h.At), codec.AppendHour(nil, &sum))
	return err
}

// ListTallies lists hours with their tallies.
func (s *Store) ListTallies(ctx context.Context, from, until core.Time) (out []store.Hour, err error) {
	var damaged *store.DamagedError
	err = s.ask(ctx, func(ns int32) error {
		return s.db.retry(ctx, func(ctx context.Context) error {
			out, damaged = nil, &store.DamagedError{}
			return s.db.each(ctx, s.db.pool, "SELECT hour, data FROM ~.tallies WHERE ns = $1 AND hour >= $2 AND hour < $3 ORDER BY hour", []any{ns, int64(from), int64(until)}, func(r pgx.Rows) error {
				h, err := readHour(r)
				switch {
				case errors.Is(err, store.ErrDamaged):
					damaged.Add(0, "", err)
					return nil
				case err == nil:
					out = append(out, h)
				}
				return err
			})
		})
	})
	if err == nil {
		err = damaged.Err()
	}
	return out, err
}

// readHour reads an hour and its data.
func readHour(r pgx.Rows) (h store.Hour, err error) {
	at, data := int64(0), []byte(nil)
	if err := r.Scan(&at, &data); err != nil {
		return h, err
	}
	h.At = core.Time(at)
	return h, codec.DecodeHour(data, &h)
}
