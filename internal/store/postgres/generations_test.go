package postgres

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// quick has generations of a few rows, which hardly rest.
var quick = Options{house: housekeeping{rows: 20, batch: 7, rest: time.Nanosecond, quiet: true}}

// lived is a store of which much was forgotten, and what is known of it.
type lived struct {
	*Store
	t      *testing.T
	now    core.Time
	events []store.Event
}

// live makes instances with history and events, of which every tenth stays, and forgets the others.
func (l *lived) live(rounds int) {
	l.t.Helper()
	for range rounds {
		l.now += 100
		for i := range 10 {
			id := fmt.Sprintf("at%di%d", int64(l.now), i)
			in := store.Instance{ID: id, Definition: "d", Status: core.Waiting, Created: l.now, Updated: l.now}
			c := store.Commit{Instance: in, Records: []core.Record{{Text: "born " + id}}}
			if i == 0 {
				c.Subscribe = []store.Subscription{{Ticket: 1, Filter: subject("nobody's")}}
			}
			l.check(l.Commit(ctx, c))
			in.Rev = 1
			if i > 0 {
				in.Status, in.Ended = core.Completed, l.now
			}
			l.check(l.Commit(ctx, store.Commit{Instance: in, Records: []core.Record{{Text: "on " + id}, {Text: "and on"}}}))
			l.ingest(id, fmt.Sprintf("at%di0", int64(l.now)), l.now+10+core.Time(i%10/9)*1_000_000)
		}
		n, err := l.PurgeInstances(ctx, l.now+1, l.now, 100)
		l.check(err)
		if n != 9 {
			l.t.Fatalf("%d instances are purged", n)
		}
		_, err = l.PurgeFeed(ctx, l.now-50, 1000)
		l.check(err)
		l.check(l.Purge(ctx, l.now+50))
	}
}

// subject is what events are found by.
func subject(value string) event.Filter {
	return event.Filter{Type: "t", Keys: []event.Key{{Name: "subject", Value: value, Fixed: true}}}
}

// ingest takes an event that is kept for an instance, or delivered to it if it is one that stays long.
func (l *lived) ingest(id, instance string, until core.Time) {
	l.t.Helper()
	e := store.Event{Event: event.Event{ID: id, Source: "s", Type: "t", Subject: id}, Received: l.now, Until: until}
	e, err := l.Ingest(ctx, e, 0, func(e store.Event, _ store.View) (store.Routing, error) {
		e.For, e.Why = []string{instance}, []string{"because"}
		r := store.Routing{Events: []store.Event{e}}
		if until > l.now+1000 {
			r.Deliver = []store.Delivery{{Event: e.Seq, Instance: instance, At: l.now, Reply: core.Reply{Ticket: 7}}}
		}
		return r, nil
	})
	l.check(err)
	l.events = append(l.events, e)
}

func (l *lived) check(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// picture is all that anybody sees of a store.
func (l *lived) picture() string {
	l.t.Helper()
	var b strings.Builder
	for after := int64(0); ; {
		feed, err := l.Feed(ctx, after, 50)
		l.check(err)
		fmt.Fprintln(&b, feed)
		if len(feed.Items) == 0 {
			break
		}
		after = feed.Next
	}
	list, err := l.Instances(ctx, store.Query{})
	l.check(err)
	for _, in := range list {
		records, err := l.Records(ctx, in.ID, 0, 0)
		l.check(err)
		fmt.Fprintln(&b, in, records)
	}
	page, err := l.Events(ctx, store.EventQuery{})
	l.check(err)
	fmt.Fprintln(&b, page)
	again, err := l.Again(ctx, 1000)
	l.check(err)
	fmt.Fprintln(&b, again)
	l.check(l.Route(ctx, func(v store.View) (store.Routing, error) {
		for _, e := range l.events[:min(len(l.events), 12)] {
			kept, ok := v.Event(e.Seq)
			fmt.Fprintln(&b, kept, ok)
		}
		fmt.Fprintln(&b, v.Kept(store.Subscription{Instance: "x", Filter: subject("at100i9")}))
		return store.Routing{}, nil
	}))
	if problems, err := l.Check(ctx); err != nil || len(problems) > 0 {
		l.t.Fatal(problems, err)
	}
	return b.String()
}

// settle keeps house until there is nothing to do.
func settle(t *testing.T, db *DB) (steps int) {
	t.Helper()
	for _, ring := range []int16{historyRing, eventRing} {
		for {
			did, err := db.keepHouse(ctx, ring)
			if err != nil {
				t.Fatal(err)
			}
			if !did {
				break
			}
			steps++
		}
	}
	return steps
}

// generation is one as the schema has it.
type generation struct {
	ring, gen, state    int
	rows, garbage, size int64
}

func generations(t *testing.T, db *DB) (out []generation) {
	t.Helper()
	rows, err := db.pool.Query(ctx, db.sql("SELECT ring, gen, state, garbage, pg_relation_size((CASE ring WHEN 0 THEN 'lockstep.history_' ELSE 'lockstep.events_' END || gen)::regclass) FROM ~.generations ORDER BY ring, gen"))
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var g generation
		if err := rows.Scan(&g.ring, &g.gen, &g.state, &g.garbage, &g.size); err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	for i := range out {
		table := "history"
		if out[i].ring == eventRing {
			table = "events"
		}
		out[i].rows = count(t, db, fmt.Sprintf("%s WHERE gen = %d", table, out[i].gen))
	}
	return out
}

func count(t *testing.T, db *DB, from string) (n int64) {
	t.Helper()
	if err := db.one(ctx, "SELECT count(*) FROM ~."+from, nil, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func open(t *testing.T, db *DB, name string) *lived {
	return &lived{Store: db.Namespace(name).(*Store), t: t}
}

// TestSpaceIsGivenBack: what is forgotten is not deleted but passed over, until its tables are emptied.
// Of what is not forgotten nothing changes.
func TestSpaceIsGivenBack(t *testing.T) {
	db := openTest(t, quick)
	a, b := open(t, db, "a"), open(t, db, "b")
	for round := range 12 {
		tables := []string{"history", "events", "event_keys", "deliveries"}
		var had []int64
		for _, table := range tables {
			had = append(had, count(t, db, table))
		}
		a.live(2)
		b.live(1)
		for i, table := range tables {
			added := 3 * []int64{20 + 9, 10, 10, 1}[i]
			if n := count(t, db, table); n != had[i]+added {
				t.Fatalf("%s has %d rows, and had %d and %d new ones: some were deleted", table, n, had[i], added)
			}
		}
		was := a.picture() + b.picture()
		settle(t, db)
		if now := a.picture() + b.picture(); now != was {
			t.Fatalf("round %d: it was\n%s\nand is\n%s", round, was, now)
		}
	}
	emptied := 0
	total, garbage := [2]int64{}, [2]int64{}
	for _, g := range generations(t, db) {
		total[g.ring] += g.rows
		garbage[g.ring] += g.garbage
		if g.state == 0 {
			emptied++
			if g.size != 0 || g.rows != 0 {
				t.Errorf("an empty generation has %d bytes: %+v", g.size, g)
			}
		}
	}
	live := [2]int64{count(t, db, "history h WHERE EXISTS (SELECT 1 FROM lockstep.instances i WHERE i.ns = h.ns AND i.seq = h.inst) OR EXISTS (SELECT 1 FROM lockstep.gone g WHERE g.ns = h.ns AND g.inst = h.inst)"), 36}
	for ring := range total {
		if total[ring]-garbage[ring] != live[ring] {
			t.Errorf("ring %d has %d rows, of which %d are said to be garbage and %d are none", ring, total[ring], garbage[ring], live[ring])
		}
	}
	if total[historyRing] > 3*live[0] {
		t.Errorf("there are %d rows of history, of which %d are of use", total[historyRing], live[0])
	}
	if emptied == 0 {
		t.Error("no generation is empty")
	}
	if n := count(t, db, "history WHERE instance NOT LIKE '%i0'"); n > 200 {
		t.Errorf("%d of 36 * 27 rows of deleted instances are left", n)
	}
}

// TestHousekeepersStop: whoever keeps house may stop after any step, and another one goes on.
func TestHousekeepersStop(t *testing.T) {
	url := pgtestURL(t)
	a := open(t, openURL(t, url, quick), "a")
	a.live(9)
	want := a.picture()
	states := map[[2]int]bool{}
	for steps := 0; ; steps++ {
		db, err := Open(ctx, url, quick)
		if err != nil {
			t.Fatal(err)
		}
		did := false
		for _, ring := range []int16{historyRing, eventRing} {
			one, err := db.keepHouse(ctx, ring)
			if err != nil {
				t.Fatal(err)
			}
			did = did || one
		}
		for _, g := range generations(t, db) {
			states[[2]int{g.ring, g.state}] = true
		}
		l := *a
		l.Store = db.Namespace("a").(*Store)
		if got := l.picture(); got != want {
			t.Fatalf("after %d steps it is\n%s\nand was\n%s", steps, got, want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if !did {
			break
		}
	}
	if len(states) != 10 {
		t.Errorf("only these states were seen: %v", states)
	}
}

// TestTwoKeepHouse: several do it at once, and none of them harms what others moved.
func TestTwoKeepHouse(t *testing.T) {
	url := pgtestURL(t)
	one, two := openURL(t, url, quick), openURL(t, url, quick)
	a := open(t, one, "a")
	for range 3 {
		a.live(6)
		want := a.picture()
		var wg sync.WaitGroup
		for _, db := range []*DB{one, two, one, two} {
			wg.Go(func() {
				for i := range 200 {
					if _, err := db.keepHouse(ctx, int16(i%2)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		settle(t, one)
		if got := a.picture(); got != want {
			t.Fatalf("it is\n%s\nand was\n%s", got, want)
		}
	}
}

// TestMovedEvents: an event that was moved is still known, and may be kept for longer; one that was forgotten
// comes again, also where its row is still there.
func TestMovedEvents(t *testing.T) {
	db := openTest(t, quick)
	a := open(t, db, "a")
	a.live(2)
	var last, was int16
	read := func() (gen int16) {
		a.check(db.one(ctx, "SELECT gen FROM ~.events WHERE seq = $1", []any{a.events[9].Seq}, &gen))
		return gen
	}
	was = read()
	for range 8 {
		a.live(2)
		settle(t, db)
		if last = read(); last != was {
			break
		}
	}
	if last == was {
		t.Fatal("the event was not moved")
	}
	a.live(1)
	known, err := a.Ingest(ctx, store.Event{Event: a.events[9].Event, Received: a.now, Until: a.now + 5}, 0, nil)
	if !errors.Is(err, store.ErrDuplicate) || known.Seq != a.events[9].Seq || fmt.Sprint(known.Why) != "[because]" {
		t.Errorf("%v of %+v", err, known)
	}
	a.check(a.Route(ctx, func(v store.View) (store.Routing, error) {
		e, _ := v.Event(known.Seq)
		e.Until += 1_000_000
		return store.Routing{Events: []store.Event{e}}, nil
	}))
	a.check(a.Purge(ctx, known.Until+1))
	a.now = known.Until + 1
	if page, err := a.Events(ctx, store.EventQuery{}); err != nil || len(page.Events) == 0 || page.Events[0].Seq != known.Seq {
		t.Errorf("%+v %v", page, err)
	}
	e := a.events[len(a.events)-2]
	a.ingest(e.Event.ID, "x", a.now+10)
	if n := count(t, db, "events WHERE key = (SELECT key FROM lockstep.events WHERE seq = "+fmt.Sprint(e.Seq)+")"); n != 2 {
		t.Errorf("%d rows of the event that came twice", n)
	}
	settle(t, db)
	if problems, err := a.Check(ctx); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

// TestEventOverAlready: an event whose time was up when it came is there until the next purge, however late it is by
// the clock that purges.
func TestEventOverAlready(t *testing.T) {
	a := open(t, openTest(t, quick), "a")
	seen := func(want int) {
		t.Helper()
		page, err := a.Events(ctx, store.EventQuery{})
		if a.check(err); len(page.Events) != want {
			t.Errorf("%d events, want %d", len(page.Events), want)
		}
	}
	a.ingest("1", "x", 100)
	a.check(a.Purge(ctx, 200))
	seen(0)
	a.ingest("2", "x", 100)
	a.ingest("3", "x", 200)
	seen(2)
	a.check(a.Purge(ctx, 150)) // another clock
	seen(1)
	a.check(a.Purge(ctx, 200))
	seen(0)
	a.ingest("2", "x", 300)
	seen(1)
	if problems, err := a.Check(ctx); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}
