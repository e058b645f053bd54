package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if ordered, err := child(ctx); ordered {
		return err
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	stop, err := o.startProfiles()
	if err != nil {
		return err
	}
	defer stop()
	if o.big.any() {
		return o.big.run(ctx)
	}
	if isPostgres(o.store) {
		address, stop, err := startPostgres(o.store)
		if err != nil {
			return err
		}
		defer stop()
		o.store = address
	}
	switch {
	case o.snapshot > 0:
		return reportSnapshot(ctx, o.store, o.snapshot)
	case o.pairs:
		return reportPairs(ctx, o)
	case o.http:
		return reportHTTP(ctx, o)
	case len(o.nodes) > 0:
		return reportNodes(ctx, o)
	}
	return reportTable(ctx, o)
}

// reportTable prints all loads beside the store alone.
func reportTable(ctx context.Context, o options) error {
	var alone commitsAlone
	if isPostgres(o.store) {
		var err error
		if alone, err = reportCommits(ctx, o); err != nil {
			return err
		}
	}
	fmt.Printf("%-8s%10s%12s%10s%10s%14s%10s%8s%8s%10s%12s%9s\n",
		"load", "in flight", "per second", "p50", "p99", "store alone", "p50", "ratio", "writes", "bytes", "statements", "of rows")
	for _, l := range o.loads {
		for _, n := range o.inFlight {
			if err := measure(ctx, o, l, n, alone.on(n)); err != nil {
				return fmt.Errorf("%s with %d in flight: %w", l.name, n, err)
			}
		}
	}
	return nil
}

// measure runs a load on the engine, then its writes on the store alone. row is what the database does with single rows, if
// that was measured.
func measure(ctx context.Context, o options, l load, n int, row figure) error {
	s, err := openStore(o.store)
	if err != nil {
		return err
	}
	defer s.close()
	rec := &recorder{Store: s.Store}
	b, err := newRunner(ctx, rec, l)
	if err != nil {
		return err
	}
	if err := b.one(ctx, 0); err != nil { // its writes are the pattern
		return err
	}
	b.stop()
	rec.mu.Lock()
	writes := slices.Clone(rec.writes)
	rec.mu.Unlock()

	b, err = newRunner(ctx, s.Store, l)
	if err != nil {
		return err
	}
	before := s.cost()
	got, err := closedLoop(ctx, n, o.time, b.one)
	b.stop()
	if err != nil {
		return err
	}
	spent := s.cost().minus(before)
	floor, err := floorOf(ctx, s.Store, writes, "floor-", n, o.time)
	if err != nil {
		return fmt.Errorf("store alone: %w", err)
	}
	share := "-"
	if row.count > 0 {
		share = fmt.Sprintf("%.3f", got.rate()/row.rate())
	}
	fmt.Printf("%-8s%10d%12.0f%10s%10s%14.0f%10s%8.2f%8d%10s%12s%9s\n", l.name, n, got.rate(), short(got.p50), short(got.p99),
		floor.rate(), short(floor.p50), floor.rate()/got.rate(), len(writes), spent.bytesPer(got.count), spent.statementsPer(got.count), share)
	return nil
}

func short(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }

// runner does one thing of a load, again and again, until it is stopped.
type runner struct {
	one  func(ctx context.Context, i int64) error
	stop func()
}

func newRunner(ctx context.Context, s store.Store, l load) (*runner, error) {
	if l.jobs {
		e, err := deployed(ctx, s, engine.Config{})
		if err != nil {
			return nil, err
		}
		j, stop, err := serveJobs(ctx, e)
		if err != nil {
			return nil, err
		}
		return &runner{j.one, stop}, nil
	}
	p, err := compile(l.definition)
	if err != nil {
		return nil, err
	}
	e, err := deployed(ctx, s, engine.Config{Invoker: effect.Func(constant)}, l.definition)
	if err != nil {
		return nil, err
	}
	if l.http {
		north, _, stop, err := serve(ctx, e, dialect.NewRegistry(sw05.FrontEnd{}))
		if err != nil {
			return nil, err
		}
		clients := newLeanClients(north, p.ID)
		return &runner{clients.one, func() { clients.close(); stop() }}, nil
	}
	w := &whole{Engine: e, load: l, name: p.ID}
	return &runner{w.one, started(ctx, e)}, nil
}

func complain(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

func compile(text string) (*ir.Program, error) {
	c, ds := dialect.NewRegistry(sw05.FrontEnd{}, sw10.FrontEnd{}).Compile("bench.yaml", []byte(text), nil, dialect.Options{})
	if c.Program == nil {
		return nil, fmt.Errorf("definition: %v", ds)
	}
	return c.Program, nil
}

func constant(context.Context, effect.Call) effect.Outcome {
	return effect.Outcome{Value: expr.Object(expr.Member{Key: "ok", Value: expr.Bool(true)})}
}

// whole runs instances of one definition.
type whole struct {
	*engine.Engine
	load load
	name string
}

// one runs an instance from its start to its end.
func (b *whole) one(ctx context.Context, i int64) error {
	key := fmt.Sprintf("%s-%d-%d", b.name, time.Now().UnixNano(), i)
	input := expr.Object(expr.Member{Key: "key", Value: expr.String(key)})
	id, err := b.Start(ctx, engine.StartRequest{Definition: b.name, Input: input})
	if err != nil {
		return err
	}
	if b.load.waitsFor {
		ev := event.Event{ID: key, Source: "bench", Type: "go"}
		ev.Put("key", expr.String(key))
		if _, err := b.Send(ctx, ev); err != nil {
			return err
		}
	}
	_, err = b.Wait(ctx, id)
	return err
}
