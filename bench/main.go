package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/server/admit"
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
	admit.TuneCollector(admit.DefaultLimit()) // as a server does
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
	if o.big.any() && !isPostgres(o.store) {
		return o.big.run(ctx)
	}
	if o.curves != "" {
		return reportCurves(ctx, o.curves, o.most)
	}
	if o.isTable() {
		return reportTable(ctx, o)
	}
	if isPostgres(o.store) {
		address, stop, err := startPostgres(ctx, o.store)
		if err != nil {
			return err
		}
		defer stop()
		o.store = address
	}
	switch {
	case o.big.jobs > 0:
		return reportJobsOnPostgres(ctx, o.store, o.big.jobs)
	case o.snapshot > 0:
		return reportSnapshot(ctx, o.store, o.snapshot)
	case o.pairs:
		return reportPairs(ctx, o)
	case o.http:
		return reportHTTP(ctx, o)
	case o.streams > 0:
		return reportStreams(ctx, o, o.streams)
	}
	return reportNodes(ctx, o)
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
		clients := newLeanClients(north, p.ID, false)
		return &runner{clients.one, func() { clients.close(); stop() }}, nil
	}
	w := &whole{Engine: e, load: l, name: p.ID, payload: expr.String(noise(l.payload))}
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
	load    load
	name    string
	payload expr.Value // if the load has one
}

// one runs an instance from its start to its end.
func (b *whole) one(ctx context.Context, i int64) error {
	key := fmt.Sprintf("%s-%d-%d", b.name, time.Now().UnixNano(), i)
	input := expr.Object(expr.Member{Key: "key", Value: expr.String(key)})
	if b.load.payload > 0 {
		input = input.With("payload", b.payload)
	}
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
