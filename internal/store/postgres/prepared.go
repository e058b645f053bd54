package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Statements that every step sends are prepared: to parse a call of a function with fifty arguments costs the server
// as much as half of what the function does. A prepared statement belongs to a session, which a pooler in transaction
// mode gives to others, so that nothing is prepared behind one, unless the address has
// default_query_exec_mode=cache_statement: some poolers keep prepared statements themselves. Only calls of functions are
// prepared. Their plans do not depend on statistics.

// statement is one that is prepared under its name, where that is possible.
type statement struct{ name, text string }

// mayPrepare finds out whether the sessions of the server are those of the pool. A pooler has numbers of its own.
func (db *DB) mayPrepare(ctx context.Context, address string) error {
	if strings.Contains(address, "default_query_exec_mode") {
		db.prepares.Store(db.pool.Config().ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement)
		return nil
	}
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	pid := uint32(0)
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&pid); err != nil {
		return err
	}
	db.prepares.Store(pid == conn.Conn().PgConn().PID())
	return nil
}

// run calls f with the text that runs a statement, and with what runs it. Where the session turns out to be another one
// than the one in which the statement was prepared, which a server behind the same address may be, nothing is prepared
// from then on.
func (db *DB) run(ctx context.Context, s statement, f func(q querier, text string) error) error {
	if t := within(ctx); t != nil {
		return f(t.Tx, s.text)
	}
	if !db.prepares.Load() {
		return f(db.pool, s.text)
	}
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err = conn.Conn().Prepare(ctx, s.name, db.sql(s.text)); err == nil {
		err = f(conn, s.name)
	}
	if !misplaced(err) {
		return wrap(err)
	}
	db.prepares.Store(false)
	return f(conn, s.text)
}

// misplaced reports whether a statement was not run because it is not prepared in the session, or another one is that
// has its name.
func misplaced(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "26000" || pg.Code == "42P05")
}

// first runs a statement and reads the first row; pgx.ErrNoRows: there is none.
func (db *DB) first(ctx context.Context, s statement, args []any, into ...any) error {
	return db.run(ctx, s, func(q querier, text string) error { return db.oneOf(ctx, q, text, args, into...) })
}

// rows runs a statement and calls f for every row.
func (db *DB) rows(ctx context.Context, s statement, args []any, f func(pgx.Rows) error) error {
	return db.run(ctx, s, func(q querier, text string) error { return db.each(ctx, q, text, args, f) })
}
