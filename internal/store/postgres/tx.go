package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// storable reports whether columns of text hold texts.
func storable(list ...string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !store.Storable(s) })
}

// sql puts the schema before names that are written with ~.
func (db *DB) sql(text string) string {
	if known, ok := db.names.Load(text); ok {
		return known.(string)
	}
	full := strings.ReplaceAll(text, "~.", db.prefix)
	db.names.Store(text, full)
	return full
}

// querier is the pool, or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// each calls f for every row of a query.
func (db *DB) each(ctx context.Context, q querier, text string, args []any, f func(pgx.Rows) error) error {
	rows, err := q.Query(ctx, db.sql(text), args...)
	if err != nil {
		return wrap(err)
	}
	return wrap(drain(rows, f))
}

// inOrder is each for a list: its statement reads indexes in their order until it has enough, also where the tables were
// not analyzed, and the planner would rather sort all that is selected. Both statements are one transaction, and one message.
func (db *DB) inOrder(ctx context.Context, q querier, text string, args []any, f func(pgx.Rows) error) error {
	b := &pgx.Batch{}
	b.Queue("SELECT set_config(name, 'off', true) FROM unnest(ARRAY['enable_seqscan', 'enable_sort', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) name")
	b.Queue(db.sql(text), args...)
	results := q.SendBatch(ctx, b)
	_, err := results.Exec()
	if err == nil {
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			err = drain(rows, f)
		}
	}
	return wrap(cmp.Or(err, results.Close()))
}

func drain(rows pgx.Rows, f func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one reads the first row; pgx.ErrNoRows: there is none.
func (db *DB) one(ctx context.Context, text string, args []any, into ...any) error {
	return db.oneOf(ctx, db.conn(ctx), text, args, into...)
}

// named is one with arguments by name, which a statement writes with @.
func (db *DB) named(ctx context.Context, text string, args pgx.NamedArgs, into ...any) error {
	return db.one(ctx, text, []any{args}, into...)
}

// txKey is where a context has the transaction that it belongs to.
type txKey struct{}

// conn is the transaction that a context belongs to, or the pool. A caller with a transaction must not
// wait for another connection: the holders of connections may be waiting for the transaction.
func (db *DB) conn(ctx context.Context) querier {
	if t := within(ctx); t != nil {
		return t.Tx
	}
	return db.pool
}

func within(ctx context.Context) *tx {
	t, _ := ctx.Value(txKey{}).(*tx)
	return t
}

func (db *DB) oneOf(ctx context.Context, q querier, text string, args []any, into ...any) error {
	found := false
	err := db.each(ctx, q, text, args, func(r pgx.Rows) error {
		if found {
			return nil
		}
		found = true
		return r.Scan(into...)
	})
	if err == nil && !found {
		return pgx.ErrNoRows
	}
	return err
}

// wrap tells callers what they can tell apart.
func wrap(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "53100", "53200": // disk full, out of memory
			return fmt.Errorf("%w: %w", store.ErrFull, err)
		case "XX001", "XX002":
			return fmt.Errorf("%w: %w", store.ErrDamaged, err)
		}
	}
	return err
}

const (
	// pause is how long a write waits before it is tried again, and maxPause the longest,
	// while the database is away or another transaction was in the way.
	pause    = 5 * time.Millisecond
	maxPause = 250 * time.Millisecond
)

// passing reports whether an error may be gone when the same is tried again, and whether
// it is certain that nothing was written.
func passing(err error) (again, nothing bool) {
	if errors.As(err, new(*lostError)) {
		return false, false
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "40001", "40P01", "55P03", codeChanged, // another transaction was in the way
			"57P01", "57P02", "57P03", "53300", "25P03", "25006": // the server stops, starts, is full, lost patience, or is a standby
			return true, true
		}
		if strings.HasPrefix(pg.Code, "08") {
			// A pooler says so when it lost the server, perhaps after a commit.
			return true, errors.As(err, new(*pgconn.ConnectError))
		}
		return false, true
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false, unsent(err)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return true, true
	}
	return cut(err), unsent(err)
}

// unsent reports whether it is certain that the server got nothing. A connection that is closed may
// have been closed by the loss of the answer: pgx says the same of both.
func unsent(err error) bool {
	return pgconn.SafeToRetry(err) && !errors.Is(err, pgconn.ErrConnClosed)
}

// cut reports whether a connection was lost.
func cut(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
}

// codeChanged is raised by functions of the schema that want to be called again.
const codeChanged = "LK001"

// retry calls f again while its error is a passing one, for as long as the options say.
// What f does may be done twice.
func (db *DB) retry(ctx context.Context, f func(context.Context) error) error {
	if within(ctx) != nil {
		return f(ctx) // the transaction is what is tried again
	}
	return db.attempts(ctx, func(ctx context.Context) error { return db.spoil(f(ctx)) })
}

// attempts is retry for what finds out by itself whether it was done.
func (db *DB) attempts(ctx context.Context, f func(context.Context) error) error {
	end := time.Now().Add(db.opts.Patience)
	for wait := pause; ; wait = min(2*wait, maxPause) {
		err := f(ctx)
		if again, _ := passing(err); err == nil || !again || ctx.Err() != nil || time.Now().Add(wait).After(end) {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// spoil is the error of an attempt. Tests let one fail that went well: it must leave nothing behind for the next.
func (db *DB) spoil(err error) error {
	if err == nil && db.opts.spoil != nil {
		return db.opts.spoil()
	}
	return err
}

// outcomeLimit is how much longer than a write is tried its outcome is asked for, where the answer was lost.
const outcomeLimit = 2 * time.Second

// patiently is retry with one deadline for all attempts ("write-limit"): one that began late gets what time is left.
func (db *DB) patiently(ctx context.Context, f func(context.Context) error) error {
	if within(ctx) != nil {
		return f(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, db.opts.Patience)
	defer cancel()
	err := db.attempts(bounded, f)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && !errors.As(err, new(*lostError)) {
		return &lateError{db.opts.Patience}
	}
	return err
}

// afterwards is a context for what must still be done when the one of a write is over: it ends so much later.
func afterwards(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if !bounded {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, end.Add(d))
}

// lateError says that a write was given up, and that nothing happened. It is no timeout of its user's.
type lateError struct{ limit time.Duration }

func (e *lateError) Error() string {
	return "the database did not take it within " + e.limit.String() + " (write-limit); see whether it answers, and who holds locks"
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// silence is how long the server waits for a client inside of a transaction before it ends
// it: so long others may have to wait for one that stopped. One that was only slow does it again.
const silence = "1s"

// tx is a transaction of several statements.
type tx struct {
	pgx.Tx
	db *DB
	ns int32
}

func (t *tx) each(ctx context.Context, text string, args []any, f func(pgx.Rows) error) error {
	return t.db.each(ctx, t.Tx, text, args, f)
}

func (t *tx) one(ctx context.Context, text string, args []any, into ...any) error {
	return t.db.oneOf(ctx, t.Tx, text, args, into...)
}

func (t *tx) do(ctx context.Context, text string, args ...any) (int64, error) {
	tag, err := t.Exec(ctx, t.db.sql(text), args...)
	return tag.RowsAffected(), wrap(err)
}

// exclusive takes the lock of the namespace; see the schema.
func (t *tx) exclusive(ctx context.Context) error {
	_, err := t.do(ctx, "SELECT ~.exclusive($1)", t.ns)
	return err
}

// number gives out one number.
func (t *tx) number(ctx context.Context) (n int64, err error) {
	err = t.one(ctx, "SELECT nextval('~.seqs')", nil, &n)
	return n, err
}

// transact does f as a transaction, again while its error is a passing one. Where the
// connection is lost at the commit, its outcome is found out.
func (s *Store) transact(ctx context.Context, f func(context.Context, *tx) error) error {
	return s.told(ctx, func(ns int32) error {
		return s.db.patiently(ctx, func(ctx context.Context) error {
			token := newToken()
			err := s.db.begin(ctx, ns, func(t *tx) error {
				if err := s.db.spoil(f(context.WithValue(ctx, txKey{}, t), t)); err != nil {
					return err
				}
				_, err := t.do(ctx, "INSERT INTO ~.outcomes (token, result) VALUES ($1, '{0}')", token)
				return err
			})
			var lost *lostError
			if errors.As(err, &lost) {
				_, done, err := s.db.outcome(ctx, token)
				switch {
				case err != nil:
					return &lostError{err}
				case done:
					return nil
				}
				return lost.err
			}
			return err
		})
	})
}

// call writes with one call of a function of the schema, which gets the namespace and a token besides.
// Where the answer is lost, done gets what the function noted instead.
func (s *Store) call(ctx context.Context, text string, args pgx.NamedArgs, done func([]int16), into ...any) error {
	return s.told(ctx, func(ns int32) error {
		return s.db.certain(ctx, func(ctx context.Context, token pgtype.UUID) error {
			args["ns"], args["token"] = ns, token
			return s.db.named(ctx, text, args, into...)
		}, done)
	})
}

// told writes something that other nodes may wait for.
func (s *Store) told(ctx context.Context, f func(ns int32) error) error {
	err := s.write(ctx, f)
	if err == nil {
		s.wrote()
	}
	return err
}

// lostError says that the answer to a commit did not come.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the outcome is not known: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// Is makes it a store.ErrUncertain.
func (e *lostError) Is(target error) bool { return target == store.ErrUncertain }

func (db *DB) begin(ctx context.Context, ns int32, f func(*tx) error) error {
	raw, err := db.pool.BeginTx(ctx, pgx.TxOptions{
		BeginQuery: "BEGIN; SET LOCAL search_path = " + strings.TrimSuffix(db.prefix, ".") + "; SET LOCAL idle_in_transaction_session_timeout = '" + silence + "'",
	})
	if err != nil {
		return wrap(err)
	}
	t := &tx{raw, db, ns}
	defer func() { _ = raw.Rollback(context.WithoutCancel(ctx)) }() // nothing after a commit
	if err := f(t); err != nil {
		return err
	}
	ctx, cancel := afterwards(ctx, 0) // the caller may be gone
	defer cancel()
	if err := raw.Commit(ctx); err != nil {
		if _, nothing := passing(err); !nothing {
			return &lostError{err}
		}
		return wrap(err)
	}
	return nil
}

// snapshot reads with one view of the database for several queries, which may take long.
func (db *DB) snapshot(ctx context.Context, f func(*tx) error) error {
	return db.look(ctx, func(t *tx) error {
		defer unhurried(t.Conn())()
		return f(t)
	})
}

// look reads with one view of the database for several queries.
func (db *DB) look(ctx context.Context, f func(*tx) error) error {
	raw, err := db.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return wrap(err)
	}
	defer func() { _ = raw.Rollback(context.WithoutCancel(ctx)) }()
	return f(&tx{raw, db, 0})
}
