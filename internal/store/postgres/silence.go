package postgres

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// answerLimit is how long a connection may be silent while an answer is due ("answer-limit"). It
	// is longer than the server waits for a silent client (silence), which may hold up others.
	answerLimit = 4 * time.Second
	// pingLimit is how long a connection may be silent that was not used for pingIdle: it is pinged
	// first.
	pingLimit = 2 * time.Second
	pingIdle  = time.Second
	// stuckLeases is after how many leases without an answer a node stops to be heard of.
	stuckLeases = 2
)

var errStuck = errors.New("the database does not answer")

// dialer finds out by itself that the other side is gone, where the network knows.
var dialer = net.Dialer{
	KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
	Control:         giveUpUnacknowledged,
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	return dialer.DialContext(ctx, network, address)
}

// answers watches the connections of a pool: a connection may die without a sign, where a
// firewall forgets it or a host is gone, and then nothing but the time says so.
type answers struct {
	limit time.Duration
	last  atomic.Int64 // when something came on any of them
	pool  atomic.Pointer[pgxpool.Pool]

	mu    sync.Mutex
	conns map[*watched]bool
	fresh time.Time // connections that were made earlier are not relied on
}

// watch has the connections of a pool that is yet to be made watched.
func (a *answers) watch(config *pgxpool.Config) {
	a.conns = map[*watched]bool{}
	config.ShouldPing = func(_ context.Context, p pgxpool.ShouldPingParams) bool { return p.IdleDuration > pingIdle }
	config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (bool, error) {
		w := watchedOf(conn)
		return w == nil || !w.interrupted.Load(), nil
	}
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		now := time.Now()
		w := &watched{Conn: conn, all: a, made: now, came: now, limit: a.limit}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.conns[w] = true
		return w, nil
	}
}

// stuck reports whether answers are waited for, and none came for so long.
func (a *answers) stuck(long time.Duration) bool {
	before := time.Now().Add(-long).UnixNano()
	if a.last.Load() > before {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.conns {
		if since := c.asked.Load(); since != 0 && since < before {
			return true
		}
	}
	return false
}

// silent is told of a connection that was given up: the others of that time may be dead, too.
func (a *answers) silent(c *watched) {
	a.mu.Lock()
	known := c.made.Before(a.fresh)
	if !known {
		a.fresh = time.Now()
	}
	a.mu.Unlock()
	if pool := a.pool.Load(); pool != nil && !known {
		pool.Reset()
	}
}

// watched is a connection on which answers are waited for no longer than the limit.
type watched struct {
	net.Conn
	all   *answers
	made  time.Time
	asked atomic.Int64 // since when something is waited for; 0: nothing is
	slow  atomic.Bool  // an answer may take long

	// interrupted: its user cancelled. The driver may have read on in the background, and the next user would get that
	// read's error, a deadline exceeded, in place of an answer. Such a connection is not used again.
	interrupted atomic.Bool

	mu    sync.Mutex
	outer time.Time     // the deadline that its user set
	came  time.Time     // when it was read last
	limit time.Duration // of what is asked now
}

// SetDeadline is its user's, and goes before the limit, unless it is later: the driver waits for
// long when it closes a connection, and the pool has one less meanwhile.
func (c *watched) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := time.Now().Add(c.all.limit); t.After(last) && !c.slow.Load() {
		t = last
	}
	c.outer = t
	if !t.IsZero() {
		c.interrupted.Store(true)
	}
	return c.Conn.SetDeadline(t)
}

// bound sets the limit, unless its user set a deadline.
func (c *watched) bound(set func(time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.outer.IsZero():
		return nil
	case c.slow.Load():
		return set(time.Time{})
	}
	return set(time.Now().Add(c.limit))
}

// after makes the limit an error that ends the connection.
func (c *watched) after(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	c.mu.Lock()
	ours, limit := c.outer.IsZero(), c.limit
	c.mu.Unlock()
	if !ours {
		return err
	}
	_ = c.Conn.Close() // at once, without the protocol's goodbye
	c.all.silent(c)
	return &silentError{limit}
}

func (c *watched) Read(b []byte) (int, error) {
	if err := c.bound(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	if !c.slow.Load() {
		c.asked.Store(time.Now().UnixNano())
	}
	n, err := c.Conn.Read(b)
	c.asked.Store(0)
	now := time.Now()
	c.mu.Lock()
	c.came = now
	c.mu.Unlock()
	if n > 0 {
		c.all.last.Store(now.UnixNano())
	}
	return n, c.after(err)
}

func (c *watched) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.limit = c.all.limit
	if time.Since(c.came) > pingIdle+pingIdle/10 { // the pool counts from a little later on
		c.limit = min(c.limit, pingLimit)
	}
	c.mu.Unlock()
	if err := c.bound(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	return n, c.after(err)
}

func (c *watched) Close() error {
	c.all.mu.Lock()
	delete(c.all.conns, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// silentError says that a connection was given up. It is no timeout of its user's.
type silentError struct{ limit time.Duration }

func (e *silentError) Error() string {
	return "the database did not answer within " + e.limit.String() + " (answer-limit)"
}
func (e *silentError) Timeout() bool   { return false }
func (e *silentError) Temporary() bool { return false }

var _ net.Error = (*silentError)(nil)

// unhurried lets the answers on a connection take long until the returned function is called:
// for what reads or writes everything.
func unhurried(conn *pgx.Conn) (hurry func()) {
	w := watchedOf(conn)
	if w == nil {
		return func() {}
	}
	w.slow.Store(true)
	return func() { w.slow.Store(false) }
}

// watchedOf is the connection below one of the driver; nil: it is not watched.
func watchedOf(conn *pgx.Conn) *watched {
	raw := conn.PgConn().Conn()
	if t, ok := raw.(interface{ NetConn() net.Conn }); ok { // TLS
		raw = t.NetConn()
	}
	w, _ := raw.(*watched)
	return w
}
