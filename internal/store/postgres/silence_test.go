package postgres

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// filled has a pool make all of its connections.
func filled(t *testing.T, db *DB) {
	t.Helper()
	for range int(db.pool.Config().MaxConns) {
		conn, err := db.pool.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
	}
}

// TestDeadConnections: connections that die without a sign are given up, all at once; what was
// to be written is written, once.
func TestDeadConnections(t *testing.T) {
	p := newProxy(t, pgtest.Start(t).Addr())
	db := openURL(t, p.url(t, pgtest.Start(t).Database(t)), Options{Patience: time.Minute, answer: 200 * time.Millisecond})
	s := db.Namespace("x").(*Store)
	row := store.Instance{ID: "a", Status: core.Waiting}
	if err := s.Commit(ctx, store.Commit{Instance: row}); err != nil {
		t.Fatal(err)
	}
	asks := map[string]func() error{
		"a list": func() error { _, err := s.Ready(ctx, 0, 10); return err },
		"the count of deployments, which all wait for": func() error { _, err := s.Deployments(ctx); return err },
		"a commit": func() error {
			row.Rev++
			return s.Commit(ctx, store.Commit{Instance: row, Records: []core.Record{{Text: "once"}}})
		},
	}
	for what, ask := range asks {
		filled(t, db)
		p.holes.Add(1)
		if err := ask(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	filled(t, db)
	p.holes.Add(1)
	_, err := s.Unchecked(ctx, 1) // is not tried again
	if silent := (*silentError)(nil); !errors.As(err, &silent) {
		t.Errorf("a query to nobody: %v", err)
	}
	for range int(db.pool.Config().MaxConns) {
		if _, err := s.Unchecked(ctx, 1); err != nil {
			t.Errorf("another connection of that time was used: %v", err)
		}
	}
	if records, err := s.Records(ctx, "a", 0, 0); err != nil || len(records) != 1 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// TestSlowAnswers: who says so may take longer than the limit.
func TestSlowAnswers(t *testing.T) {
	url := pgtestURL(t)
	openURL(t, url, Options{}) // makes the schema, which may take longer
	db := openURL(t, url, Options{answer: 2 * time.Second})
	const slow = "SELECT pg_sleep(4)"
	err := db.snapshot(ctx, func(t *tx) error {
		_, err := t.do(ctx, slow)
		return err
	})
	if err != nil {
		t.Errorf("one that may take long: %v", err)
	}
	if _, err = db.pool.Exec(ctx, slow); err == nil {
		t.Error("others may, too")
	}
	canceled, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if _, err := db.pool.Exec(canceled, slow); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the deadline of who asks: %v", err)
	}
}

// TestCancelledConnection: a connection whose user cancelled at the last moment is not given to the next one. The driver's
// background reader may hold the deadline's error for it, and a request that nobody was slow with would fail.
func TestCancelledConnection(t *testing.T) {
	db := openTest(t, Options{Connections: 1})
	pid := func(interrupt bool) (pid uint32) {
		conn, err := db.pool.Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
		if interrupt { // as the driver does when a context ends, and when it learns that the answer was there already
			w := watchedOf(conn.Conn())
			if err := errors.Join(w.SetDeadline(time.Unix(1, 0)), w.SetDeadline(time.Time{})); err != nil {
				t.Fatal(err)
			}
		}
		return conn.Conn().PgConn().PID()
	}
	first := pid(false)
	if again := pid(true); again != first {
		t.Errorf("connection %d is not used again, but %d", first, again)
	}
	if next := pid(false); next == first {
		t.Error("the interrupted connection is used again")
	}
}

// TestStuckNode: a node whose work gets no answer loses its parts, although its heartbeats
// would get through, and has its share again afterwards.
func TestStuckNode(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	p := newProxy(t, pgtest.Start(t).Addr())
	a := joined(t, p.url(t, url), Options{NoHints: true, Connections: 1, answer: time.Hour})
	b := joined(t, url, Options{NoHints: true})
	waitUntil(func() bool { return a.parts() == 32 && b.parts() == 32 })
	conn, err := a.db.pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	hung, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() {
		_, err := conn.Exec(hung, "SELECT pg_sleep(3600)")
		done <- err
	}()
	p.holes.Add(1)
	waitUntil(func() bool { return b.parts() == shardCount })
	if a.Leased() || a.parts() != 0 {
		t.Errorf("the stuck node may begin calls: %v, and has %d parts", a.Leased(), a.parts())
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a query to nobody: %v", err)
	}
	waitUntil(func() bool { return a.parts() == 32 && b.parts() == 32 })
	apart(t, a, b)
	for _, m := range []*member{a, b} {
		if err := m.leave(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBeats: a heartbeat writes no row but the node's.
func TestBeats(t *testing.T) {
	a := joined(t, pgtest.Start(t).Database(t), Options{})
	waitUntil(func() bool { return a.parts() == shardCount })
	versions := func() (out []string) {
		if err := a.db.one(ctx, "SELECT array_agg(xmin::text ORDER BY shard) FROM ~.shards", nil, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	before := versions()
	for range 3 {
		first, err := a.Nodes(ctx)
		if err != nil || len(first) != 1 {
			t.Fatalf("%v %v", first, err)
		}
		waitUntil(func() bool {
			next, err := a.Nodes(ctx)
			return err == nil && len(next) == 1 && next[0].Seen.After(first[0].Seen)
		})
	}
	if !slices.Equal(before, versions()) {
		t.Error("rows of parts were written")
	}
	if err := a.leave(ctx); err != nil {
		t.Fatal(err)
	}
}
