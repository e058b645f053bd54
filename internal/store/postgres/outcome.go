package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// newToken names a transaction. It begins with the time: rows lie in the order in which
// they are inserted, and the old ones are found.
func newToken() pgtype.UUID {
	token := pgtype.UUID{Valid: true}
	_, _ = rand.Read(token.Bytes[:]) // never fails
	at := tokenAt(time.Now())
	copy(token.Bytes[:8], at.Bytes[:8])
	return token
}

// tokenAt is the first token of an instant.
func tokenAt(t time.Time) pgtype.UUID {
	token := pgtype.UUID{Valid: true}
	binary.BigEndian.PutUint64(token.Bytes[:8], uint64(t.UnixNano()))
	return token
}

// outcome finds out whether a transaction was committed whose answer was lost. It inserts the token
// itself: the insert waits for the transaction if it is still running, and makes it fail if it comes
// later. It tries for outcomeLimit longer than the write was tried.
func (db *DB) outcome(ctx context.Context, token pgtype.UUID) (result []int16, done bool, err error) {
	ctx, cancel := afterwards(ctx, db.opts.outcome)
	defer cancel()
	err = db.retry(ctx, func(ctx context.Context) error {
		_, err := db.pool.Exec(ctx, db.sql("INSERT INTO ~.outcomes (token, result) VALUES ($1, NULL) ON CONFLICT DO NOTHING"), token)
		if err != nil {
			return err
		}
		err = db.one(ctx, "SELECT result FROM ~.outcomes WHERE token = $1", []any{token}, &result)
		if errors.Is(err, pgx.ErrNoRows) {
			return errors.New("the outcome of a transaction is not there")
		}
		return err
	})
	return result, result != nil, err
}

const (
	// outcomesKept is how long the outcomes of transactions are kept at least.
	outcomesKept = time.Hour
	// forgetPause is how often a process looks for older ones: they go by tables of more than an hour.
	forgetPause = time.Minute
)

// forgetOutcomes deletes outcomes that are no longer needed.
func (db *DB) forgetOutcomes(ctx context.Context) error {
	n := 0
	return db.retry(ctx, func(ctx context.Context) error {
		return db.one(ctx, "SELECT ~.forget_outcomes($1, $2)", []any{time.Now().UnixNano(), outcomesKept.Nanoseconds()}, &n)
	})
}

// certain calls write with a token until it is certain that it was committed once, or not
// at all. Where the answer was lost, done gets the outcome instead.
func (db *DB) certain(ctx context.Context, write func(context.Context, pgtype.UUID) error, done func([]int16)) error {
	err := db.patiently(ctx, func(ctx context.Context) error {
		token := newToken()
		err := db.spoil(write(ctx, token))
		if err == nil {
			return nil
		}
		if _, nothing := passing(err); nothing {
			return err
		}
		result, committed, unknown := db.outcome(ctx, token)
		if unknown != nil {
			return &lostError{unknown}
		}
		if committed {
			done(result)
			return nil
		}
		return err
	})
	db.note(err)
	return err
}
