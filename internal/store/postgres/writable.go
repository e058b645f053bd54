package postgres

import (
	"context"
	"errors"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// note remembers how a write ended. What is wrong with the request itself says nothing.
func (db *DB) note(err error) {
	again, _ := passing(err)
	if err == nil || again || errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrUncertain) || errors.As(err, new(*lateError)) {
		db.health.Note(err)
	}
}

// Writable says why writes fail. A standby and a database that is full can be read: to find
// out, a token is written that no transaction has, which is forgotten as all of them are.
func (s *Store) Writable(ctx context.Context) error {
	return s.db.health.Ask(ctx, func(ctx context.Context) error {
		if err := s.db.enter(); err != nil {
			return err
		}
		defer s.db.flying.Done()
		ctx, cancel := context.WithTimeout(ctx, s.db.opts.answer)
		defer cancel()
		_, err := s.db.pool.Exec(ctx, s.db.sql("INSERT INTO ~.outcomes (token, result) VALUES ($1, NULL)"), newToken())
		return wrap(err)
	})
}
