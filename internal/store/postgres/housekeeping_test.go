package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// change runs statements that no store would.
func change(t *testing.T, db *DB, text string, args ...any) {
	t.Helper()
	if _, err := db.pool.Exec(ctx, db.sql(text), args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// closeFirst has what is in the first generation of a ring moved from now on.
func closeFirst(t *testing.T, db *DB, ring int) {
	t.Helper()
	change(t, db, "UPDATE ~.generations SET state = CASE gen WHEN 0 THEN 3 WHEN 1 THEN 1 ELSE 0 END WHERE ring = $1", ring)
	change(t, db, "UPDATE ~.rings SET current = 1 WHERE ring = $1", ring)
}

// TestMoveOfEventsForMany: a step moves so many rows, not so many events: one may have gone to thousands, and nobody
// commits meanwhile.
func TestMoveOfEventsForMany(t *testing.T) {
	const events, each, batch = 20, 50, 120
	o := quick
	o.house.batch = batch
	db := openTest(t, o)
	a := open(t, db, "a")
	for i := range events {
		a.ingest(fmt.Sprint(i), "x", 100_000+core.Time(i/7)) // several end at once
	}
	ns, err := a.ns(ctx)
	a.check(err)
	change(t, db, "INSERT INTO ~.deliveries (ns, gen, refused, event, inst, ticket) SELECT ns, 0, false, seq, i, 1 FROM ~.events, generate_series(1, $2::integer) i WHERE ns = $1", ns, each)
	want := a.picture()
	closeFirst(t, db, eventRing)
	for steps, was := 0, int64(0); was < events*each; steps++ {
		if steps > events {
			t.Fatalf("%d deliveries are moved after %d steps", was, steps)
		}
		if did, err := db.keepHouse(ctx, eventRing); err != nil || !did {
			t.Fatal(did, err)
		}
		now := count(t, db, "deliveries WHERE gen = 1")
		if moved := now - was; moved == 0 || moved > batch+each {
			t.Errorf("a step moved %d deliveries", moved)
		}
		was = now
		if got := a.picture(); got != want {
			t.Fatalf("after %d steps it is\n%s\nand was\n%s", steps, got, want)
		}
	}
	if n := count(t, db, "events WHERE gen = 1"); n != events {
		t.Errorf("%d of %d events were moved", n, events)
	}
}

// TestMoveInABusyNamespace: events are moved also where others always have the lock of the namespace for a while.
func TestMoveInABusyNamespace(t *testing.T) {
	db := openTest(t, quick)
	a := open(t, db, "a")
	a.ingest("1", "x", 100_000)
	closeFirst(t, db, eventRing)
	type turn struct {
		did bool
		err error
	}
	over := make(chan turn, 1)
	held(t, a.Store, func() {
		go func() {
			did, err := db.keepHouse(ctx, eventRing)
			over <- turn{did, err}
		}()
		waitUntil(func() bool { // it gave up, or waits already for longer than it would for a table
			return len(over) > 0 || count(t, db, "namespaces WHERE EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%keep_house%' AND clock_timestamp() - query_start > '200ms')") > 0
		})
	})
	if got := <-over; !got.did || got.err != nil {
		t.Errorf("nothing was done: %v", got.err)
	}
	if n := count(t, db, "events WHERE gen = 1"); n != 1 {
		t.Errorf("%d events were moved", n)
	}
}

// TestMoveOfLargeRows: a row that is large counts as many.
func TestMoveOfLargeRows(t *testing.T) {
	o := quick
	o.house.batch = 20
	db := openTest(t, o)
	a := open(t, db, "a")
	in := store.Instance{ID: "i", Definition: "d", Status: core.Waiting}
	for range 12 {
		a.check(a.Commit(ctx, store.Commit{Instance: in, Records: []core.Record{{Text: strings.Repeat("x", 40<<10)}}}))
		in.Rev++
	}
	want := a.picture()
	closeFirst(t, db, historyRing)
	for was := int64(0); was < in.Rev; {
		if did, err := db.keepHouse(ctx, historyRing); err != nil || !did {
			t.Fatal(did, err)
		}
		now := count(t, db, "history WHERE gen = 1")
		if moved := now - was; moved != 2 {
			t.Errorf("a step moved %d rows of 40 KiB", moved)
		}
		was = now
	}
	if got := a.picture(); got != want {
		t.Errorf("it is\n%s\nand was\n%s", got, want)
	}
}

// TestFeedOfLongHistories: the feed is forgotten in parts where deleted instances have long histories, and all of
// it is garbage in the end.
func TestFeedOfLongHistories(t *testing.T) {
	db := openTest(t, quick)
	a := open(t, db, "a")
	const instances, commits = 6, 5
	for i := range instances {
		for rev := range commits {
			in := store.Instance{ID: fmt.Sprint(i), Definition: "d", Rev: int64(rev), Status: core.Waiting, Updated: 1}
			if rev == commits-1 {
				in.Status, in.Ended = core.Completed, 1
			}
			a.check(a.Commit(ctx, store.Commit{Instance: in, Records: []core.Record{{Text: "on"}}}))
		}
	}
	n, err := a.PurgeInstances(ctx, 2, 2, 100)
	if a.check(err); n != instances {
		t.Fatalf("%d instances are deleted", n)
	}
	ns, err := a.ns(ctx)
	a.check(err)
	part, more, first := 0, false, instances*commits+2
	a.check(db.one(ctx, "SELECT o_n, o_more FROM ~.purge_feed($1, 10, 1000, $2)", []any{ns, 2 * (commits + 1)}, &part, &more))
	if part != first || !more {
		t.Errorf("%d items are forgotten, more: %t; they end with two of the deletions", part, more)
	}
	if left := count(t, db, "gone"); left != instances-2 {
		t.Errorf("%d instances are still told of", left)
	}
	change(t, db, "UPDATE ~.gone SET rows = $1", feedGarbage) // each is a part now
	rest, err := a.PurgeFeed(ctx, 10, 1000)
	if a.check(err); rest != instances*(commits+1)-first {
		t.Errorf("%d items are forgotten then", rest)
	}
	garbage := int64(0)
	a.check(db.one(ctx, "SELECT sum(garbage)::bigint FROM ~.generations", nil, &garbage))
	if rows := count(t, db, "history"); garbage != rows {
		t.Errorf("%d of %d rows are garbage", garbage, rows)
	}
}

// TestOthersKeepEverything: what a namespace forgets is found among its own, whatever another one keeps.
func TestOthersKeepEverything(t *testing.T) {
	e := &explained{}
	o := quick
	o.configure = e.configure
	db := openTest(t, o)
	a := open(t, db, "a")
	change(t, db, `INSERT INTO ~.instances (ns, seq, rev, created, updated, ended, told, labels, owns, kind, status, shard, more, aside, id, rest)
		SELECT 999, -g, 1, 0, 0, -g, 0, 0, 0, 1, 4, 0, false, false, 'o' || g, '' FROM generate_series(1, 3000) g`)
	change(t, db, "INSERT INTO ~.gone SELECT 999, -g, -g, 1 FROM generate_series(1, 3000) g")
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			change(t, db, "ANALYZE ~.instances, ~.gone")
			db.pool.Reset()
		}
		id := fmt.Sprint("i", analyzed)
		a.check(a.Commit(ctx, store.Commit{Instance: store.Instance{ID: id, Status: core.Completed, Ended: 1}}))
		n, err := a.PurgeInstances(ctx, 2, 2, 100)
		if a.check(err); n != 1 {
			t.Errorf("%d instances", n)
		}
		n, err = a.PurgeFeed(ctx, 10, 100)
		if a.check(err); n != 2 {
			t.Errorf("%d items", n)
		}
		for _, part := range []string{"i.ended < p_before", "DELETE FROM gone", "SELECT last, sum(rows)"} {
			plans := 0
			e.mu.Lock()
			for query, plan := range e.plans {
				if !strings.Contains(query, part) {
					continue
				}
				plans++
				if !strings.Contains(plan, "Index Cond: (((0 + ns) = ") {
					t.Errorf("analyzed %t: %s\n%s", analyzed, query, plan)
				}
			}
			e.mu.Unlock()
			if plans != 1 {
				t.Errorf("%d plans with %s", plans, part)
			}
		}
		e.plans = nil
	}
}

// TestReadersOfGenerationsThatRest: where one cannot be emptied because somebody reads it, nobody tries the others, or any again, for
// a while. Then another one comes first.
func TestReadersOfGenerationsThatRest(t *testing.T) {
	url := pgtestURL(t)
	o := quick
	o.house.rest = generationRest
	db := openURL(t, url, o)
	change(t, db, "UPDATE ~.generations SET state = 4, moved = now() - interval '1 hour' - gen * interval '1 minute' WHERE ring = 0 AND gen > 4")
	reader := elsewhere(t, url, pgx.RepeatableRead)
	if _, err := reader.Exec(ctx, "SELECT count(*) FROM lockstep.history_7"); err != nil { // the first that is tried
		t.Fatal(err)
	}
	resting := func() (out []int) {
		for _, g := range inState(t, db, 4) {
			out = append(out, g.gen)
		}
		return out
	}
	for range 3 {
		if did, err := db.keepHouse(ctx, historyRing); err != nil || did {
			t.Errorf("%t %v", did, err)
		}
		if got := resting(); !slices.Equal(got, []int{5, 6, 7}) {
			t.Errorf("these rest: %v", got)
		}
	}
	if n := count(t, db, "generations WHERE state = 4 AND moved + interval '10 minutes' <= now()"); n != 0 {
		t.Errorf("%d would be tried again at once", n)
	}
	change(t, db, "UPDATE ~.generations SET moved = moved - interval '1 minute' WHERE state = 4")
	for range 2 {
		if did, err := db.keepHouse(ctx, historyRing); err != nil || !did {
			t.Errorf("%t %v", did, err)
		}
	}
	if got := resting(); !slices.Equal(got, []int{7}) {
		t.Errorf("after a while these rest: %v", got)
	}
}

// TestOutgrownNodeForgetsNothing: a process whose version is too old for the tables changes nothing in them.
func TestOutgrownNodeForgetsNothing(t *testing.T) {
	db := openTest(t, quick)
	a := open(t, db, "a")
	a.now = 10
	a.ingest("1", "x", 100)
	a.check(a.Commit(ctx, store.Commit{Instance: store.Instance{ID: "i", Status: core.Waiting}}))
	if err := db.fits(len(migrations) + 1); err == nil {
		t.Fatal("it is not too old")
	}
	for what, err := range map[string]error{
		"purge": a.Purge(ctx, 1000),
		"feed":  func() error { _, err := a.PurgeFeed(ctx, 1000, 10); return err }(),
		"sent":  a.Sent(ctx, 1),
		"park":  a.Park(ctx, "i", 1),
	} {
		if err == nil {
			t.Errorf("%s: it is done", what)
		}
	}
	if n := count(t, db, "purges"); n != 0 {
		t.Error("it forgot events")
	}
}

// between is called when a statement begins.
type between func(sql string)

func (f between) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	f(d.SQL)
	return ctx
}
func (between) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestEventsWhileAGenerationIsEmptied: a list of events does not end, or go on too late, because garbage that it passed over
// went meanwhile.
func TestEventsWhileAGenerationIsEmptied(t *testing.T) {
	url := pgtestURL(t)
	var other *pgx.Conn
	tries := 0
	o := quick
	o.configure = func(c *pgxpool.Config) {
		c.ConnConfig.Tracer = between(func(sql string) {
			if !strings.Contains(sql, fmt.Sprint("OFFSET ", maxForgotten)) {
				return
			}
			tries++
			_, err := other.Exec(ctx, "SET lock_timeout = '50ms'; TRUNCATE lockstep.events_0, lockstep.event_keys_0, lockstep.deliveries_0", pgx.QueryExecModeSimpleProtocol)
			var refused *pgconn.PgError
			if err != nil && !(errors.As(err, &refused) && refused.Code == "55P03") {
				t.Error(err)
			}
		})
	}
	db := openURL(t, url, o)
	other, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(ctx) }()
	a := open(t, db, "a")
	a.now = 10
	change(t, db, "SELECT setval('~.seqs', 1000 * 1024)") // the event comes after the garbage
	a.ingest("live", "x", 1_000_000)
	ns, err := a.ns(ctx)
	a.check(err)
	change(t, db, "UPDATE ~.events SET gen = 1 WHERE ns = $1", ns)
	change(t, db, `INSERT INTO ~.events (ns, gen, again, started, seq, typ, received, until, over, ver, key, producer, origin, fors, fate, event)
		SELECT $1::integer, 0, false, false, g, 1, 0, 1, 1, 1, g::text::bytea, '', '', '{}', '', '' FROM generate_series(1, $2::integer) g`, ns, maxForgotten)
	change(t, db, "INSERT INTO ~.purges VALUES ($1, 5)", ns)
	found, pages := 0, 0
	for after := int64(0); ; pages++ {
		page, err := a.Events(ctx, store.EventQuery{After: after})
		a.check(err)
		found += len(page.Events)
		if page.Next == 0 {
			break
		}
		after = page.Next
	}
	if found != 1 || tries == 0 {
		t.Errorf("%d events are listed in %d pages, want 1; a generation was to be emptied %d times", found, pages, tries)
	}
}

// TestLatePartsOfABatch: of many routings that wait together, those that come after a part which the database did not take are not
// tried as long, one part after the other.
func TestLatePartsOfABatch(t *testing.T) {
	var sent atomic.Int64
	o := Options{Patience: 200 * time.Millisecond}
	o.configure = func(c *pgxpool.Config) {
		c.ConnConfig.Tracer = between(func(sql string) {
			if strings.Contains(sql, ".settle(") {
				sent.Add(1)
			}
		})
	}
	s := openTest(t, o).Namespace("x").(*Store)
	ns, err := s.ns(ctx)
	if err != nil {
		t.Fatal(err)
	}
	batch := make([]*routeRequest, 3*maxRoutes)
	for i := range batch {
		d, err := s.decide(ctx, ns, store.Routing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		batch[i] = &routeRequest{waiter: newWaiter(ctx), args: d.args(ns, nil)}
	}
	held(t, s, func() { s.routeBatch(batch) })
	for _, r := range batch {
		if <-r.done; !errors.As(r.err, new(*lateError)) {
			t.Fatalf("a routing that the database did not take: %v", r.err)
		}
	}
	if n := sent.Load(); n != 1 {
		t.Errorf("%d parts were sent", n)
	}
}

// TestEventBehindManyThatAreOver: an event that comes again after its time is taken, however many others were not forgotten yet.
func TestEventBehindManyThatAreOver(t *testing.T) {
	o := quick
	o.house.purge = 1
	a := open(t, openTest(t, o), "a")
	const others = maxIngests * purgeBatches
	ns, err := a.ns(ctx)
	a.check(err)
	a.now = 10_000
	a.ingest("again", "x", 20_000)
	change(t, a.db, `INSERT INTO ~.events (ns, gen, again, started, seq, typ, received, until, over, ver, key, producer, origin, fors, fate, event)
		SELECT $1::integer, 0, false, false, -g, 1, 0, g, g, 1, g::text::bytea, '', '', '{}', '', '' FROM generate_series(1, $2::integer) g`, ns, others)
	a.now = 30_000
	a.ingest("again", "x", 40_000)
	if page, err := a.Events(ctx, store.EventQuery{}); err != nil || len(page.Events) != 1 || page.Events[0].Received != a.now {
		t.Errorf("%+v %v", page, err)
	}
}
