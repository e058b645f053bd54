package postgres

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// steadily calls look until it was called in one time of the node: on a slow machine that may end at any instant.
func (m *member) steadily(t *testing.T, look func() error) {
	t.Helper()
	waitUntil(func() bool {
		before := m.ShardChanges()
		if err := look(); err != nil {
			t.Fatal(err)
		}
		return m.Leased() && m.ShardChanges() == before
	})
}

// handed is what a node is told, by instance and ticket, with a p for those that are parked.
func (m *member) handed(t *testing.T) (out []string) {
	t.Helper()
	m.steadily(t, func() error {
		calls, err := m.Handed(ctx)
		for _, c := range calls {
			text := fmt.Sprintf("%s/%d", c.Instance, c.Ticket)
			if c.Parked {
				text += "p"
			}
			out = append(out, text)
		}
		return err
	})
	slices.Sort(out)
	return out
}

// TestCallsChangeHands: a node is told the calls of an instance that are handed anew, those that another
// node decided on, and those of parts that it got, each once; of all of them that one is parked which was.
func TestCallsChangeHands(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	a := joined(t, url, Options{})
	waitUntil(func() bool { return a.parts() == shardCount })
	decide := func(m *member, id string, tickets ...core.Ticket) {
		t.Helper()
		c := store.Commit{Instance: store.Instance{ID: id, Status: core.Waiting}}
		for _, n := range tickets {
			c.Calls = append(c.Calls, store.Call{Shard: m.CallShard(id), Invoke: core.Invoke{Ticket: n}})
		}
		if err := m.Commit(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, m *member, calls ...string) {
		t.Helper()
		if got := m.handed(t); !slices.Equal(got, calls) {
			t.Errorf("%s: handed %v, want %v", what, got, calls)
		}
	}
	decide(a, "i", 1, 2, 3)
	decide(a, "j", 2)
	want("its own", a)
	if err := a.Park(ctx, "i", 2); err != nil {
		t.Fatal(err)
	}
	want("after one was parked", a)
	if err := a.HandOver(ctx, "i"); err != nil {
		t.Fatal(err)
	}
	want("handed anew", a, "i/1", "i/2p", "i/3")
	want("once", a)

	outside := &member{Store: openURL(t, url, Options{}).Namespace("default").(*Store)} // a process that is no node
	decide(outside, "k", 1)
	want("of another", a, "k/1")
	want("of another, once", a)

	b := joined(t, url, Options{})
	if err := a.leave(ctx); err != nil {
		t.Fatal(err)
	}
	waitUntil(func() bool { return b.parts() == shardCount })
	var got []string
	waitUntil(func() bool { got = append(got, b.handed(t)...); return len(got) >= 5 })
	slices.Sort(got)
	if all := []string{"i/1", "i/2p", "i/3", "j/2", "k/1"}; !slices.Equal(got, all) {
		t.Errorf("the next node is handed %v, want %v", got, all)
	}
	want("the next node, once", b)
	if err := b.leave(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestHandedAnswerLost: calls that were handed to a node which did not hear of it are told again.
func TestHandedAnswerLost(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	p := newProxy(t, server.Addr())
	a := joined(t, p.url(t, url), Options{})
	waitUntil(func() bool { return a.parts() == shardCount })
	outside := openURL(t, url, Options{}).Namespace("default")
	c := store.Commit{Instance: store.Instance{ID: "i", Status: core.Waiting}, Calls: []store.Call{{Invoke: core.Invoke{Ticket: 1}}}}
	if err := outside.Commit(ctx, c); err != nil {
		t.Fatal(err)
	}
	lost := p.cutOnce("hand_over", func() {})
	var err error
	waitUntil(func() bool {
		_, err = a.Handed(ctx)
		return lost() > 0
	})
	if err == nil {
		t.Error("the answer is lost, and there is no error")
	}
	if got := a.handed(t); !slices.Equal(got, []string{"i/1"}) {
		t.Errorf("after that: handed %v", got)
	}
	if err := a.leave(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestSuspectsOfParts: a node is told those of its own parts.
func TestSuspectsOfParts(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	a, b := joined(t, url, Options{}), joined(t, url, Options{})
	waitUntil(func() bool { return a.parts() == 32 && b.parts() == 32 })
	ids := []string{a.in(t), b.in(t)}
	slices.Sort(ids)
	for _, id := range ids {
		if err := a.Suspect(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	told := func(m *member) (list, own []string) {
		m.steadily(t, func() (err error) {
			own = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !m.Has(id) })
			list, err = m.Suspects(ctx)
			return err
		})
		return list, own
	}
	for i, m := range []*member{a, b} {
		if list, own := told(m); !slices.Equal(list, own) {
			t.Errorf("node %d is told %v, want %v", i, list, own)
		}
	}
	if err := a.leave(ctx); err != nil {
		t.Fatal(err)
	}
	waitUntil(func() bool { return b.parts() == shardCount })
	if list, own := told(b); !slices.Equal(list, own) || len(own) != len(ids) {
		t.Errorf("who has everything is told %v, want %v", list, own)
	}
	if err := b.leave(ctx); err != nil {
		t.Fatal(err)
	}
}
