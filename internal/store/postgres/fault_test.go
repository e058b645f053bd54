package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// proxy stands between a store and the server. It can swallow answers and cut connections.
type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns map[net.Conn]bool
	// cut, if set, is asked for every part that a client sends: true cuts the connection
	// after the server got it, and before the answer comes.
	cut func(sent []byte) bool

	holes atomic.Int64 // connections that were made before it grew are black holes, but for heartbeats
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: target, conns: map[net.Conn]bool{}}
	go p.serve()
	t.Cleanup(func() {
		_ = l.Close()
		p.closeAll()
	})
	return p
}

func (p *proxy) url(t *testing.T, direct string) string {
	t.Helper()
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = p.listener.Addr().String()
	return u.String()
}

func (p *proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		var silent, beats atomic.Bool
		born := p.holes.Load()
		dead := func() bool { return p.holes.Load() != born && !beats.Load() }
		go p.forward(client, server, &silent, &beats, dead)
		go func() {
			buf := make([]byte, 64<<10)
			for {
				n, err := server.Read(buf)
				if n > 0 && !silent.Load() && !dead() {
					_, _ = client.Write(buf[:n])
				}
				if silent.Load() && n > 0 || err != nil {
					_ = client.Close()
					_ = server.Close()
					return
				}
			}
		}()
	}
}

// forward sends what a client says. Once cut says so, the answer is swallowed.
func (p *proxy) forward(client, server net.Conn, silent, beats *atomic.Bool, dead func() bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			_ = server.Close()
			return
		}
		if bytes.Contains(buf[:n], []byte("SELECT o_now")) {
			beats.Store(true)
		}
		if dead() {
			continue
		}
		p.mu.Lock()
		cut := p.cut != nil && p.cut(buf[:n])
		p.mu.Unlock()
		if cut {
			silent.Store(true)
		}
		if _, err := server.Write(buf[:n]); err != nil {
			_ = client.Close()
			return
		}
	}
}

// setCut says which requests lose their answer.
func (p *proxy) setCut(f func([]byte) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = f
}

// TestLostAnswer: where the connection is lost after a commit was sent, the commit happened
// once, and whoever waits for it is told so.
func TestLostAnswer(t *testing.T) {
	direct := pgtest.Start(t).Database(t)
	p := newProxy(t, pgtest.Start(t).Addr())
	s := openURL(t, p.url(t, direct), Options{}).Namespace("x")
	row := store.Instance{ID: "a", Status: core.Waiting}
	if err := s.Commit(ctx, store.Commit{Instance: row}); err != nil { // so that what follows needs one statement
		t.Fatal(err)
	}
	lost := 0
	once := func(part string) func([]byte) bool {
		armed := true
		return func(sent []byte) bool {
			hit := armed && strings.Contains(string(sent), part)
			if hit {
				armed = false
				lost++
			}
			return hit
		}
	}
	p.setCut(once("commit_one"))
	row.Rev = 1
	if err := s.Commit(ctx, store.Commit{Instance: row, Records: []core.Record{{Text: "once"}}}); err != nil {
		t.Errorf("commit: %v", err)
	}
	p.setCut(once("commit_one"))
	if err := s.Commit(ctx, store.Commit{Instance: row}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a loser whose answer is lost: %v", err)
	}
	routed := func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil }
	ingest := func(id string) (store.Event, error) {
		return s.Ingest(ctx, store.Event{Event: event.Event{ID: id, Source: "s", Type: "t"}, Until: 100}, 0, routed)
	}
	if _, err := ingest("0"); err != nil {
		t.Fatal(err)
	}
	p.setCut(once("route"))
	if e, err := ingest("1"); err != nil || e.Seq == 0 {
		t.Errorf("ingest: %+v %v", e, err)
	}
	p.setCut(once("commit"))
	if _, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
		t.Errorf("a transaction of several statements: %v", err)
	}
	p.setCut(once("commit"))
	if _, err := s.DeleteDefinition(ctx, "d", "1", nil); err != nil { // made again, it would find nothing
		t.Errorf("another one: %v", err)
	}
	p.setCut(nil)
	if lost != 5 {
		t.Errorf("%d answers were lost", lost)
	}
	got, err := s.Instance(ctx, "a")
	if err != nil || got.Rev != 2 {
		t.Errorf("revision %d, %v", got.Rev, err)
	}
	records, err := s.Records(ctx, "a", 0, 0)
	if err != nil || len(records) != 1 {
		t.Errorf("%d records, %v", len(records), err)
	}
	if page, err := s.Events(ctx, store.EventQuery{}); err != nil || len(page.Events) != 2 {
		t.Errorf("%d events, %v", len(page.Events), err)
	}
}

// TestLateTransaction: one whose outcome was asked for before it came is never committed.
func TestLateTransaction(t *testing.T) {
	db := openTest(t, Options{})
	sp := db.Namespace("x").(*Store).space
	ns, err := sp.ns(ctx)
	if err != nil {
		t.Fatal(err)
	}
	token := newToken()
	if _, done, err := db.outcome(ctx, token); err != nil || done {
		t.Fatalf("%t %v", done, err)
	}
	r, err := sp.encode(ctx, ns, &store.Commit{Instance: store.Instance{ID: "late", Status: core.Waiting}})
	if err != nil {
		t.Fatal(err)
	}
	c := &commitArgs{NS: ns, Token: token}
	c.add(r, sp.leases.epoch)
	var verdict []int16
	var revs []int64
	var absent []string
	call, args := commitFunction.call(c)
	if err := db.first(ctx, call, args, &verdict, &revs, &absent); err == nil {
		t.Error("it was committed")
	}
	if _, err := db.Namespace("x").Instance(ctx, "late"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("its instance: %v", err)
	}
}

// TestCutAtRandom: whatever connection is lost when, every commit that was acknowledged is
// there, and happened once.
func TestCutAtRandom(t *testing.T) {
	direct := pgtest.Start(t).Database(t)
	p := newProxy(t, pgtest.Start(t).Addr())
	s := openURL(t, p.url(t, direct), Options{Connections: 4}).Namespace("x")
	const writers, steps = 6, 25
	var n, cuts atomic.Int64
	p.setCut(func([]byte) bool {
		if n.Add(1)%37 != 0 {
			return false
		}
		cuts.Add(1)
		return true
	})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			row := store.Instance{ID: fmt.Sprint(w), Status: core.Running}
			for i := range steps {
				err := s.Commit(ctx, store.Commit{Instance: row, Records: []core.Record{{Attempt: i}}})
				for err != nil && !errors.Is(err, store.ErrConflict) { // nothing is known: look
					var now store.Instance
					if now, err = s.Instance(ctx, row.ID); err == nil && now.Rev != row.Rev+1 {
						err = fmt.Errorf("revision %d of step %d", now.Rev, i)
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
				row.Rev++
			}
		})
	}
	wg.Wait()
	p.setCut(nil)
	for w := range writers {
		var records []core.Record
		err := io.EOF
		for range 5 { // connections that were cut may be left over
			if records, err = s.Records(ctx, fmt.Sprint(w), 0, 0); err == nil {
				break
			}
		}
		if err != nil || len(records) != steps || !slices.IsSortedFunc(records, func(a, b core.Record) int { return a.Attempt - b.Attempt }) {
			t.Errorf("%d: %d records, %v", w, len(records), err)
		}
	}
	t.Logf("%d commits by %d writers, %d connections cut: none lost, none twice", writers*steps, writers, cuts.Load())
}

// TestDatabaseAway: while the database is away calls fail in time, and after it nothing
// needs to be done.
func TestDatabaseAway(t *testing.T) {
	server := pgtest.Start(t)
	s := openURL(t, server.Database(t), Options{Patience: 300 * time.Millisecond}).Namespace("x")
	row := store.Instance{ID: "a", Status: core.Waiting}
	if err := s.Commit(ctx, store.Commit{Instance: row}); err != nil {
		t.Fatal(err)
	}
	for i, end := range []func(){server.Stop, server.Kill} {
		end()
		row.Rev = int64(i + 1)
		if err := s.Commit(ctx, store.Commit{Instance: row}); err == nil || errors.Is(err, store.ErrConflict) {
			t.Errorf("a commit to nobody: %v", err)
		}
		if _, err := s.Instance(ctx, "a"); err == nil {
			t.Error("a query to nobody is answered")
		}
		server.Resume(t)
		// On a busy machine the first answers may take longer than patience allows.
		var got store.Instance
		var err error
		for tries := 0; tries < 100 && got.Rev != row.Rev+1; tries++ {
			err = s.Commit(ctx, store.Commit{Instance: row})
			got, _ = s.Instance(ctx, "a")
		}
		if got.Rev != row.Rev+1 {
			t.Errorf("after it came back: revision %d, %v", got.Rev, err)
		}
	}
}

// TestPooler gives every transaction a new connection, as a pooler in transaction mode may:
// nothing belongs to a session.
func TestPooler(t *testing.T) {
	opened := atomic.Int64{}
	db := openTest(t, Options{configure: func(c *pgxpool.Config) {
		c.AfterRelease = func(*pgx.Conn) bool { return false }
		c.AfterConnect = func(context.Context, *pgx.Conn) error { opened.Add(1); return nil }
	}})
	s := db.Namespace("x")
	for i := range 10 {
		row := store.Instance{ID: fmt.Sprint(i), Status: core.Waiting}
		sub := store.Subscription{Ticket: 1, Filter: event.Filter{Type: "t", Keys: []event.Key{{Name: "subject", Value: row.ID, Fixed: true}}}}
		if err := s.Commit(ctx, store.Commit{Instance: row, Subscribe: []store.Subscription{sub}}); err != nil {
			t.Fatal(err)
		}
		e := event.Event{ID: row.ID, Source: "s", Type: "t", Subject: row.ID}
		got, err := s.Ingest(ctx, store.Event{Event: e, Until: 100}, 0, func(e store.Event, v store.View) (out store.Routing, err error) {
			for _, sub := range v.Subscriptions(e.Event) {
				out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: sub.Instance, Reply: core.Reply{Ticket: sub.Ticket}})
			}
			return out, nil
		})
		if err != nil || !got.Taken {
			t.Fatalf("%+v %v", got, err)
		}
	}
	if list, err := s.Ready(ctx, 0, 100); err != nil || len(list) != 10 {
		t.Errorf("ready %v %v", list, err)
	}
	if n := opened.Load(); n < 40 {
		t.Errorf("only %d connections were opened", n)
	}
	names := 0
	if err := db.one(ctx, "SELECT count(*) FROM pg_prepared_statements WHERE name <> ''", nil, &names); err != nil || names != 0 {
		t.Errorf("%d prepared statements, %v", names, err)
	}
}
