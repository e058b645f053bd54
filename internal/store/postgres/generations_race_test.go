package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// elsewhere begins a transaction on a connection of its own.
func elsewhere(t *testing.T, url string, level pgx.TxIsoLevel) pgx.Tx {
	t.Helper()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(ctx) })
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: level})
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// inState lists the generations of history in a state.
func inState(t *testing.T, db *DB, state int) (out []generation) {
	t.Helper()
	for _, g := range generations(t, db) {
		if g.ring == historyRing && g.state == state {
			out = append(out, g)
		}
	}
	return out
}

const resting = 4

// TestCommitOutlastsItsGeneration: a commit that began before its generation was closed, and ends after all of it
// was moved, is not lost.
func TestCommitOutlastsItsGeneration(t *testing.T) {
	url := pgtestURL(t)
	db := openURL(t, url, quick)
	a, b := open(t, db, "a"), open(t, db, "b")
	a.live(2)
	a.now += 1000
	_, err := a.PurgeFeed(ctx, a.now, 1000) // all of it, but of two instances
	a.check(err)
	b.live(1)
	ns, err := b.ns(ctx)
	b.check(err)

	late := elsewhere(t, url, pgx.ReadCommitted)
	if _, err := late.Exec(ctx, "SET search_path = lockstep"); err != nil {
		t.Fatal(err)
	}
	record := codec.AppendDeletion(nil, store.Deletion{At: b.now, Actor: "late"})
	if _, err := late.Exec(ctx, "SELECT remove_instances($1, $2, $3, $4)", ns, []string{"at100i0"}, int64(b.now), record); err != nil {
		t.Fatal(err)
	}
	settle(t, db)
	waits := inState(t, db, resting)
	if len(waits) != 1 {
		t.Fatalf("what the commit wrote into does not wait for it: %+v", generations(t, db))
	}
	if err := late.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	want := a.picture() + b.picture()
	if !strings.Contains(want, "late") {
		t.Fatal("the commit is not there")
	}
	settle(t, db)
	if got := a.picture() + b.picture(); got != want {
		t.Errorf("it is\n%s\nand was\n%s", got, want)
	}
	if left := inState(t, db, resting); len(left) > 0 {
		t.Errorf("%+v waits on", left)
	}
}

// TestReaderKeepsGeneration: a table that somebody reads is not emptied, and nobody waits for him.
func TestReaderKeepsGeneration(t *testing.T) {
	url := pgtestURL(t)
	db := openURL(t, url, quick)
	a := open(t, db, "a")
	a.live(4)
	reader := elsewhere(t, url, pgx.RepeatableRead)
	read := func() (rows, events int64) {
		if err := reader.QueryRow(ctx, "SELECT count(*), (SELECT count(*) FROM lockstep.events) FROM lockstep.history").Scan(&rows, &events); err != nil {
			t.Fatal(err)
		}
		return rows, events
	}
	rows, events := read()
	settle(t, db)
	if len(inState(t, db, resting)) == 0 {
		t.Error("nothing waits for the reader")
	}
	a.check(a.Commit(ctx, store.Commit{Instance: store.Instance{ID: "more", Status: core.Running}})) // others are not held up
	want := a.picture()
	if now, kept := read(); now != rows || kept != events {
		t.Errorf("the reader saw %d rows and %d events, now %d and %d", rows, events, now, kept)
	}
	if err := reader.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	settle(t, db)
	if left := inState(t, db, resting); len(left) > 0 {
		t.Errorf("%+v waits on", left)
	}
	if got := a.picture(); got != want {
		t.Errorf("it is\n%s\nand was\n%s", got, want)
	}
}

// TestGenerationRests: who took a view just before rows were moved has time to lock the tables.
func TestGenerationRests(t *testing.T) {
	slow := quick
	slow.house.rest = time.Hour
	db := openTest(t, slow)
	a := open(t, db, "a")
	a.live(6)
	settle(t, db)
	rest := inState(t, db, resting)
	if len(rest) == 0 || rest[0].size == 0 {
		t.Fatalf("nothing rests: %+v", generations(t, db))
	}
	if _, err := db.pool.Exec(ctx, "UPDATE lockstep.generations SET moved = moved - interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	settle(t, db)
	for _, g := range generations(t, db) {
		if g.ring == historyRing && g.gen == rest[0].gen && g.size > 0 && g.state != 1 {
			t.Errorf("it rested, and was not emptied: %+v", g)
		}
	}
}

// TestCommitsWhileHouseIsKept: nothing is lost, and nothing taken twice, while generations come and go under load.
func TestCommitsWhileHouseIsKept(t *testing.T) {
	url := pgtestURL(t)
	db, keeper := openURL(t, url, quick), openURL(t, url, quick)
	s := db.Namespace("n").(*Store)
	const workers, each = 4, 60
	var clock atomic.Int64
	stop, cancel := context.WithCancel(ctx)
	var house, wg sync.WaitGroup
	turned := 0
	house.Go(func() { // one that purges and keeps house
		k := keeper.Namespace("n").(*Store)
		for last := false; !last; {
			last = stop.Err() != nil
			now := core.Time(clock.Load())
			if _, err := k.PurgeInstances(ctx, now-10, now, 50); err != nil {
				t.Error(err)
			}
			if _, err := k.PurgeFeed(ctx, now-20, 100); err != nil {
				t.Error(err)
			}
			if err := k.Purge(ctx, now-20); err != nil {
				t.Error(err)
			}
			turned += settle(t, keeper)
		}
	})
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				now := core.Time(clock.Add(1))
				id := fmt.Sprintf("w%di%d", w, i)
				in := store.Instance{ID: id, Definition: "d", Status: core.Waiting, Created: now, Updated: now}
				if err := s.Commit(ctx, store.Commit{Instance: in, Records: []core.Record{{Text: "1"}}}); err != nil {
					t.Error(err)
				}
				e := store.Event{Event: event.Event{ID: id, Source: "s", Type: "t"}, Received: now, Until: now + 30 + core.Time(i%5)*100_000}
				ingest := func() error {
					_, err := s.Ingest(ctx, e, 0, func(store.Event, store.View) (store.Routing, error) { return store.Routing{}, nil })
					return err
				}
				if err := ingest(); err != nil {
					t.Error(err)
				}
				in.Rev, in.Updated = 1, now+1
				if i%5 > 0 {
					in.Status, in.Ended = core.Completed, now+1
				}
				if err := s.Commit(ctx, store.Commit{Instance: in, Records: []core.Record{{Text: "2"}, {Text: "3"}}}); err != nil {
					t.Error(err)
				}
				if i%5 > 0 {
					if err := ingest(); err == nil {
						t.Errorf("event %s was taken twice", id)
					}
				}
			}
		})
	}
	wg.Wait()
	cancel()
	house.Wait()
	settle(t, keeper)
	for w := range workers {
		for i := 0; i < each; i += 5 {
			records, err := s.Records(ctx, fmt.Sprintf("w%di%d", w, i), 0, 0)
			if err != nil || len(records) != 3 {
				t.Fatalf("w%di%d has %d records: %v", w, i, len(records), err)
			}
		}
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	if turned < 20 {
		t.Errorf("house was kept in %d steps", turned)
	}
}

// TestPlansOfGenerations: who reads history by position or by instance reads every generation by its index, in order.
func TestPlansOfGenerations(t *testing.T) {
	e := &explained{}
	wide := quick
	wide.configure = e.configure
	wide.house.rows = 3000
	db := openTest(t, wide)
	s := db.Namespace("n").(*Store)
	for range 7 { // history that nobody forgot
		if _, err := db.pool.Exec(ctx, "INSERT INTO lockstep.history (ns, gen, status, pos, inst, at, told, kind, instance) "+
			"SELECT n, r.current, 0, nextval('lockstep.seqs'), 1 + x % 500, x, x, 1, 'i' FROM generate_series(1, 3) n, generate_series(1, 2000) x, lockstep.rings r WHERE r.ring = 0"); err != nil {
			t.Fatal(err)
		}
		settle(t, db)
	}
	if used := len(inState(t, db, 2)); used < 5 {
		t.Fatalf("%d generations are closed", used)
	}
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			if _, err := db.pool.Exec(ctx, "ANALYZE lockstep.history"); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Commit(ctx, store.Commit{Instance: store.Instance{ID: fmt.Sprint("i", analyzed), Status: core.Running}, Records: []core.Record{{Text: "1"}}}); err != nil {
			t.Fatal(err)
		}
		e.mu.Lock()
		e.plans = nil
		e.mu.Unlock()
		if _, err := s.Feed(ctx, 0, 100); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Records(ctx, fmt.Sprint("i", analyzed), 0, 10); err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{0, 10} {
			if _, _, err := s.Since(ctx, 0, limit); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Emits(ctx, 10); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Ready(ctx, 1, 10); err != nil {
			t.Fatal(err)
		}
		judgeGenerations(t, e)
	}
}

func judgeGenerations(t *testing.T, e *explained) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	seen := 0
	for query, plan := range e.plans {
		if !strings.Contains(plan, " on history_") {
			continue
		}
		seen++
		for _, line := range strings.Split(plan, "\n") {
			if strings.Contains(line, "Seq Scan on history_") && !strings.Contains(line, "(cost=0.00..0.00") { // but an empty one
				t.Errorf("a generation is not read by an index:\n%s\n%s", query, plan)
			}
			// The history of one instance may be sorted.
			if strings.Contains(line, "Sort  (") && !strings.Contains(query, "x.told") {
				t.Errorf("it is sorted:\n%s\n%s", query, plan)
			}
		}
	}
	if seen < 6 {
		t.Errorf("%d plans were seen", seen)
	}
}

// TestEventsBehindForgotten: a list does not look at all that was forgotten before it answers; who asks on
// comes to what is kept.
func TestEventsBehindForgotten(t *testing.T) {
	db := openTest(t, quick)
	a := open(t, db, "a")
	ns, err := a.ns(ctx)
	a.check(err)
	if _, err := db.pool.Exec(ctx, "INSERT INTO lockstep.events (ns, gen, again, started, seq, typ, received, until, over, ver, key, producer, origin, fors, fate, event) "+
		"SELECT $1, 0, false, false, x, 1, 0, 1, 1, 1, '', '', '', '{}', '', '' FROM generate_series(1, $2) x", ns, maxForgotten+10); err != nil {
		t.Fatal(err)
	}
	if _, err := db.pool.Exec(ctx, "INSERT INTO lockstep.purges VALUES ($1, 1); SELECT setval('lockstep.seqs', 1024 * 1024)", pgx.QueryExecModeSimpleProtocol, ns); err != nil {
		t.Fatal(err)
	}
	a.ingest("1", "x", 100)
	first, err := a.Events(ctx, store.EventQuery{Limit: 5})
	if err != nil || len(first.Events) != 0 || first.Next == 0 {
		t.Fatalf("%+v %v", first, err)
	}
	second, err := a.Events(ctx, store.EventQuery{Limit: 5, After: first.Next})
	if err != nil || len(second.Events) != 1 || second.Next != 0 {
		t.Errorf("%+v %v", second, err)
	}
	newest, err := a.Events(ctx, store.EventQuery{Newest: true, Limit: 5})
	if err != nil || len(newest.Events) != 1 || newest.Next == 0 {
		t.Fatalf("%+v %v", newest, err)
	}
	older, err := a.Events(ctx, store.EventQuery{Newest: true, Limit: 5, After: newest.Next})
	if err != nil || len(older.Events) != 0 || older.Next != 0 {
		t.Errorf("%+v %v", older, err)
	}
}

// TestNoTableIsEmpty: where nothing is forgotten all tables are soon in use. Then the smallest is moved out of the
// way, so that the current one does not become the only one, and what is moved is less than what comes.
func TestNoTableIsEmpty(t *testing.T) {
	coarse := quick
	coarse.house.batch = 100
	db := openTest(t, coarse)
	came, moved, full := int64(0), int64(0), false
	current := func() (gen, rows, all int64) {
		if err := db.one(ctx, "SELECT r.current, (SELECT count(*) FROM ~.history WHERE gen = r.current), (SELECT count(*) FROM ~.history) FROM ~.rings r WHERE ring = 0", nil, &gen, &rows, &all); err != nil {
			t.Fatal(err)
		}
		return gen, rows, all
	}
	for round := range 60 {
		// Of instances that are gone, but which the feed still tells of.
		for _, text := range []string{
			"INSERT INTO lockstep.gone SELECT 1, x, x, 1 FROM generate_series(1 + $1 * 50, 50 + $1 * 50) x",
			"INSERT INTO lockstep.history (ns, gen, status, pos, inst, at, told, kind, instance) SELECT 1, r.current, 0, x, x, 0, 1, 1, 'i' FROM generate_series(1 + $1 * 50, 50 + $1 * 50) x, lockstep.rings r WHERE r.ring = 0",
		} {
			if _, err := db.pool.Exec(ctx, text, round); err != nil {
				t.Fatal(err)
			}
		}
		came += 50
		for {
			gen, before, _ := current()
			did, err := db.keepHouse(ctx, historyRing)
			if err != nil {
				t.Fatal(err)
			}
			if !did {
				break
			}
			if now, after, _ := current(); now == gen {
				moved += after - before
			}
			full = full || len(inState(t, db, 2)) == 7
		}
	}
	_, rows, all := current()
	if all != came {
		t.Errorf("there are %d rows of %d", all, came)
	}
	if !full || moved == 0 {
		t.Errorf("all tables were in use: %t, and %d rows were moved", full, moved)
	}
	if 2*rows > all {
		t.Errorf("%d of %d rows are in the current table", rows, all)
	}
	if moved > came {
		t.Errorf("%d rows were moved, and %d came", moved, came)
	}
}
