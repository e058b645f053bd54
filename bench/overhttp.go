package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// spent is what a load cost this process.
type spent struct {
	figure
	cpu            time.Duration
	collecting     float64 // the garbage collector's share
	objects, bytes uint64  // allocated
}

// add adds a turn. The latencies stay those of the last one.
func (s *spent) add(turn spent) {
	s.count, s.took, s.p50, s.p99 = s.count+turn.count, s.took+turn.took, turn.p50, turn.p99
	s.cpu, s.objects, s.bytes = s.cpu+turn.cpu, s.objects+turn.objects, s.bytes+turn.bytes
}

func (s *spent) cpuEach() time.Duration { return s.cpu / time.Duration(s.count) }

func (s *spent) each(n uint64) float64 { return float64(n) / float64(s.count) }

// meterOf measures what this process spends on a run.
func meterOf(run func() (figure, error)) (s spent, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, collector := ownCPU(), collectorNow()
	if s.figure, err = run(); err != nil {
		return s, err
	}
	s.cpu, s.collecting = ownCPU()-cpu, collectorNow().since(collector)
	runtime.ReadMemStats(&after)
	s.objects, s.bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	return s, nil
}

// reportHTTP prints W1 in this process beside W1 over HTTP, one and many in a request, on the same engine. They take turns. The
// clients are other processes.
func reportHTTP(ctx context.Context, o options) error {
	floor, err := batchedRows(ctx, o.time)
	if err != nil {
		return err
	}
	fmt.Printf("SQLite alone, %d rows a commit: %.0f rows/s\n", rowsPerCommit, floor)
	fmt.Printf("%-12s%10s%12s%10s%10s%10s%10s%14s%10s\n", "W1", "in flight", "per second", "p50", "p99", "of rows", "CPU", "allocations", "bytes")
	for _, n := range o.inFlight {
		if err := overHTTP(ctx, o, n, floor); err != nil {
			return fmt.Errorf("%d in flight: %w", n, err)
		}
	}
	return nil
}

func overHTTP(ctx context.Context, o options, n int, floor float64) (err error) {
	s, err := openStore(o.store)
	if err != nil {
		return err
	}
	defer s.close()
	l := load{definition: calling("w1", 1)}
	e, err := deployed(ctx, s.Store, engine.Config{Invoker: effect.Func(constant)}, l.definition)
	if err != nil {
		return err
	}
	north, _, stop, err := serve(ctx, e, dialect.NewRegistry(sw05.FrontEnd{}))
	if err != nil {
		return err
	}
	defer stop()
	d, err := startDriver(ctx, "drive", north, "w1", n)
	if err != nil {
		return err
	}
	defer func() { complain(d.stop()) }()
	b, err := startDriver(ctx, "bulk", north, "w1", max(1, n/bulkStarts))
	if err != nil {
		return err
	}
	defer func() { complain(b.stop()) }()
	w := &whole{Engine: e, load: l, name: "w1"}
	var inside, over, bulk spent
	for turn := range 1 + turns {
		for _, run := range []struct {
			to *spent
			do func() (figure, error)
		}{
			{&inside, func() (figure, error) { return closedLoop(ctx, n, o.time/turns, w.one) }},
			{&over, func() (figure, error) { return d.run(o.time / turns) }},
			{&bulk, func() (figure, error) { return inBulk(b, e, o.time/turns) }},
		} {
			got, err := meterOf(run.do)
			if err != nil {
				return err
			}
			if turn > 0 { // caches, connections and prepared statements
				run.to.add(got)
			}
		}
	}
	line := func(name string, of *spent) {
		fmt.Printf("%-12s%10d%12.0f%10s%10s%10.3f%10s%14.0f%10.0f\n", name, n, of.rate(), short(of.p50), short(of.p99),
			of.rate()/floor, of.cpuEach().Round(100*time.Nanosecond), of.each(of.objects), of.each(of.bytes))
	}
	line("in process", &inside)
	line("over HTTP", &over)
	fmt.Printf("%-64s%10s%14.0f%10.0f\n", "  HTTP adds", (over.cpuEach() - inside.cpuEach()).Round(100*time.Nanosecond),
		over.each(over.objects)-inside.each(inside.objects), over.each(over.bytes)-inside.each(inside.bytes))
	line("in bulk", &bulk)
	return nil
}

// inBulk starts instances in bulk, and waits until all have ended. The latencies are those of requests.
func inBulk(d *driver, e *engine.Engine, span time.Duration) (figure, error) {
	began := time.Now()
	got, err := d.run(span)
	for e.InFlight() > 0 {
		time.Sleep(time.Millisecond)
	}
	got.count *= bulkStarts
	got.took = time.Since(began)
	return got, err
}
