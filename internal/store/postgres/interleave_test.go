package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// This file is a driver that decides the order in which concurrent operations talk to a real PostgreSQL.
// Each operation has a store of its own and stops before every statement that it sends, and a write also between
// its execution and its commit, when it has its locks. The driver lets one go on at a time, until all others
// have stopped, have ended or wait for a lock.
//
//	interleave_test.go         the driver: one run of a few operations
//	interleave_explore_test.go all orders of two operations, and random ones of three
//	interleave_lab_test.go     one order of some operations, and what must hold after it
//	interleave_actions_test.go the operations
//	interleave_world_test.go   what is there before them, and their router
//	interleave_lease_test.go   nodes that take and lose their parts
//	interleave_plant_test.go   bugs that must be found

// effect is what a step may do to others.
type effect int

const (
	looks   effect = iota // it reads what is committed
	draws                 // it reads, and gives out a number
	locks                 // it takes the lock of the namespace
	hidden                // it is inside of a transaction that has the lock
	writes                // it is executed, and not committed yet
	commits               // what was written is there
)

// step is what an operation does next.
type step struct {
	text   string
	effect effect
	draws  bool // it may give out numbers
	free   bool // its operation writes without the lock of the namespace
}

// independent reports whether two steps of different operations, next to each other, may change places: nobody sees
// a difference.
func independent(a, b step) bool {
	if a.effect > b.effect {
		a, b = b, a
	}
	switch {
	case a.effect == looks:
		return b.effect != commits
	case a.effect == draws:
		return b.effect == locks || b.effect == hidden && !b.draws
	case a.effect == locks:
		return b.effect == hidden // it waits, before or after
	case a.effect == hidden:
		return b.effect == writes && !b.free // as above
	}
	return false
}

var (
	functions = regexp.MustCompile(`"lockstep"\.(\w+)\(`)
	names     = regexp.MustCompile(`"lockstep"\.`)
	readers   = map[string]bool{"seen": true, "waiting_subs": true, "arrived": true}
)

// stepOf says what a statement does.
func stepOf(text string, inside bool) step {
	s := step{text: names.ReplaceAllString(text, ""), effect: writes}
	if i := strings.IndexByte(s.text, '\n'); i >= 0 {
		s.text = s.text[:i]
	}
	if len(s.text) > 60 {
		s.text = s.text[:60] + "…"
	}
	s.draws = strings.Contains(text, "nextval")
	pure := strings.HasPrefix(text, "SELECT") && !strings.Contains(text, "FOR UPDATE")
	for _, f := range functions.FindAllStringSubmatch(text, -1) {
		pure = pure && readers[f[1]]
	}
	switch {
	case text == "commit", text == "rollback":
		s.effect = commits
	case inside && strings.Contains(text, ".exclusive("):
		s.effect = locks
	case inside:
		s.effect = hidden
		s.draws = s.draws || !pure && strings.Contains(text, ".route(")
	case pure && s.draws:
		s.effect = draws
	case pure:
		s.effect = looks
	}
	return s
}

// operation is one that runs.
type operation struct {
	name      string
	free      bool // it writes without the lock of the namespace
	impatient bool // it does not wait long for a lock
	do        func() (string, error)

	next          step // where it stopped
	pid           uint32
	inside        bool // it is in a transaction
	stopped, over bool
	waits         bool // for a lock
	begun, ended  int  // after how many steps of all

	result string
	err    error
	resume chan struct{}
}

// arrival says that an operation has stopped or ended.
type arrival struct {
	op   *operation
	next step
	pid  uint32
	in   bool
	over bool
}

// seat is a store with all its connections that one operation at a time uses.
type seat struct {
	db   *DB
	user atomic.Pointer[turnstile]
}

// turnstile is where an operation stops.
type turnstile struct {
	op     *operation
	driver *driver
}

// newSeat opens a database on which operations stop.
func newSeat(t testing.TB, url string, opts Options) *seat {
	s := &seat{}
	opts.Patience, opts.answer, opts.Lease, opts.NoHints = time.Hour, time.Hour, time.Hour, true
	opts.house.quiet, opts.Connections = true, 1 // whoever waits for a lock is known by it
	opts.configure = func(c *pgxpool.Config) { c.ConnConfig.Tracer = s }
	s.db = openURL(t, url, opts)
	return s
}

// Where a context has that a statement begins a transaction, or is to be committed.
type (
	beginning  struct{}
	committing struct{}
)

// TraceQueryStart stops before a statement. A write becomes a transaction that stops once more, before its commit.
func (s *seat) TraceQueryStart(ctx context.Context, conn *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	u := s.user.Load()
	if u == nil {
		return ctx
	}
	switch {
	case strings.HasPrefix(q.SQL, "BEGIN"): // by itself it neither sees nor locks anything
		return context.WithValue(ctx, beginning{}, true)
	case strings.Contains(q.SQL, ".fold("), strings.Contains(q.SQL, ".forget_outcomes("): // nobody sees a difference
		return ctx
	}
	inside := conn.PgConn().TxStatus() != 'I'
	next := stepOf(q.SQL, inside)
	u.stop(conn, next)
	if !inside && next.effect == writes {
		u.driver.simply(conn, "BEGIN")
		ctx = context.WithValue(ctx, committing{}, next)
	}
	return ctx
}

// TraceQueryEnd stops before a commit.
func (s *seat) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, _ pgx.TraceQueryEndData) {
	u := s.user.Load()
	if u == nil || conn.IsClosed() {
		return
	}
	written, ok := ctx.Value(committing{}).(step)
	switch status := conn.PgConn().TxStatus(); {
	case ctx.Value(beginning{}) != nil && status == 'T':
		u.driver.simply(conn, "SET LOCAL idle_in_transaction_session_timeout = 0") // the driver decides how long it stops
	case ok && status == 'T':
		u.stop(conn, step{text: "commit of " + written.text, effect: commits})
		u.driver.simply(conn, "COMMIT")
	case ok:
		u.driver.simply(conn, "ROLLBACK")
	}
}

// TraceBatchStart stops before several statements that are sent together; they read.
func (s *seat) TraceBatchStart(ctx context.Context, conn *pgx.Conn, q pgx.TraceBatchStartData) context.Context {
	if u := s.user.Load(); u != nil {
		var texts []string
		for _, x := range q.Batch.QueuedQueries {
			texts = append(texts, x.SQL)
		}
		next := stepOf(strings.Join(texts, "; "), conn.PgConn().TxStatus() != 'I')
		u.stop(conn, next)
	}
	return ctx
}

func (*seat) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*seat) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

func (u *turnstile) stop(conn *pgx.Conn, next step) {
	next.free = u.op.free
	u.driver.tell(arrival{op: u.op, next: next, pid: conn.PgConn().PID(), in: conn.PgConn().TxStatus() != 'I'})
	select {
	case <-u.op.resume:
	case <-u.driver.gone:
	}
}

// driver lets operations go on one at a time.
type driver struct {
	t        testing.TB
	ctx      context.Context // of the whole test
	observer *pgx.Conn
	seats    []*seat
	arrivals chan arrival
	gone     chan struct{} // closed: nobody is driven any more
	ops      []*operation
	taken    []string // the steps so far, for people
	order    []string // the choices so far
}

func newDriver(t testing.TB, url string, opts Options, seats int) *driver {
	d := &driver{t: t, ctx: t.Context(), arrivals: make(chan arrival, seats)}
	if of, ok := t.(*testing.T); ok {
		if end, ok := of.Deadline(); ok { // a driver that is stuck says where, before the test is ended
			var cancel context.CancelFunc
			d.ctx, cancel = context.WithDeadline(d.ctx, end.Add(-time.Until(end)/10))
			t.Cleanup(cancel)
		}
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(ctx) })
	d.observer = conn
	for range seats {
		d.seats = append(d.seats, newSeat(t, url, opts))
	}
	return d
}

// simply runs a statement of the driver's own.
func (d *driver) simply(conn *pgx.Conn, text string) {
	if _, err := conn.PgConn().Exec(context.Background(), text).ReadAll(); err != nil {
		d.t.Errorf("%s: %v", text, err)
	}
}

// choice is a point at which several operations may go on.
type choice struct{ can []*operation }

// run has operations run, each on a seat, as choose decides. It fails where they cannot go on.
func (d *driver) run(ops []*operation, choose func(choice) *operation) error {
	d.ops, d.taken, d.order, d.gone = ops, nil, nil, make(chan struct{})
	var all sync.WaitGroup
	for i, op := range ops {
		op.resume = make(chan struct{})
		d.seats[i].user.Store(&turnstile{op, d})
		all.Go(func() {
			op.result, op.err = op.do()
			d.tell(arrival{op: op, over: true})
		})
	}
	defer func() {
		close(d.gone) // whoever is left over ends by himself
		all.Wait()
		for i := range ops {
			d.seats[i].user.Store(nil)
		}
	}()
	for {
		if err := d.settle(); err != nil {
			return err
		}
		var c choice
		left := 0
		for _, op := range ops {
			if !op.over {
				left++
			}
			if op.stopped {
				c.can = append(c.can, op)
			}
		}
		switch {
		case left == 0:
			return nil
		case len(c.can) == 0:
			return fmt.Errorf("all wait for each other:\n%s", d.story())
		}
		op := choose(c)
		if op == nil { // what follows does not matter
			op = c.can[0]
		}
		d.taken, d.order = append(d.taken, op.name+": "+op.next.text), append(d.order, op.name)
		if op.begun == 0 {
			op.begun = len(d.order)
		}
		op.stopped = false
		op.resume <- struct{}{}
	}
}

// tell says where an operation is.
func (d *driver) tell(a arrival) {
	select {
	case d.arrivals <- a:
	case <-d.gone:
	}
}

// story tells the steps so far, and where everybody is.
func (d *driver) story() string {
	out := "  " + strings.Join(d.taken, "\n  ")
	for _, op := range d.ops {
		switch {
		case op.over:
			out += fmt.Sprintf("\n  (%s has ended: %s %v)", op.name, op.result, op.err)
		case op.stopped:
			out += fmt.Sprintf("\n  (%s has stopped before %s)", op.name, op.next.text)
		default:
			out += fmt.Sprintf("\n  (%s waits for a lock: %t)", op.name, op.waits)
		}
	}
	return out
}

// settle waits until every operation has stopped, has ended or waits for a lock.
func (d *driver) settle() error {
	for {
		for more := true; more; {
			select {
			case a := <-d.arrivals:
				d.arrive(a)
			default:
				more = false
			}
		}
		var on []*operation
		locked := false // somebody who does not go on may have locks
		for _, op := range d.ops {
			switch {
			case op.over:
			case op.stopped:
				locked = locked || op.inside
			default:
				on = append(on, op)
			}
		}
		if len(on) == 0 {
			return nil
		}
		if len(on) == 1 && !locked {
			select {
			case a := <-d.arrivals:
				d.arrive(a)
				continue
			case <-d.ctx.Done():
				return fmt.Errorf("%s neither stops nor ends: %w\n%s", on[0].name, d.ctx.Err(), d.story())
			}
		}
		waiting, err := d.waiting(on)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, d.story())
		}
		if len(d.arrivals) == 0 && waiting {
			return nil
		}
	}
}

// waiting reports whether all of these wait for locks that others have.
func (d *driver) waiting(ops []*operation) (bool, error) {
	var pids []int32
	for _, op := range ops {
		pids = append(pids, int32(op.pid))
	}
	var blocked []bool
	err := d.observer.QueryRow(d.ctx, "SELECT array_agg(cardinality(pg_blocking_pids(p)) > 0 ORDER BY o) FROM unnest($1::integer[]) WITH ORDINALITY u(p, o)", pids).Scan(&blocked)
	all := true
	for i := range blocked {
		ops[i].waits = blocked[i]
		all = all && blocked[i] && !ops[i].impatient
	}
	return all, err
}

func (d *driver) arrive(a arrival) {
	op := a.op
	op.waits = false
	if a.over {
		op.over, op.ended = true, len(d.order)
		return
	}
	op.stopped, op.next, op.pid, op.inside = true, a.next, a.pid, a.in
}
