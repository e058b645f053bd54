package engine

import (
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// keeperStore is a store whose node keeps house when a test says so.
type keeperStore struct {
	store.Shared
	keeps bool
}

func (s *keeperStore) Has(id string) bool { return id != housekeeper || s.keeps }

// TestNodesOneKeepsHouse: a node that is not the housekeeper deletes nothing and does not wake
// up for it; when it becomes it, it goes on where the other one was.
func TestNodesOneKeepsHouse(t *testing.T) {
	url, clock := pgtest.Start(t).Database(t), NewVirtualClock(t0)
	node := func() (*harness, *keeperStore) {
		s := &keeperStore{Shared: openPostgres(t, url, postgres.Options{}).Namespace("default").(store.Shared)}
		h := newHarness(t, nil, keeping(time.Hour, time.Hour), func(c *Config) { c.Store, c.Clock, c.NewID = s, clock, nil })
		h.inParts(4)
		return h, s
	}
	a, first := node()
	b, second := node()
	first.keeps = true
	a.deploy(build("now").main())
	const many = 10
	for range many / 2 {
		a.start("now", `{}`)
		b.start("now", `{}`)
	}
	clock.Advance(t0.Add(2 * time.Hour))
	left := func(when string, want int) {
		t.Helper()
		if n := len(a.list()); n != want {
			t.Errorf("%s: %d are left, want %d", when, n, want)
		}
	}
	b.poll()
	left("after the other's turn", many)
	if _, f := b.feed(); f.Oldest != 0 {
		t.Errorf("it forgot what happened, up to %d", f.Oldest)
	}
	if at, ok := b.Next(); ok {
		t.Errorf("the node that keeps no house has something to do at %s", at)
	}
	if _, ok := a.Next(); !ok {
		t.Error("the node that keeps house has nothing to do")
	}
	for _, c := range a.house.chores { // one turn of each
		if err := c.work(t.Context(), a.Engine, core.TimeOf(clock.Now()), func(error) {}); err != nil {
			t.Fatal(err)
		}
	}
	left("after a turn", many-4)
	first.keeps, second.keeps = false, true
	a.poll()
	left("after a poll of the one before", many-4)
	b.poll()
	left("in the end", 0)
	if f, _ := a.HouseFigures(); f.Instances != 4 || f.FeedItems != 4 {
		t.Errorf("the first deleted %+v", f)
	}
	if f, _ := b.HouseFigures(); f.Instances != many-4 {
		t.Errorf("the second deleted %+v", f)
	}
	told, _ := b.feed()
	if f, _ := b.HouseFigures(); told == "" || f.FeedItems != many-4 {
		t.Errorf("%d items were forgotten, and the feed tells %q", f.FeedItems, told)
	}
}

// TestNodesKeepHouseInTurn: when the node that keeps house stops, another one does.
func TestNodesKeepHouseInTurn(t *testing.T) {
	url, s := pgtest.Start(t).Database(t), newCallService()
	soon := keeping(time.Nanosecond, 0)
	a, b := runNode(t, url, "a", postgres.Options{}, s, soon), runNode(t, url, "b", postgres.Options{}, s, soon)
	settle(a, b)
	if err := a.Deploy(t.Context(), build("now").main()); err != nil {
		t.Fatal(err)
	}
	gone := func(n *testNode, id string) func() bool {
		return func() bool {
			_, err := n.Get(t.Context(), id)
			return isMissing(err)
		}
	}
	keeper, other := a, b
	if !a.has(housekeeper) {
		keeper, other = b, a
	}
	until(gone(other, other.begin("now", "")))
	keeper.stop()
	until(gone(other, other.begin("now", "")))
	until(func() bool { f, _ := other.HouseFigures(); return f.Instances > 0 }) // it is counted once it is gone
}
