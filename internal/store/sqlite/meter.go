package sqlite

import (
	"context"
	"errors"
	"reflect"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Counters tell what a database did since it was opened.
type Counters struct {
	Transactions int64 // each made durable with one sync
	Writes       int64 // commits, events, routings and others that they were made of
	Statements   int64 // in transactions
	Queries      int64 // statements of those that only read
	Rows         int64 // that statements and queries gave
}

// Counters tells what the database did so far.
func (db *DB) Counters() Counters {
	db.mu.Lock()
	defer db.mu.Unlock()
	out := db.writer.counters
	out.Queries += db.queries.Load()
	out.Rows += db.rows.Load()
	return out
}

// tally adds what a connection did since it was asked last.
func (db *DB) tally(c *conn) {
	db.queries.Add(c.statements)
	db.rows.Add(c.rows)
	c.statements, c.rows = 0, 0
}

// Traffic is what the connections of a database did with pages since each was opened. SQLite
// counts to 2³² on each and then begins anew: take the difference of two.
type Traffic struct {
	Seen    int64 // looked at, in memory or not
	Missed  int64 // of these, those that were not in memory of the connection
	Written int64 // to the log; a checkpoint takes each of them into the file once at most
	Bytes   int64 // of those that were written
}

// Traffic asks the connections. It waits for its turn with each of them.
func (db *DB) Traffic(ctx context.Context) (Traffic, error) {
	var out Traffic
	err := db.writer.submit(ctx, 0, func(t *tx) error {
		size, _, err := t.conn.number("PRAGMA page_size")
		return errors.Join(err, out.add(t.conn, size))
	})
	if err != nil {
		return Traffic{}, err
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
		case <-ctx.Done():
			return Traffic{}, ctx.Err()
		}
		if err := out.add(all[len(all)-1], 0); err != nil {
			return Traffic{}, err
		}
	}
	return out, nil
}

// add asks SQLite, which zombiezen's package does not: the handle is a private field of its.
func (t *Traffic) add(c *conn, pageSize int64) error {
	handle := reflect.ValueOf(c.Conn).Elem().FieldByName("conn")
	if handle.Kind() != reflect.Uintptr {
		return errors.New("the connection does not have its handle where it was")
	}
	tls := libc.NewTLS()
	defer tls.Close()
	buf := libc.Xmalloc(tls, 8)
	if buf == 0 {
		return errors.New("no memory")
	}
	defer libc.Xfree(tls, buf)
	read := func(what int32) int64 {
		lib.Xsqlite3_db_status(tls, uintptr(handle.Uint()), what, buf, buf+4, 0)
		return int64(*(*uint32)(address(buf)))
	}
	missed, written := read(lib.SQLITE_DBSTATUS_CACHE_MISS), read(lib.SQLITE_DBSTATUS_CACHE_WRITE)
	t.Seen += read(lib.SQLITE_DBSTATUS_CACHE_HIT) + missed
	t.Missed += missed
	t.Written += written
	t.Bytes += written * pageSize
	return nil
}

// address makes a pointer of an address that C code gave.
func address(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }
