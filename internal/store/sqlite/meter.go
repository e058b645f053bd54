package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"
)

// Counters count the work of a database since it was opened.
type Counters struct {
	Transactions int64 // each made durable with one sync
	Writes       int64 // commits, events, routings and others, grouped in transactions
	Statements   int64 // in transactions
	Queries      int64 // statements on connections that only read
	Rows         int64 // returned by statements and queries
}

// Counters returns the counts so far.
func (db *DB) Counters() Counters {
	db.mu.Lock()
	defer db.mu.Unlock()
	out := db.writer.counters
	out.Queries += db.queries.Load()
	out.Rows += db.rows.Load()
	return out
}

// tally adds the counts of a connection since the last call.
func (db *DB) tally(c *conn) {
	db.queries.Add(c.statements)
	db.rows.Add(c.rows)
	c.statements, c.rows = 0, 0
}

// Each calls f with each connection in turn, while nothing else uses it.
func (db *DB) Each(ctx context.Context, f func(*sqlite.Conn) error) error {
	if err := db.writer.submit(ctx, 0, func(t *tx) error { return f(t.conn.Conn) }); err != nil {
		return err
	}
	db.asking.Lock()
	defer db.asking.Unlock()
	var all []*conn
	defer func() {
		for _, c := range all {
			db.readers <- c
		}
	}()
	for range cap(db.readers) {
		select {
		case c := <-db.readers:
			all = append(all, c)
			if err := f(c.Conn); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-db.closed:
			return errClosed
		}
	}
	return nil
}
