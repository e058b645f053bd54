package sqlite

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/crashfs"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

var ctx = context.Background()

// inFlight runs b.N operations, that many at a time.
func inFlight(b *testing.B, n int, op func(i int64) error) {
	b.Helper()
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	var next atomic.Int64
	for range n {
		wg.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(b.N) {
					return
				}
				if err := op(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
}

// BenchmarkFloor is what commits cost at least: one small row each, through the same
// writer.
func BenchmarkFloor(b *testing.B) {
	for _, n := range []int{1, 16, 128} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			db, w := openWatched(b)
			if err := db.writer.submit(ctx, 0, func(t *tx) error {
				return t.conn.script("CREATE TABLE bare (a INTEGER PRIMARY KEY, b BLOB)")
			}); err != nil {
				b.Fatal(err)
			}
			data := make([]byte, 300)
			inFlight(b, n, func(i int64) error {
				return db.writer.submit(ctx, 300, func(t *tx) error {
					_, err := t.exec("INSERT INTO bare VALUES (?, ?)", i, data)
					return err
				})
			})
			report(b, db, w)
		})
	}
}

// steps is the storage path of an instance with that many calls, one after the other:
// a commit to create it with the first call, and one for every answer.
func steps(s store.Store, id string, n int) error {
	data := expr.Object(expr.Member{Key: "order", Value: expr.String("12345")}, expr.Member{Key: "amount", Value: expr.Int(42)})
	page := make([]byte, 150)
	head := make([]byte, 60)
	row := store.Instance{ID: id, Definition: "w", Version: "1", Labels: expr.EmptyObject}
	for i := range n + 1 {
		c := store.Commit{Instance: row}
		in := &c.Instance
		in.Status, in.Active, in.Updated = core.Waiting, []string{"Call"}, core.Time(i)
		c.Pages = []core.Page{{Data: head}, {Frame: 1, Data: page}}
		c.Records = []core.Record{
			{Time: 1, Type: core.RecReturned, Node: "Call", Name: "f", Ticket: 1<<32 | 1, Data: data, HasData: true},
			{Time: 1, Type: core.RecLeft, Node: "Call", Data: data, HasData: true},
			{Time: 1, Type: core.RecEntered, Node: "Call", Data: data, HasData: true},
			{Time: 1, Type: core.RecCalled, Node: "Call", Name: "f", Ticket: 1<<32 | 1, Data: data, HasData: true},
		}
		if i > 0 {
			c.Answered = []core.Ticket{core.Ticket(i)}
		}
		if i < n {
			c.Calls = []store.Call{{Invoke: core.Invoke{Ticket: core.Ticket(i + 1), Function: ir.Function{Name: "f"}, Args: data, Attempt: 1, Node: "Call"}}}
		} else {
			in.Status, in.Ended, in.Active, in.Output = core.Completed, 1, nil, data
			c.Pages = []core.Page{{Data: head}, {Frame: 1}}
		}
		if err := s.Commit(ctx, c); err != nil {
			return err
		}
		row = *in
		row.Rev++
	}
	return nil
}

func BenchmarkW1(b *testing.B)  { benchmarkSteps(b, 1) }
func BenchmarkW10(b *testing.B) { benchmarkSteps(b, 10) }

func benchmarkSteps(b *testing.B, n int) {
	for _, flight := range []int{1, 16, 128} {
		b.Run(fmt.Sprint(flight), func(b *testing.B) {
			db, w := openWatched(b)
			s := db.Namespace("default")
			inFlight(b, flight, func(i int64) error { return steps(s, fmt.Sprint("instance-", i), n) })
			report(b, db, w)
		})
	}
}

// report tells what the operations cost: statements, transactions, and bytes that went
// to the file and its log.
func report(b *testing.B, db *DB, w *crashfs.Disk) {
	c := db.Counters()
	b.ReportMetric(float64(c.Statements)/float64(c.Writes), "stmts/commit")
	b.ReportMetric(float64(c.Writes)/float64(c.Transactions), "commits/sync")
	if w != nil {
		b.ReportMetric(float64(w.Written())/float64(c.Writes), "B/commit")
	}
}
