package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// fanOut is a foreach that calls a function for each item and collects the results.
const fanOut = `id: fan
version: "1.0"
name: fan
functions:
- {name: f}
states:
- name: Each
  type: foreach
  start: {kind: default}
  inputCollection: "{{ $.items }}"
  iterationParam: item
  outputCollection: "{{ $.results }}"
  actions:
  - functionRef: {refName: f, parameters: {n: "{{ $.item.number }}"}}
  end: {kind: default}
`

// fanFigure is what a foreach cost.
type fanFigure struct {
	items      int
	took       time.Duration
	bytes      int64 // to the log
	pages      int64 // that were looked at
	statements int64
	writes     int64 // commits
	heap       int64 // live, at most; where it was looked at
	calls      int64
	results    int
}

// fan is how a foreach is run.
type fan struct {
	items  int
	looks  int  // how often, spread over the calls, garbage is collected and what is left counted
	single bool // one call after the other, each with a commit of its own
}

// run runs a foreach on a database in a directory.
func (x fan) run(ctx context.Context, dir string) (fanFigure, error) {
	n := x.items
	db, err := openDatabase(dir)
	if err != nil {
		return fanFigure{}, err
	}
	defer db.Close()
	out := fanFigure{items: n}
	var calls, heap atomic.Int64
	f := func(_ context.Context, c effect.Call) effect.Outcome {
		if i := calls.Add(1); x.looks > 0 && i%int64(max(1, n/x.looks)) == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			for seen := heap.Load(); int64(m.HeapAlloc) > seen && !heap.CompareAndSwap(seen, int64(m.HeapAlloc)); {
				seen = heap.Load()
			}
		}
		return constant(context.Background(), c)
	}
	e, err := deployed(ctx, db.store, engine.Config{Invoker: effect.Func(f), Inline: x.single}, fanOut)
	if err != nil {
		return fanFigure{}, err
	}
	defer started(ctx, e)()
	items, text := make([]expr.Value, n), strings.Repeat("x", 100)
	for i := range items {
		items[i] = expr.Object(expr.Member{Key: "number", Value: expr.Int(int64(i))}, expr.Member{Key: "text", Value: expr.String(text)})
	}
	before, err := db.Traffic(ctx)
	if err != nil {
		return fanFigure{}, err
	}
	counted, began := db.Counters(), time.Now()
	id, err := e.Start(ctx, engine.StartRequest{Definition: "fan", Input: expr.Object(expr.Member{Key: "items", Value: expr.Array(items...)})})
	if err != nil {
		return fanFigure{}, err
	}
	row, err := e.Wait(ctx, id)
	if err != nil {
		return fanFigure{}, err
	}
	out.took = time.Since(began)
	if row.Status != "completed" {
		return fanFigure{}, fmt.Errorf("the foreach is %s: %+v", row.Status, row.Fault)
	}
	results, _ := row.Output.Get("results")
	out.results, out.calls, out.heap = results.Len(), calls.Load(), heap.Load()
	after, err := db.Traffic(ctx)
	out.bytes, out.pages = after.Bytes-before.Bytes, after.Seen-before.Seen
	out.statements, out.writes = db.Counters().Statements-counted.Statements, db.Counters().Writes-counted.Writes
	return out, err
}

// reportFan prints what a foreach over n items costs.
func reportFan(ctx context.Context, n int) error {
	dir, remove, err := workDir()
	if err != nil {
		return err
	}
	defer remove()
	f, err := fan{items: n, looks: 16}.run(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Printf("foreach   items %d   time %s   items/s %.0f   bytes/item %.0f   statements/item %.1f   pages/item %.1f   commits %d   file %s   live heap %s   peak resident %s\n",
		n, f.took.Round(time.Millisecond), float64(n)/f.took.Seconds(), float64(f.bytes)/float64(n),
		float64(f.statements)/float64(n), float64(f.pages)/float64(n), f.writes, mebibytes(fileBytes(dir)), mebibytes(f.heap), mebibytes(ownMemory().Peak))
	return nil
}
