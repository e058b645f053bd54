package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// member joins the default namespace of a database through a handle of its own.
type member struct {
	*Store
	leave func(context.Context) error
}

func joined(t *testing.T, url string, opts Options) *member {
	t.Helper()
	m := &member{Store: openURL(t, url, opts).Namespace("default").(*Store)}
	leave, err := m.Join(ctx, store.Member{Name: "node", Address: "here", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	m.leave = leave
	return m
}

func (m *member) parts() int { return len(m.owned()) }

// in is an instance of a part that a node has.
func (m *member) in(t *testing.T) string {
	t.Helper()
	for n := range 100_000 {
		if id := fmt.Sprint("i", n); m.Has(id) {
			return id
		}
	}
	t.Fatal("the node has nothing")
	return ""
}

// apart sees that no part is two nodes'.
func apart(t *testing.T, nodes ...*member) {
	t.Helper()
	owner := map[int16]int{}
	for i, m := range nodes {
		for _, shard := range m.owned() {
			if by, taken := owner[shard]; taken {
				t.Errorf("part %d is that of nodes %d and %d", shard, by, i)
			}
			owner[shard] = i
		}
	}
}

// epochs reads the epochs of all parts.
func epochs(t *testing.T, s *Store) (out []int64) {
	t.Helper()
	if err := s.db.one(ctx, "SELECT array_agg(epoch ORDER BY shard) FROM ~.shards", nil, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestParts: nodes share the work fairly, also when some come and go; what one gives back
// another has at once; an epoch grows with every change of hands.
func TestParts(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	a := joined(t, url, Options{})
	waitUntil(func() bool { return a.parts() == shardCount })
	first := epochs(t, a.Store)
	b := joined(t, url, Options{NoHints: true})
	waitUntil(func() bool { return a.parts() == 32 && b.parts() == 32 })
	apart(t, a, b)
	c := joined(t, url, Options{})
	waitUntil(func() bool { return a.parts() <= 22 && b.parts() <= 22 && c.parts() >= 20 })
	apart(t, a, b, c)
	list, err := c.Nodes(ctx)
	if err != nil || len(list) != 3 || list[0].Shards+list[1].Shards+list[2].Shards != shardCount || list[0].Name != "node" || list[0].Of != shardCount {
		t.Errorf("the nodes are %+v, %v", list, err)
	}
	if err := a.leave(ctx); err != nil {
		t.Fatal(err)
	}
	if a.parts() != 0 {
		t.Errorf("who left has %d parts", a.parts())
	}
	waitUntil(func() bool { return b.parts() == 32 && c.parts() == 32 })
	apart(t, b, c)
	for i, e := range epochs(t, b.Store) {
		if e <= first[i] { // all of them were the first one's
			t.Errorf("the epoch of part %d went from %d to %d", i, first[i], e)
		}
	}
	if list, err := b.Nodes(ctx); err != nil || len(list) != 2 {
		t.Errorf("after one left: %+v, %v", list, err)
	}
	for _, m := range []*member{b, c} {
		if err := m.leave(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSilentNode: who is not heard of loses its parts, and knows it by its own clock before
// another has them.
func TestSilentNode(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	a := joined(t, url, Options{})
	waitUntil(func() bool { return a.parts() == shardCount })
	b := joined(t, url, Options{})
	waitUntil(func() bool { return a.parts() == 32 && b.parts() == 32 })
	a.silent.Store(true)
	id := a.in(t)
	waitUntil(func() bool {
		early := b.Has(id) && b.Leased() // looked at before a, which must be the first to know
		if a.Leased() && early {
			t.Fatal("a part is another's while its owner may begin calls")
		}
		return b.parts() == shardCount
	})
	if a.Leased() || a.parts() != 0 {
		t.Errorf("the silent node may begin calls: %v, and has %d parts", a.Leased(), a.parts())
	}
	if !b.Has(id) {
		t.Error("nobody has the part")
	}
	for _, m := range []*member{a, b} {
		if err := m.leave(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBusyParts: a part whose calls are in flight is not given back before they are over, or
// before that has lasted.
func TestBusyParts(t *testing.T) {
	var l leases
	l.join(newToken())
	var shards []int16
	var epochs []int64
	busy := map[int16]bool{}
	for n := range int16(shardCount) {
		shards, epochs, busy[n] = append(shards, n), append(epochs, 1), true
	}
	l.renewed(time.Now(), time.Hour, shards, epochs, 1)
	if back := l.surplus(busy, false); len(back) != 0 {
		t.Fatalf("alone, it gives %v back", back)
	}
	l.renewed(time.Now(), time.Hour, shards, epochs, 2)
	if back := l.surplus(busy, false); len(back) != 0 {
		t.Errorf("busy parts %v are given back", back)
	}
	if l.has(63) || l.epoch(63) != 0 || !l.has(0) || len(l.owned()) != shardCount {
		t.Error("no calls are to begin in a part that is about to go, and its other work goes on")
	}
	if n := l.place(63); n != 0 {
		t.Errorf("a call is placed in part %d, which is about to go, or not the next that stays", n)
	}
	delete(busy, 62)
	if back := l.surplus(busy, false); !slices.Equal(back, []int16{62}) {
		t.Errorf("%v are given back, want the one whose calls are over", back)
	}
	l.going[61] = time.Now().Add(-2 * patience)
	if back := l.surplus(busy, false); !slices.Equal(back, []int16{61, 62}) {
		t.Errorf("%v are given back, want also the one whose calls take too long", back)
	}
	if back := l.surplus(nil, true); len(back) != shardCount {
		t.Errorf("who leaves gives %d parts back", len(back))
	}
}

// TestRenewal: the time of a node counts from when it sent its heartbeat, not from the answer; whoever had none for a while
// looks at everything anew; a part that comes back is its own again.
func TestRenewal(t *testing.T) {
	var l leases
	l.join(newToken())
	l.renewed(time.Now().Add(-time.Hour), time.Minute, []int16{1, 2}, []int64{1, 1}, 1)
	if held, _ := l.held(false); l.leased() || len(held) != 0 {
		t.Error("an answer that took longer than its time renews it")
	}
	count := l.count
	if !l.renewed(time.Now(), time.Hour, []int16{1, 2}, []int64{1, 1}, 1) || l.count == count {
		t.Error("its time was over: what it lists now is not what it listed before")
	}
	count = l.count
	if l.renewed(time.Now(), time.Hour, []int16{1, 2}, []int64{1, 1}, 1) || l.count != count {
		t.Error("nothing changed")
	}
	if back := l.surplus(nil, true); !slices.Equal(back, []int16{1, 2}) || l.has(1) || l.epoch(2) != 0 {
		t.Errorf("who leaves gives %v back", back)
	}
	if !l.renewed(time.Now(), time.Hour, []int16{2}, []int64{3}, 1) || l.has(1) || !l.has(2) || l.epoch(2) != 3 || l.place(1) != 2 {
		t.Error("a part that was given back and came back is not its own")
	}
}

// TestHintsAreKept: of several hints that nobody heard or sent yet, the weightiest stays.
func TestHintsAreKept(t *testing.T) {
	var h hints
	h.init()
	for _, hint := range []string{hintFeed, hintFree, hintWork} {
		h.send(hint)
	}
	if first, second := h.take(), h.take(); first != hintFree || second != "" {
		t.Errorf("sends %q and %q", first, second)
	}
	for _, work := range []bool{false, true, false} {
		h.hear(work)
	}
	if !<-h.heard || len(h.heard) != 0 {
		t.Error("a hint at work is hidden by one at the feed")
	}
}

// TestClock: the time is never later than the database's, whatever its clock does.
func TestClock(t *testing.T) {
	var o offset
	local, there := time.Now(), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) (time.Time, time.Time) { return local.Add(d), there.Add(d) }
	look := func(sent, seen, came time.Duration) {
		s, _ := at(sent)
		_, db := at(seen)
		c, _ := at(came)
		o.measure(s, c, db)
	}
	check := func(d, late time.Duration) {
		t.Helper()
		here, db := at(d)
		if got := db.Sub(o.now(here)); got != late {
			t.Errorf("after %s it is late by %s, want %s", d, got, late)
		}
	}
	if now := time.Now(); !o.now(now).Equal(now) {
		t.Error("what is not known yet is this machine's time")
	}
	look(0, 40, 100)
	check(100, 60)
	check(1000, 60)
	look(1000, 1090, 1100)
	check(1100, 10)
	look(2000, 2000, 2100) // a worse one
	check(2100, 10)
	there = there.Add(-time.Hour) // it steps back
	look(3000, 3050, 3100)
	check(3100, 50)
	there = there.Add(2 * time.Hour)
	check(3200, 2*time.Hour+50)
	look(4000, 4080, 4100)
	check(4100, 20)
	node := &Store{space: &space{}}
	now := time.Now()
	node.leases.measure(now, now, now.Add(-time.Hour))
	if ahead := time.Until(node.Now()); ahead > -time.Minute {
		t.Errorf("the database's clock is an hour late, and a node shows a time that is %s later than its own", ahead)
	}
}
