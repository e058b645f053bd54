package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// counter counts the statements that are sent.
type counter struct {
	mu   sync.Mutex
	sent []string
}

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, data.SQL)
	return ctx
}

func (*counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// with counts the statements that have a part.
func (c *counter) with(part string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sent {
		if strings.Contains(s, part) {
			n++
		}
	}
	return n
}

func (c *counter) configure(config *pgxpool.Config) { config.ConnConfig.Tracer = c }

// held holds the lock of a namespace while f runs, so that what is submitted meanwhile waits.
func held(t *testing.T, s *Store, f func()) {
	t.Helper()
	// A commit is told its outcome a moment before its batch is not under way any more.
	waitUntil(func() bool { waiting, flying := s.commits.state(); return waiting == 0 && flying == 0 })
	ns, err := s.ns(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := s.db.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(ctx, "SET LOCAL search_path = lockstep", pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(ctx, "SELECT exclusive($1)", ns); err != nil {
		t.Fatal(err)
	}
	f()
	if err := lock.Commit(ctx); err != nil {
		t.Fatal(err)
	}
}

// waitUntil lets others run until something holds.
func waitUntil(holds func() bool) {
	for !holds() {
		runtime.Gosched()
	}
}

func (g *gatherer[R]) state() (waiting, flying int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting), g.flying
}

// TestOneRoundTrip: commits that wait are one statement, without one before or after it,
// and who loses is alone with it.
func TestOneRoundTrip(t *testing.T) {
	c := &counter{}
	s := openTest(t, Options{configure: c.configure}).Namespace("x").(*Store)
	const n = 50
	for i := range n {
		if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint(i), Status: core.Waiting}}); err != nil {
			t.Fatal(err)
		}
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	commit := func(i int) {
		wg.Go(func() {
			row := store.Instance{ID: fmt.Sprint(i), Rev: 1, Status: core.Running}
			if i%10 == 7 {
				row.Rev = 9 // it is another
			}
			errs[i] = s.Commit(ctx, store.Commit{Instance: row, Records: []core.Record{{Text: "r"}}, Messages: []store.Message{{To: "0", Input: core.Continue{}}}})
		})
	}
	c.sent = nil
	held(t, s, func() {
		for i := range maxFlying {
			commit(i)
			waitUntil(func() bool { waiting, flying := s.commits.state(); return waiting == 0 && flying == i+1 })
		}
		for i := maxFlying; i < n; i++ {
			commit(i)
		}
		waitUntil(func() bool { waiting, _ := s.commits.state(); return waiting == n-maxFlying })
	})
	wg.Wait()
	if got := c.with("commit_batch"); got != maxFlying+1 {
		t.Errorf("%d statements for %d commits", got, n)
	}
	if all := len(c.sent); all != maxFlying+1+4 { // with those of held
		t.Errorf("%d statements in all: %q", all, c.sent)
	}
	for i, err := range errs {
		if lost := i%10 == 7; lost != errors.Is(err, store.ErrConflict) || !lost && err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	inbox, err := s.Messages(ctx, "0")
	if err != nil || len(inbox) != n-n/10 {
		t.Errorf("%d messages, %v", len(inbox), err)
	}
	got, err := s.Instance(ctx, "7")
	if err != nil || got.Rev != 1 || got.Status != core.Waiting {
		t.Errorf("a loser: %+v %v", got, err)
	}
}

// TestNothingNotifies: a transaction that notifies takes a lock of the whole server when it commits. No function
// of the schema does; that commits send no other statement, TestOneRoundTrip says.
func TestNothingNotifies(t *testing.T) {
	db := openTest(t, Options{})
	var names []string
	err := db.one(ctx, "SELECT coalesce(array_agg(proname::text), '{}') FROM pg_proc WHERE pronamespace = 'lockstep'::regnamespace AND prosrc ~* 'notify'", nil, &names)
	if err != nil || len(names) > 0 {
		t.Errorf("%q notify, %v", names, err)
	}
}

// TestOneIsToBlame: what the database refuses fails alone, though it is one of a batch.
func TestOneIsToBlame(t *testing.T) {
	s := openTest(t, Options{}).Namespace("x").(*Store)
	const bad = 5
	long := make([]byte, 4<<10) // more than an index takes, and nothing compresses it
	_, _ = rand.Read(long)
	if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "before", Status: core.Waiting}}); err != nil { // so that what follows needs one statement
		t.Fatal(err)
	}
	errs := make([]error, 10)
	var wg sync.WaitGroup
	commit := func(i int) {
		c := store.Commit{Instance: store.Instance{ID: fmt.Sprint(i), Status: core.Waiting}}
		if i == bad {
			c.Instance.Job = store.Job{Client: hex.EncodeToString(long)}
		}
		c.Messages = []store.Message{{To: "0", Input: core.Continue{}}}
		wg.Go(func() { errs[i] = s.Commit(ctx, c) })
	}
	held(t, s, func() {
		for i := range maxFlying {
			commit(i)
			waitUntil(func() bool { waiting, flying := s.commits.state(); return waiting == 0 && flying == i+1 })
		}
		for i := maxFlying; i < len(errs); i++ {
			commit(i)
		}
		waitUntil(func() bool { waiting, _ := s.commits.state(); return waiting == len(errs)-maxFlying })
	})
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i == bad) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestPositionsInOrder: while one transaction has positions and is not committed, no other one commits with later ones:
// who read those would never see the others.
func TestPositionsInOrder(t *testing.T) {
	db := openTest(t, Options{})
	s := db.Namespace("x").(*Store)
	ns, err := s.ns(ctx)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(id string) store.Commit {
		return store.Commit{Instance: store.Instance{ID: id, Status: core.Waiting}, Records: []core.Record{{Text: id}}}
	}
	first := commit("first")
	r, err := s.encode(ctx, ns, &first)
	if err != nil {
		t.Fatal(err)
	}
	c := &commitArgs{NS: ns, Token: newToken()}
	c.add(r, s.leases.epoch)
	second := make(chan error, 1)
	err = db.begin(ctx, ns, func(open *tx) error {
		if _, err := open.do(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
			return err
		}
		var verdict []int16
		var revs []int64
		var absent []string
		call, args := commitFunction.call(c)
		if err := open.one(ctx, call.text, args, &verdict, &revs, &absent); err != nil {
			return err
		}
		go func() { second <- s.Commit(ctx, commit("second")) }()
		for waits := false; !waits; {
			select {
			case err := <-second:
				return fmt.Errorf("the second did not wait: %v", err)
			default:
			}
			if err := db.one(ctx, "SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted)", nil, &waits); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
	f, err := s.Feed(ctx, 0, 10)
	if err != nil || len(f.Items) != 2 || f.Items[0].Instance != "first" {
		t.Errorf("%+v, %v", f.Items, err)
	}
}

// TestPositionsNeverSkip: a reader that goes on where it ended sees everything that two
// processes write at the same time, once and in order.
func TestPositionsNeverSkip(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	stores := []store.Store{openURL(t, url, Options{}).Namespace("x"), openURL(t, url, Options{}).Namespace("x")}
	const writers, steps = 4, 30
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			row := store.Instance{ID: fmt.Sprint(w), Status: core.Running}
			for i := range steps {
				if err := stores[(w+i)%2].Commit(ctx, store.Commit{Instance: row, Records: []core.Record{{Attempt: i}}}); err != nil {
					t.Error(err)
					return
				}
				row.Rev++
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	reader := openURL(t, url, Options{}).Namespace("x")
	next, seen, last := int64(0), map[string]int{}, int64(0)
	for over := false; ; {
		f, err := reader.Feed(ctx, next, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range f.Items {
			if item.Pos <= last || item.Records[0].Attempt != seen[item.Instance] {
				t.Fatalf("position %d after %d: %s at step %d, seen %d", item.Pos, last, item.Instance, item.Records[0].Attempt, seen[item.Instance])
			}
			last = item.Pos
			seen[item.Instance]++
		}
		next = f.Next
		if over && len(f.Items) == 0 {
			break
		}
		select {
		case <-done:
			over = true
		default:
		}
	}
	for w := range writers {
		if seen[fmt.Sprint(w)] != steps {
			t.Errorf("of %d, %d steps were seen", w, seen[fmt.Sprint(w)])
		}
	}
}

// TestNoneMissesTheOther: while two processes subscribe and ingest at the same time, every
// event reaches its subscription, by itself or when that is checked.
func TestNoneMissesTheOther(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	stores := []store.Store{openURL(t, url, Options{}).Namespace("x"), openURL(t, url, Options{}).Namespace("x")}
	const n = 60
	var wg sync.WaitGroup
	for i := range n {
		key := fmt.Sprint(i)
		wg.Go(func() {
			f := event.Filter{Type: "t", Keys: []event.Key{{Name: []string{"subject", "k", "l"}[i%3], Value: key, Fixed: true}}} // shapes that are new
			err := stores[0].Commit(ctx, store.Commit{Instance: store.Instance{ID: key, Status: core.Waiting}, Subscribe: []store.Subscription{{Ticket: 1, Filter: f}}})
			if err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			e := event.Event{ID: key, Source: "s", Type: "t", Subject: key}
			e.Put("k", expr.String(key))
			e.Put("l", expr.String(key))
			_, err := stores[1].Ingest(ctx, store.Event{Event: e, Until: 100}, 0, func(e store.Event, v store.View) (out store.Routing, err error) {
				for _, sub := range v.Subscriptions(e.Event) {
					out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: sub.Instance, Reply: core.Reply{Ticket: sub.Ticket}})
				}
				return out, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := stores[0]
	unchecked, err := s.Unchecked(ctx, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range unchecked {
		err := s.Route(ctx, func(v store.View) (out store.Routing, err error) {
			out.Checked = []string{id}
			for _, sub := range v.Fresh(id) {
				for _, e := range v.Kept(sub) {
					out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: id, Reply: core.Reply{Ticket: sub.Ticket}})
				}
			}
			return out, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		if inbox, err := s.Messages(ctx, fmt.Sprint(i)); err != nil || len(inbox) != 1 {
			t.Errorf("%d has %d messages, %v", i, len(inbox), err)
		}
	}
}

// TestBusyNeighbours: a router that finds something changed every time gets its turn with
// the lock, also when all connections are in use.
func TestBusyNeighbours(t *testing.T) {
	db := openTest(t, Options{Connections: 4})
	s := db.Namespace("x")
	if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			looks := 0
			err := s.Route(ctx, func(v store.View) (store.Routing, error) {
				looks++
				v.Gatherings("d", "", "")
				if looks <= maxLooks { // another one changes it
					if err := s.Route(ctx, func(store.View) (store.Routing, error) {
						return store.Routing{Gather: []store.Gathering{{Definition: "d", Until: 5}}}, nil
					}); err != nil {
						return store.Routing{}, err
					}
				}
				in := store.Instance{ID: fmt.Sprint("started", i), Definition: fmt.Sprint("new", i), Status: core.Running, Job: store.Job{Client: "c", State: fmt.Sprint("S", i)}}
				return store.Routing{Start: []store.NewInstance{{Instance: in}}}, nil
			})
			if err != nil || looks != maxLooks+1 {
				t.Errorf("%d looks, %v", looks, err)
			}
		})
	}
	wg.Wait()
	if list, err := s.Instances(ctx, store.Query{Jobs: true}); err != nil || len(list) != 8 {
		t.Errorf("%d instances, %v", len(list), err)
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
}
