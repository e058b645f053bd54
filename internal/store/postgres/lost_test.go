package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// executed is how a message ends that has a statement executed, and not only described.
var executed = []byte("E\x00\x00\x00\x09\x00\x00\x00\x00\x00S\x00\x00\x00\x04")

// cutOnce has the answer to the first execution of a statement with this part swallowed. The
// result tells how many were.
func (p *proxy) cutOnce(part string, then func()) (lost func() int) {
	return p.cutWhere(func(sent []byte) bool { return bytes.Contains(sent, []byte(part)) && bytes.HasSuffix(sent, executed) }, then)
}

// cutQuery is as cutOnce, for a statement that is sent as text.
func (p *proxy) cutQuery(text string, then func()) (lost func() int) {
	return p.cutWhere(func(sent []byte) bool { return bytes.Equal(sent[5:], []byte(text+"\x00")) }, then)
}

func (p *proxy) cutWhere(is func([]byte) bool, then func()) (lost func() int) {
	n := 0
	p.setCut(func(sent []byte) bool {
		if n > 0 || !is(sent) {
			return false
		}
		n++
		then()
		return true
	})
	return func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return n
	}
}

// TestLostAnswerOfMany: where the answer to several routings of one transaction is lost, each
// learns what became of it: those that happened, and those that something came before.
func TestLostAnswerOfMany(t *testing.T) {
	for name, batch := range map[string][]string{
		"the first happened":         {"t", "t", "t"},
		"the first did not happen":   {"u", "t", "t"},
		"the one in between did not": {"t", "u", "x"},
		"none happened":              {"u", "u"},
	} {
		t.Run(name, func(t *testing.T) {
			server := pgtest.Start(t)
			p := newProxy(t, server.Addr())
			s := openURL(t, p.url(t, server.Database(t)), Options{}).Namespace("x").(*Store)
			waits := map[string]int{"t": 1, "u": 1, "x": 0} // of each type one instance waits for an event, or none
			for typ, n := range waits {
				for range n {
					sub := store.Subscription{Ticket: 1, Filter: event.Filter{Type: typ}}
					if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: typ, Status: core.Waiting}, Subscribe: []store.Subscription{sub}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			var lost func() int
			first := []string{"u", "x"} // on their way by themselves
			types := append(first[:maxFlying:maxFlying], batch...)
			got, errs := make([]store.Event, len(types)), make([]error, len(types))
			var wg sync.WaitGroup
			held(t, s, func() {
				for i, typ := range types {
					wg.Go(func() { got[i], errs[i] = s.ingestFor(fmt.Sprint(i), typ) })
					waitUntil(func() bool {
						waiting, flying := s.routes.state()
						return waiting == max(0, i+1-maxFlying) && flying == min(i+1, maxFlying)
					})
				}
				lost = p.cutOnce("routes_", func() {}) // two at least
			})
			wg.Wait()
			if n := lost(); n != 1 {
				t.Fatalf("%d answers were lost", n)
			}
			taken := map[string]int{}
			for i, e := range got {
				if errs[i] != nil {
					t.Errorf("event %d: %v", i, errs[i])
				}
				if e.Taken {
					taken[types[i]]++
				}
			}
			for _, typ := range types {
				if taken[typ] != waits[typ] {
					t.Errorf("%d events of type %s say that they were taken", taken[typ], typ)
				}
			}
			if page, err := s.Events(ctx, store.EventQuery{}); err != nil || len(page.Events) != len(types) {
				t.Errorf("%d events of %d are there, %v", len(page.Events), len(types), err)
			}
		})
	}
}

// ingestFor takes an event, for the first instance that waits for it.
func (s *Store) ingestFor(id, typ string) (store.Event, error) {
	e := event.Event{ID: id, Source: "s", Type: typ}
	return s.Ingest(ctx, store.Event{Event: e, Until: 100}, 0, func(e store.Event, v store.View) (out store.Routing, err error) {
		for _, sub := range v.Subscriptions(e.Event) {
			out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: sub.Instance, Reply: core.Reply{Ticket: sub.Ticket}})
		}
		return out, nil
	})
}

// stepFor commits a step of an instance at a revision with an event whose type is its id.
func (s *Store) stepFor(id string, rev int64, ev string) error {
	e := store.Event{Event: event.Event{ID: ev, Source: "s", Type: id}, Until: 100}
	return s.Commit(ctx, store.Commit{
		Instance: store.Instance{ID: id, Status: core.Waiting, Rev: rev}, Unread: true, Unsubscribe: []core.Ticket{1},
		Event: &store.Arrival{Event: e, Route: func(e store.Event, _ store.View) (store.Routing, error) {
			return store.Routing{Deliver: []store.Delivery{{Event: e.Seq, Instance: id, Reply: core.Reply{Ticket: 1}}}}, nil
		}},
	})
}

// TestUncertain: where the answer is lost and the database away, nobody is told that nothing
// happened.
func TestUncertain(t *testing.T) {
	for _, c := range []struct {
		what         string
		cut          func(p *proxy, then func()) (lost func() int)
		write, there func(s store.Store, id string) error
	}{
		{
			"a batch",
			func(p *proxy, then func()) func() int { return p.cutOnce("commit_one", then) },
			func(s store.Store, id string) error {
				return s.Commit(ctx, store.Commit{Instance: store.Instance{ID: id, Status: core.Waiting}})
			},
			func(s store.Store, id string) error { _, err := s.Instance(ctx, id); return err },
		},
		{
			"a transaction of several statements",
			func(p *proxy, then func()) func() int { return p.cutQuery("commit", then) },
			func(s store.Store, id string) error {
				_, err := store.PutDefinition(ctx, s, store.Definition{ID: id, Version: "1", Digest: id}, nil, false)
				return err
			},
			func(s store.Store, id string) error { _, err := s.Definition(ctx, id, "1"); return err },
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			server := pgtest.Start(t)
			direct := server.Database(t)
			looks := openURL(t, direct, Options{}).Namespace("x")
			p := newProxy(t, server.Addr())
			s := openURL(t, p.url(t, direct), Options{Connections: 1, Patience: 300 * time.Millisecond}).Namespace("x")
			if err := c.write(s, "before"); err != nil {
				t.Fatal(err)
			}
			lost := c.cut(p, func() { _ = p.listener.Close() }) // there is no other connection
			if err := c.write(s, "lost"); !errors.Is(err, store.ErrUncertain) || lost() != 1 {
				t.Errorf("its answer is lost (%d): %v", lost(), err)
			}
			if c.what == "a batch" && !s.(*Store).doubts.due(time.Now()) {
				t.Error("nobody looks for the calls that it may have decided on")
			}
			if err := c.there(looks, "lost"); err != nil {
				t.Errorf("it happened: %v", err)
			}
			if err := c.write(s, "unsent"); err == nil || errors.Is(err, store.ErrUncertain) {
				t.Errorf("it was never sent: %v", err)
			}
		})
	}
}
