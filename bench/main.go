package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/engine"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/ir"
	"github.com/lockstep-workflows/lockstep/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	store    string
	time     time.Duration
	loads    []string
	inFlight []int
}

func run(ctx context.Context, args []string) error {
	if ordered, err := child(ctx); ordered {
		return err
	}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	var o options
	flags.StringVar(&o.store, "store", "sqlite", "memory, sqlite, postgres (a server is started), or the address of a PostgreSQL")
	snapshot := flags.Duration("snapshot", 0, "instead: W1 for so long without and with an old snapshot, on PostgreSQL")
	flags.DurationVar(&o.time, "time", 2*time.Second, "of each measurement")
	names := flags.String("loads", "", "names, comma-separated; all if empty")
	profile := flags.String("cpuprofile", "", "write a profile of everything into this `file`")
	inFlight := flags.String("inflight", "1,16,128", "how many at a time, comma-separated")
	var big scales
	big.add(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if big.any() {
		return big.run(ctx)
	}
	if isPostgres(o.store) {
		address, stop, err := startPostgres(o.store)
		if err != nil {
			return err
		}
		defer stop()
		o.store = address
	}
	if *snapshot > 0 {
		return reportSnapshot(ctx, o.store, *snapshot)
	}
	if *names != "" {
		o.loads = strings.Split(*names, ",")
	}
	for text := range strings.SplitSeq(*inFlight, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-inflight: %q is not a positive number", text)
		}
		o.inFlight = append(o.inFlight, n)
	}
	if isPostgres(o.store) {
		if err := reportCommits(ctx, o); err != nil {
			return err
		}
	}
	fmt.Printf("%-8s%10s%12s%10s%10s%14s%10s%8s%8s%10s%12s\n",
		"load", "in flight", "per second", "p50", "p99", "store alone", "p50", "ratio", "writes", "bytes", "statements")
	for _, l := range loads() {
		if len(o.loads) > 0 && !slices.Contains(o.loads, l.name) {
			continue
		}
		for _, n := range o.inFlight {
			if err := measure(ctx, o, l, n); err != nil {
				return fmt.Errorf("%s with %d in flight: %w", l.name, n, err)
			}
		}
	}
	return nil
}

// measure runs a load on the engine, then its writes on the store alone.
func measure(ctx context.Context, o options, l load, n int) error {
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
	fmt.Printf("%-8s%10d%12.0f%10s%10s%14.0f%10s%8.2f%8d%10s%12s\n", l.name, n, got.rate(), short(got.p50), short(got.p99),
		floor.rate(), short(floor.p50), floor.rate()/got.rate(), len(writes), spent.bytesPer(got.count), spent.statementsPer(got.count))
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
		j, err := serveJobs(ctx, e)
		if err != nil {
			return nil, err
		}
		return &runner{j.one, j.stop}, nil
	}
	p, err := compile(l.definition)
	if err != nil {
		return nil, err
	}
	e, err := deployed(ctx, s, engine.Config{Invoker: effect.Func(constant)}, l.definition)
	if err != nil {
		return nil, err
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
	c, ds := dialect.NewRegistry(sw05.FrontEnd{}).Compile("bench.yaml", []byte(text), nil, dialect.Options{})
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
