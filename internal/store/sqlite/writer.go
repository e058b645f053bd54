package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

const (
	// maxBatch and maxBatchBytes bound what shares one transaction ("commit-batch").
	maxBatch      = 1024
	maxBatchBytes = 16 << 20
)

var errClosed = errors.New("the database is closed")

// request is something to do in a transaction. It may be done again in another one
// where the first was rolled back.
type request struct {
	ctx   context.Context
	bytes int
	apply func(*tx) error
	err   error
	done  chan struct{} // gets one value
}

// requests are used again.
var requests = sync.Pool{New: func() any { return &request{done: make(chan struct{}, 1)} }}

// free returns the error of a request that is done.
func (r *request) free() error {
	err := r.err
	r.ctx, r.apply, r.err = nil, nil, nil
	requests.Put(r)
	return err
}

// writer is the goroutine with the connection that writes; with Inline it is the caller. It writes all
// waiting requests in one transaction. Requests that come while that is made durable wait for the next
// one; a single request does not wait.
type writer struct {
	db   *DB
	conn *conn
	tx   *tx // reused

	mu      sync.Mutex
	waiting []*request
	closed  bool
	signal  chan struct{}
	ended   chan struct{} // nil: the loop never began
	inline  sync.Mutex    // with Inline: its holder is the writer

	seq      int64 // the last one given out
	granted  int64 // up to here they may be given out without a write
	heads    headCache
	contents map[digestKey]bool // that are there; see tx.needs
	broken   bool               // the connection must be opened anew
	moved    error              // not nil: files are gone, see files.check

	counters Counters // under the database's lock
}

func newWriter(db *DB, c *conn) *writer {
	w := &writer{db: db, conn: c, signal: make(chan struct{}, 1)}
	w.tx = &tx{w: w, conn: c}
	w.heads.clear()
	return w
}

// submit passes a request to the writer and waits until it is durable. Once the request has begun, ctx
// no longer matters: its outcome must be known.
func (w *writer) submit(ctx context.Context, bytes int, apply func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	r := requests.Get().(*request)
	r.ctx, r.bytes, r.apply = ctx, bytes, apply
	if w.db.opts.Inline {
		w.mu.Unlock()
		w.inline.Lock()
		defer w.inline.Unlock()
		w.run([]*request{r})
		<-r.done
		return r.free()
	}
	w.waiting = append(w.waiting, r)
	w.mu.Unlock()
	select {
	case w.signal <- struct{}{}:
	default:
	}
	<-r.done
	return r.free()
}

// take is the next batch; none: the writer is closed.
func (w *writer) take() []*request {
	for {
		w.mu.Lock()
		n, bytes := 0, 0
		for n < len(w.waiting) && n < maxBatch && (n == 0 || bytes+w.waiting[n].bytes <= maxBatchBytes) {
			bytes += w.waiting[n].bytes
			n++
		}
		batch := w.waiting[:n:n]
		if w.waiting = w.waiting[n:]; len(w.waiting) == 0 {
			w.waiting = nil
		}
		closed := w.closed
		w.mu.Unlock()
		if n > 0 || closed {
			return batch
		}
		<-w.signal
	}
}

func (w *writer) loop() {
	defer close(w.ended)
	for {
		batch := w.take()
		if len(batch) == 0 {
			return
		}
		w.run(batch)
	}
}

// close lets the writer do what waits and end.
func (w *writer) close() error {
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	if already || w.ended == nil {
		return nil
	}
	select {
	case w.signal <- struct{}{}:
	default:
	}
	<-w.ended
	return nil
}

// run does a batch in one transaction. Where a request fails after it wrote something,
// everything is rolled back and each is done in a transaction of its own: the others do
// not suffer.
func (w *writer) run(batch []*request) {
	live := batch[:0]
	for _, r := range batch {
		if r.err = r.ctx.Err(); r.err != nil {
			r.done <- struct{}{}
			continue
		}
		live = append(live, r)
	}
	if len(live) == 0 {
		return
	}
	err := w.transact(live)
	var dirty *dirtyError
	switch {
	case errors.As(err, &dirty) && len(live) > 1:
		for _, r := range live {
			if err := w.transact([]*request{r}); err != nil {
				r.err = err
			}
		}
	case err != nil:
		for _, r := range live {
			r.err = err
		}
	}
	for _, r := range live {
		r.done <- struct{}{}
	}
}

// dirtyError is a request's own error that came when it had written something.
type dirtyError struct{ err error }

func (e *dirtyError) Error() string { return e.err.Error() }
func (e *dirtyError) Unwrap() error { return e.err }

// transact does requests as one transaction. Its error is that of all of them; those of
// single ones are in the requests.
func (w *writer) transact(batch []*request) (err error) {
	written := w.tx.changes
	defer func() {
		var dirty *dirtyError
		if err == nil && w.tx.changes == written || errors.As(err, &dirty) {
			return // nothing was written, which says nothing
		}
		w.db.health.Note(err)
	}()
	if w.moved != nil {
		return w.moved
	}
	if err := w.reopen(); err != nil {
		return fmt.Errorf("recover the database: %w", err)
	}
	t := w.tx
	t.begin()
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return w.rollback(err)
	}
	for _, r := range batch {
		before := t.changes
		r.err = attempt(t, r)
		switch {
		case r.err == nil:
		case isShared(r.err):
			return w.rollback(r.err)
		case t.changes != before:
			return w.rollback(&dirtyError{r.err})
		}
	}
	if err := t.flush(); err != nil {
		return w.rollback(err)
	}
	if _, err := w.conn.exec("COMMIT"); err != nil {
		return w.rollback(&fatalError{err})
	}
	if err := w.look(); err != nil { // before anything is acknowledged
		return w.rollback(err)
	}
	w.db.mu.Lock()
	defer w.db.mu.Unlock()
	if t.changes != written {
		w.counters.Transactions++
	}
	w.counters.Writes += int64(len(batch))
	w.counters.Statements += w.conn.statements
	w.counters.Rows += w.conn.rows
	w.conn.statements, w.conn.rows = 0, 0
	for i := range t.after {
		t.after[i].run()
	}
	clear(t.after) // they hold on to what was written
	return nil
}

// attempt applies a request; a panic is its error.
func attempt(t *tx, r *request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return r.apply(t)
}

// rollback undoes a transaction. What is in memory beside mirrors goes too; mirrors
// change after commits only.
func (w *writer) rollback(cause error) error {
	if !w.conn.AutocommitEnabled() {
		if _, err := w.conn.exec("ROLLBACK"); err != nil {
			w.broken = true
		}
	}
	w.heads.clear()
	clear(w.contents)
	w.granted = w.tx.granted
	var f *fatalError
	if errors.As(cause, &f) {
		// What reached the disk is not known: whatever is there counts.
		w.broken = true
	}
	return cause
}

// reopen opens the connection anew after an error that left it in doubt, and reads what
// is in memory from the disk.
func (w *writer) reopen() error {
	if !w.broken {
		return nil
	}
	if err := w.look(); err != nil {
		return err
	}
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
	c, err := w.db.openWriter()
	if err != nil {
		return err
	}
	w.conn, w.tx.conn = c, c
	if err := w.recover(); err != nil {
		return err
	}
	w.broken = false
	return nil
}

// look checks that the files still have their names. Once they do not, the error stays: what was written
// meanwhile is in a file that is lost.
func (w *writer) look() error {
	if w.moved == nil {
		if w.moved = w.db.files.check(); w.moved != nil {
			w.db.opts.Log.Error("writes are refused from now on", "error", w.moved)
		}
	}
	return w.moved
}

// Writable says why writes fail.
func (s *Store) Writable(ctx context.Context) error {
	return s.db.health.Ask(ctx, func(ctx context.Context) error {
		return s.db.writer.submit(ctx, 0, func(t *tx) error {
			// Another value each time: SQLite writes no page that stays the same.
			_, err := t.exec("INSERT INTO meta (name, value) VALUES ('probe', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1")
			return err
		})
	})
}
