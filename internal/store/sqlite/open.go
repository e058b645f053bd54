package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"zombiezen.com/go/sqlite"

	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Options adjust a database. The zero value is right for most.
type Options struct {
	Readers    int   // connections that read: 4
	CacheBytes int64 // of the connection that writes: 64 MiB
	Checkpoint int   // pages of the log after which it goes into the file: 4000
	KeepSchema bool  // an older one is refused, not migrated

	Log *slog.Logger // for operators; nil: no log

	// For simulations.
	VFS    string // of SQLite; "": the default one
	Inline bool   // callers write themselves, without a goroutine
}

func (o *Options) defaults() {
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = 64 << 20
	}
	if o.Checkpoint <= 0 {
		o.Checkpoint = 4000
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// minSQLite is the oldest library that is known to be sound here: before it a WAL that
// was reset could be read by a connection that had not noticed.
const minSQLite = 3_051_003

// DB is a database file. One process has it at a time.
type DB struct {
	path    string
	opts    Options
	locks   locks
	files   files
	found   []store.Problem // when it was opened
	health  store.WriteHealth
	readers chan *conn
	reading int           // how many readers there are
	closed  chan struct{} // closed by Close: nobody waits for a reader any more
	writer  *writer
	asking  sync.Mutex // held while acquiring all readers
	offered offered
	queries atomic.Int64
	rows    atomic.Int64

	mu     sync.Mutex // for what follows, all in memory
	spaces map[string]*space
	lastNS int64
	kinds  kinds
	lanes  lanes
}

// Open opens a database, and makes it where there is none.
func Open(path string, opts Options) (*DB, error) {
	opts.defaults()
	db := &DB{path: path, opts: opts, spaces: map[string]*space{}, kinds: newKinds(), lanes: newLanes()}
	if err := db.open(); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return db, nil
}

func (db *DB) open() (err error) {
	if db.path == "" || strings.HasPrefix(db.path, ":") {
		return errors.New("a file is needed")
	}
	if db.path, err = filepath.Abs(db.path); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(db.path); err == nil {
		db.path = real
	}
	if err := db.locks.take(db.path); err != nil {
		return err
	}
	if err := db.inspect(); err != nil {
		return err
	}
	c, err := db.openWriter()
	if err != nil {
		return err
	}
	db.writer = newWriter(db, c)
	if len(db.found) > 0 {
		// Else what lies behind the damage would be found and told again after the next crash. So it is where
		// this fails.
		_ = c.script("PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if have, _, err := c.number("PRAGMA user_version"); err == nil && db.opts.KeepSchema && 0 < have && have < int64(len(migrations)) {
		return fmt.Errorf("it has schema %d, this version would migrate it to %d; use the version that wrote it, or let a server migrate it", have, len(migrations))
	}
	if err := migrate(c, migrations); err != nil {
		return err
	}
	if err := db.writer.recover(); err != nil {
		return err
	}
	if err := c.script("PRAGMA shrink_memory"); err != nil { // its cache is full of what was read once
		return err
	}
	db.readers, db.closed = make(chan *conn, db.opts.Readers), make(chan struct{})
	for range db.opts.Readers {
		r, err := db.connect(sqlite.OpenReadOnly, "PRAGMA query_only = 1", "PRAGMA cache_size = -8192")
		if err != nil {
			return err
		}
		db.readers <- r
		db.reading++
	}
	if db.files, err = remember(db.path); err != nil {
		return err
	}
	if !db.opts.Inline {
		db.writer.ended = make(chan struct{})
		go db.writer.loop()
	}
	return nil
}

// inspect looks at the files before SQLite does, which would change them.
func (db *DB) inspect() error {
	if info, err := os.Stat(db.path); err == nil && readable(info) {
		db.opts.Log.Warn("others than the owner may read the database", "file", db.path, "mode", info.Mode().Perm().String(), "hint", "chmod go= "+db.path+"*")
	}
	log := db.path + "-wal"
	damage, damaged, err := scanLog(log)
	if err != nil || !damaged {
		return err
	}
	db.found = append(db.found, store.Problem{Where: "log", Text: damage.String()})
	copied, err := keepLog(log)
	if err != nil {
		copied = "not kept: " + err.Error()
	}
	db.opts.Log.Error(damage.String(), "file", log, "copy", copied, "hint", "check the disk; restore a backup if what is lost matters")
	return nil
}

// connect opens a connection.
func (db *DB) connect(flags sqlite.OpenFlags, pragmas ...string) (*conn, error) {
	path := db.path
	if db.opts.VFS != "" {
		path = (&url.URL{Scheme: "file", Path: path, RawQuery: "vfs=" + db.opts.VFS}).String()
		flags |= sqlite.OpenURI
	}
	raw, err := sqlite.OpenConn(path, flags)
	if err != nil {
		return nil, wrap(err)
	}
	c := &conn{Conn: raw}
	for _, p := range append([]string{"PRAGMA temp_store = MEMORY"}, pragmas...) {
		if err := c.script(p); err != nil {
			_ = c.Close()
			return nil, fmt.Errorf("%s: %w", p, err)
		}
	}
	return c, nil
}

// openWriter opens the connection that writes. The file is there, see locks: nothing is made
// in the place of one that was deleted.
func (db *DB) openWriter() (*conn, error) {
	c, err := db.connect(
		sqlite.OpenReadWrite,
		"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = OFF",
		fmt.Sprintf("PRAGMA cache_size = -%d", db.opts.CacheBytes>>10),
		fmt.Sprintf("PRAGMA wal_autocheckpoint = %d", db.opts.Checkpoint), "PRAGMA journal_size_limit = 67108864",
	)
	if err != nil {
		return nil, err
	}
	if err := checkLibrary(c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// checkLibrary refuses a library that is too old, and a file system without WAL.
func checkLibrary(c *conn) error {
	version, mode := "", ""
	if _, err := c.one("SELECT sqlite_version()", func(r row) error { version = r.ColumnText(0); return nil }); err != nil {
		return err
	}
	if _, err := c.one("PRAGMA journal_mode", func(r row) error { mode = r.ColumnText(0); return nil }); err != nil {
		return err
	}
	return judgeLibrary(version, mode)
}

func judgeLibrary(version, mode string) error {
	number := 0
	for _, part := range strings.Split(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return fmt.Errorf("SQLite has version %q", version)
		}
		number = number*1000 + n
	}
	switch {
	case number < minSQLite:
		return fmt.Errorf("SQLite %s is too old", version)
	case mode != "wal":
		return fmt.Errorf("it has journal mode %q: this file system does not allow for WAL", mode)
	}
	return nil
}

// Close waits for what is being written and closes the database.
func (db *DB) Close() error {
	var errs []error
	if db.writer != nil {
		errs = append(errs, db.writer.close())
	}
	if db.reading > 0 {
		close(db.closed)
	}
	for ; db.reading > 0; db.reading-- {
		errs = append(errs, (<-db.readers).Close())
	}
	if db.writer != nil && db.writer.conn != nil {
		errs = append(errs, db.writer.conn.Close()) // last: it takes the log into the file
		db.writer.conn = nil
	}
	errs = append(errs, db.locks.release())
	return errors.Join(errs...)
}

// read lends a connection that sees what is committed.
func (db *DB) read(ctx context.Context, f func(*conn) error) error {
	select {
	case c := <-db.readers:
		defer func() {
			db.tally(c)
			db.readers <- c
		}()
		if err := ctx.Err(); err != nil {
			return err
		}
		return f(c)
	case <-ctx.Done():
		return ctx.Err()
	case <-db.closed:
		return errClosed
	}
}

// snapshot is read, with one view of the database for several queries.
func (db *DB) snapshot(ctx context.Context, f func(*conn) error) error {
	return db.read(ctx, func(c *conn) error { return c.snapshot(func() error { return f(c) }) })
}

// snapshot has one view of the database for several queries.
func (c *conn) snapshot(f func() error) error {
	if _, err := c.exec("BEGIN"); err != nil {
		return err
	}
	err := f()
	_, end := c.exec("ROLLBACK")
	return errors.Join(err, end)
}

// Namespace is the store of a namespace. Its first write makes it.
func (db *DB) Namespace(name string) store.Store {
	db.mu.Lock()
	defer db.mu.Unlock()
	sp := db.spaces[name]
	if sp == nil {
		db.lastNS++
		sp = newSpace(db.lastNS, name)
		db.spaces[name] = sp
	}
	return &Store{db, sp}
}

// Store keeps one namespace of a database.
type Store struct {
	db *DB
	*space
}

var _ store.Store = (*Store)(nil)
