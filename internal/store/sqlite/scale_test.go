package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pagestat"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// fillWaiting makes instances that wait: one half for events, each with a key of its
// own, one half for timers.
func fillWaiting(t testing.TB, db *DB, n int) {
	t.Helper()
	sp := db.Namespace("default").(*Store).space
	if _, err := store.PutDefinition(ctx, db.Namespace("default"), store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
		t.Fatal(err)
	}
	page := make([]byte, 200)
	for from := 0; from < n; from += 1000 {
		err := db.writer.submit(ctx, 0, func(tr *tx) error {
			for i := from; i < min(n, from+1000); i++ {
				c := store.Commit{
					Instance: store.Instance{ID: fmt.Sprint("waiting-", i), Definition: "d", Version: "1", Digest: "x", Status: core.Waiting, Labels: expr.EmptyObject},
					Pages:    []core.Page{{Data: page[:60]}, {Frame: 1, Data: page}}, Records: []core.Record{{Type: core.RecStarted}},
				}
				if i%2 == 0 {
					c.Subscribe = []store.Subscription{{Ticket: 1, Name: "e", Filter: keyed(i)}}
				} else {
					c.Instance.HasWake, c.Instance.Wake = true, core.Time(1_000_000+i)
				}
				e, err := encode(&c)
				if err != nil {
					return err
				}
				if err := tr.commit(sp, e); err != nil {
					return err
				}
			}
			_, err := tr.exec("UPDATE subs SET fresh = 0 WHERE fresh = 1")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func keyed(i int) event.Filter {
	return event.Filter{Type: "t", Source: "s", Keys: []event.Key{{Name: "k", Value: fmt.Sprint(i), Fixed: true}}}
}

// resume sends the event that one instance waits for, and commits the step that takes it.
func resume(s store.Store, i int) error {
	e := event.Event{ID: fmt.Sprint("e", i), Source: "s", Type: "t"}
	e.Put("k", expr.String(fmt.Sprint(i)))
	id := ""
	_, err := s.Ingest(ctx, store.Event{Event: e, Until: 1 << 40}, 0, func(e store.Event, v store.View) (out store.Routing, err error) {
		for _, sub := range v.Subscriptions(e.Event) {
			id = sub.Instance
			out.Deliver = append(out.Deliver, store.Delivery{Event: e.Seq, Instance: id, Reply: core.Reply{Ticket: sub.Ticket, Value: e.Event.Value()}})
		}
		return out, nil
	})
	if err != nil || id == "" {
		return fmt.Errorf("event %d reached %q: %w", i, id, err)
	}
	in, err := s.Instance(ctx, id)
	if err != nil {
		return err
	}
	inbox, err := s.Messages(ctx, id)
	if err != nil {
		return err
	}
	in.Status, in.Ended = core.Completed, 1
	return s.Commit(ctx, store.Commit{
		Instance: in, Pages: []core.Page{{Data: make([]byte, 60)}, {Frame: 1}}, Records: []core.Record{{Type: core.RecFinished}},
		Taken: []int64{inbox[0].Seq}, Unsubscribe: []core.Ticket{1},
	})
}

// pagesSeen is how many pages of the file were looked at so far, in memory or not.
func pagesSeen(t *testing.T, db *DB) int64 {
	t.Helper()
	traffic, err := pagestat.Of(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	return traffic.Seen
}

// TestWaitingIsFree: what an event costs does not depend on how many wait.
func TestWaitingIsFree(t *testing.T) {
	cost := func(n int) (pages, statements int64) {
		db := openTest(t)
		s := db.Namespace("default")
		fillWaiting(t, db, n)
		if err := db.writer.submit(ctx, 0, func(tr *tx) error { tr.w.heads.clear(); return nil }); err != nil {
			t.Fatal(err)
		}
		const events = 100
		p, st := pagesSeen(t, db), db.Counters().Statements
		for i := range events {
			if err := resume(s, i*2*(n/2/events)); err != nil {
				t.Fatal(err)
			}
		}
		pages, statements = (pagesSeen(t, db)-p)/events, (db.Counters().Statements-st)/events
		if at, ok, err := s.Next(ctx, 0); err != nil || !ok || at != 1_000_001 {
			t.Errorf("next %d %t: %v", at, ok, err)
		}
		if m := len(s.(*Store).work); m != 0 {
			t.Errorf("%d are in memory though nobody has anything to do", m)
		}
		return pages, statements
	}
	most := 50_000
	if raceDetector {
		most = 5_000
	}
	few, fewStatements := cost(1_000)
	many, manyStatements := cost(most)
	t.Logf("an event and its step: %d pages and %d statements among 1,000, %d and %d among %d", few, fewStatements, many, manyStatements, most)
	if manyStatements != fewStatements || many > few+few/2 { // the trees are a level deeper
		t.Error("what an event costs depends on how many wait")
	}
}

// BenchmarkResume is an event and the step that it causes, among many that wait. With
// -benchtime 1x and BENCH_WAITING=1000000 it also tells memory and the time of a start.
func BenchmarkResume(b *testing.B) {
	n := 20_000
	if text := os.Getenv("BENCH_WAITING"); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "waiting.db")
	db, err := Open(path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	fillWaiting(b, db, n)
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	if db, err = Open(path, Options{}); err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := db.Namespace("default")
	if _, err := s.Ready(ctx, 0, 10); err != nil {
		b.Fatal(err)
	}
	start := time.Since(begin)
	runtime.GC()
	next := 0
	for _, flight := range []int{1, 128} {
		b.Run(fmt.Sprint(flight), func(b *testing.B) {
			from := next
			if next += b.N; next > n/2 {
				b.Fatalf("%d wait for events; BENCH_WAITING sets more", n/2)
			}
			inFlight(b, flight, func(i int64) error {
				return resume(s, (from+int(i)-1)*7919%(n/2)*2) // far from one another
			})
			b.ReportMetric(float64(start.Milliseconds()), "start-ms")
			b.ReportMetric(float64(resident())/(1<<20), "resident-MiB")
		})
	}
}

// resident is how much memory the process has.
func resident() (bytes int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	_, _ = fmt.Sscan(string(text), &size, &pages)
	return pages * int64(os.Getpagesize())
}
