package postgres

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestSilentClient: one that stops inside of a transaction does not keep others out for longer than it
// may be silent, and nothing of what it did is there.
func TestSilentClient(t *testing.T) {
	db := openTest(t, Options{})
	s := db.Namespace("x").(*Store)
	if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}}); err != nil {
		t.Fatal(err)
	}
	ns, _ := s.ns(ctx)
	err := db.begin(ctx, ns, func(stopped *tx) error {
		limit := ""
		if err := stopped.one(ctx, "SELECT current_setting('idle_in_transaction_session_timeout')", nil, &limit); err != nil || limit != "1s" {
			t.Errorf("it may be silent for %s, %v", limit, err)
		}
		if err := stopped.exclusive(ctx); err != nil {
			return err
		}
		if _, err := stopped.define(ctx, store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
			return err
		}
		return s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "b", Status: core.Waiting}}) // it waits until the server loses patience
	})
	if err == nil {
		t.Error("the silent transaction was committed")
	}
	if _, err := s.Instance(ctx, "b"); err != nil {
		t.Error(err)
	}
	if _, err := s.Definition(ctx, "d", "1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("half of it is there: %v", err)
	}
}

// ended makes instances that are over.
func ended(t *testing.T, s store.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: id, Status: core.Completed, Ended: 1}}); err != nil {
			t.Fatal(err)
		}
	}
}

// scheduled deploys a definition with a schedule.
func scheduled(t *testing.T, s store.Store, id string) {
	t.Helper()
	if _, err := store.PutDefinition(ctx, s, store.Definition{ID: id, Version: "1", Digest: id}, &store.Schedule{Definition: id, Digest: id, Next: 1}, false); err != nil {
		t.Fatal(err)
	}
}

// TestOneCall: what is done often is one call, so that whoever stops between two messages holds no lock. Where its
// answer is lost, it happened once, and who asked is told so.
func TestOneCall(t *testing.T) {
	direct := pgtest.Start(t).Database(t)
	looks := openURL(t, direct, Options{}).Namespace("x")
	p := newProxy(t, pgtest.Start(t).Addr())
	s := openURL(t, p.url(t, direct), Options{}).Namespace("x").(*Store)
	ended(t, looks, "a", "b", "c", "d")
	scheduled(t, looks, "s")
	next := core.Time(7)
	was := store.Schedule{Definition: "s", Digest: "s", Next: 1}
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"delete_instance", func() error { return s.DeleteInstance(ctx, "a", store.Deletion{At: 5}) }},
		{"purge_instances", func() error {
			n, err := s.PurgeInstances(ctx, 5, 6, 2)
			if n != 2 {
				t.Errorf("%d were deleted", n)
			}
			return err
		}},
		{"advance", func() error { return s.Advance(ctx, was, &next, "") }},
		{"commit_one", func() error {
			return s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "n", Status: core.Waiting}})
		}},
		{"route", func() error { _, err := s.ingestFor("e", "t"); return err }},
		{"take_event", func() error { return s.stepFor("n", 1, "with its step") }},
		{"turns", func() error { _, err := s.Ready(ctx, 10, 10); return err }},
		{"purge_feed", func() error { _, err := s.PurgeFeed(ctx, 0, 10); return err }},
	} {
		begun, lost := 0, 0
		p.setCut(func(sent []byte) bool {
			if bytes.Contains(bytes.ToUpper(sent), []byte("BEGIN")) {
				begun++
			}
			if lost > 0 || !bytes.Contains(sent, []byte(c.name)) || !bytes.HasSuffix(sent, executed) {
				return false
			}
			lost++
			return true
		})
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		p.setCut(nil)
		if begun > 0 || lost != 1 {
			t.Errorf("%s: %d transactions were begun, %d answers lost", c.name, begun, lost)
		}
	}
	left, err := looks.Instances(ctx, store.Query{Status: []core.Status{core.Completed}})
	if err != nil || len(left) != 1 {
		t.Errorf("%d of the instances that were over are there, %v", len(left), err)
	}
	if due, err := looks.Schedules(ctx, next); err != nil || len(due) != 1 || due[0].Next != next {
		t.Errorf("the schedule is %v, %v", due, err)
	}
	if err := s.Advance(ctx, was, &next, ""); !errors.Is(err, store.ErrConflict) {
		t.Errorf("from a time at which it is not: %v", err)
	}
	if err := s.Advance(ctx, store.Schedule{Definition: "s", Digest: "s", Next: next}, nil, ""); err != nil {
		t.Error(err)
	}
	if due, err := looks.Schedules(ctx, next); err != nil || len(due) != 0 {
		t.Errorf("a schedule that ended: %v, %v", due, err)
	}
}

// TestLearnMeanwhile: while a shape is learned, events come and go. Those that are there are found by it, no others.
func TestLearnMeanwhile(t *testing.T) {
	direct := pgtest.Start(t).Database(t)
	looks := openURL(t, direct, Options{}).Namespace("x").(*Store)
	p := newProxy(t, pgtest.Start(t).Addr())
	s := openURL(t, p.url(t, direct), Options{}).Namespace("x").(*Store)
	take := func(id string, until core.Time) {
		t.Helper()
		e := store.Event{Event: event.Event{ID: id, Source: "s", Type: "t"}, Until: until}
		if _, err := looks.Ingest(ctx, e, 0, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil }); err != nil {
			t.Error(err)
		}
	}
	take("goes", 10)
	take("stays", 100)
	meanwhile := 0
	p.setCut(func(sent []byte) bool {
		if bytes.Contains(sent, []byte("exclusive(")) && bytes.HasSuffix(sent, executed) {
			if meanwhile++; meanwhile == 1 { // it has read what was there, and has no lock yet
				take("comes", 100)
				if err := looks.Purge(ctx, 50); err != nil {
					t.Error(err)
				}
			}
		}
		return false
	})
	sub := store.Subscription{Ticket: 1, Filter: event.Filter{Type: "t", Source: "s"}}
	if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: "a", Status: core.Waiting}, Subscribe: []store.Subscription{sub}}); err != nil {
		t.Fatal(err)
	}
	p.setCut(nil)
	if meanwhile == 0 {
		t.Fatal("nothing was learned")
	}
	var found []string
	err := s.Route(ctx, func(v store.View) (out store.Routing, err error) {
		found = nil
		sub.Instance = "a"
		for _, e := range v.Kept(sub) {
			found = append(found, e.Event.ID)
		}
		return out, nil
	})
	if err != nil || strings.Join(found, " ") != "stays comes" {
		t.Errorf("found %v, %v", found, err)
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// TestWriteLimit: a write that gets no answer is given up when its time is over, however long a connection may be silent. Where it can be
// asked whether it happened, it is.
func TestWriteLimit(t *testing.T) {
	row := store.Instance{ID: "a", Status: core.Waiting}
	writes := map[string]func(context.Context, store.Store) error{
		"a batch": func(ctx context.Context, s store.Store) error { return s.Commit(ctx, store.Commit{Instance: row}) },
		"a call":  func(ctx context.Context, s store.Store) error { return s.DeleteInstance(ctx, "z", store.Deletion{}) },
		"a transaction of several statements": func(ctx context.Context, s store.Store) error {
			_, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false)
			return err
		},
	}
	for what, write := range writes {
		t.Run(what, func(t *testing.T) {
			server := pgtest.Start(t)
			direct := server.Database(t)
			other := openURL(t, direct, Options{}).Namespace("x").(*Store)
			p := newProxy(t, server.Addr())
			db := openURL(t, p.url(t, direct), Options{Connections: 2, Patience: 300 * time.Millisecond, outcome: 300 * time.Millisecond, answer: time.Second})
			s := db.Namespace("x").(*Store)
			ended(t, s, "z")
			late := (*lateError)(nil)
			held(t, other, func() {
				err := write(ctx, s)
				if errors.Is(err, store.ErrUncertain) || !errors.As(err, &late) || !strings.Contains(err.Error(), "write-limit") {
					t.Errorf("somebody has the lock: %v", err)
				}
			})
			filled(t, db)
			p.holes.Add(1)
			_ = p.listener.Close()
			err := write(ctx, s)
			if what == "a transaction of several statements" { // it did not come as far as the commit
				if !errors.As(err, &late) {
					t.Errorf("nobody answers: %v", err)
				}
			} else if !errors.Is(err, store.ErrUncertain) {
				t.Errorf("nobody answers, and nobody can be asked: %v", err)
			}
			if _, err := other.Instance(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("it happened: %v", err)
			}
		})
	}
}

// TestHintOfLockedRouting: other nodes are told of what was routed under the lock as of all else.
func TestHintOfLockedRouting(t *testing.T) {
	s := openTest(t, Options{}).Namespace("x").(*Store)
	s.leases.join(newToken())
	s.leases.renewed(time.Now(), time.Hour, nil, nil, 2) // everything is another's
	start := func(v *view) (*decision, error) {
		return s.decide(v.ctx, v.ns, store.Routing{Start: []store.NewInstance{{Instance: store.Instance{ID: "a", Status: core.Waiting}}}}, nil)
	}
	s.hints.take()
	if err := s.routeLocked(ctx, nil, start); err != nil {
		t.Fatal(err)
	}
	if hint := s.hints.take(); hint != hintWork {
		t.Errorf("the hint is %q", hint)
	}
	if _, err := s.Instance(ctx, "a"); err != nil {
		t.Error(err)
	}
}
