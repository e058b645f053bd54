// Package pagestat counts the pages that a SQLite database reads and writes, for tests and
// measurements.
package pagestat

import (
	"context"
	"errors"
	"reflect"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Traffic counts the pages of all connections of a database since each was opened. The counters of
// SQLite wrap around at 2³², so use differences.
type Traffic struct {
	Seen    int64 // read, from the cache or not
	Missed  int64 // read, and not in the connection's cache
	Written int64 // to the log; a checkpoint copies each of them into the file at most once
	Bytes   int64 // size of the written pages
}

// Database passes its connections to f one at a time, while nothing else uses them.
type Database interface {
	Each(ctx context.Context, f func(*sqlite.Conn) error) error
}

// Of sums the counters of all connections of a database.
func Of(ctx context.Context, db Database) (out Traffic, err error) {
	err = db.Each(ctx, func(c *sqlite.Conn) error { return out.add(c) })
	return out, err
}

// Forget empties the caches of all connections, so that every page that they read next is missed once.
func Forget(ctx context.Context, db Database) error {
	return db.Each(ctx, func(c *sqlite.Conn) error { return sqlitex.ExecuteTransient(c, "PRAGMA shrink_memory", nil) })
}

// add asks SQLite for the counters of a connection, which zombiezen's package does not offer: the
// handle is a private field there.
func (t *Traffic) add(c *sqlite.Conn) error {
	handle := reflect.ValueOf(c).Elem().FieldByName("conn")
	if handle.Kind() != reflect.Uintptr {
		return errors.New("sqlite.Conn no longer has a field conn with its handle")
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
	if written == 0 {
		return nil
	}
	pageSize, err := sqlitex.ResultInt64(c.Prep("PRAGMA page_size"))
	t.Bytes += written * pageSize
	return err
}

// address converts an address from C code to a pointer.
func address(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }
