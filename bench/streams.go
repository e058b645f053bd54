package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// streamRates are how many changes a second the subscribers get.
var streamRates = []int{20, 200, 1000}

// reportStreams prints how long changes take to n subscribers, which are connections of another process.
func reportStreams(ctx context.Context, o options, n int) (err error) {
	s, err := openStore(o.store)
	if err != nil {
		return err
	}
	defer s.close()
	e, err := deployed(ctx, s.Store, engine.Config{}, pure("p1", 1))
	if err != nil {
		return err
	}
	north, _, stop, err := serve(ctx, e, dialect.NewRegistry(sw05.FrontEnd{}))
	if err != nil {
		return err
	}
	defer stop()
	subscribers, err := startDriver(ctx, "subscribe", north, "", n)
	if err != nil {
		return err
	}
	defer func() { complain(subscribers.stop()) }()
	fmt.Printf("%-12s%12s%12s%10s%12s%10s%10s%14s%14s\n", "subscribers", "changes/s", "start p50", "p99", "received", "p50", "p99", "CPU", "allocations")
	for _, rate := range streamRates {
		if err := streamsAt(ctx, e, subscribers, n, rate, o.time); err != nil {
			return fmt.Errorf("%d changes a second: %w", rate, err)
		}
	}
	return nil
}

// streamsAt prints a line: the time of a start, the time from when the engine began it until a subscriber has the change, and
// what each change costs this process for each subscriber.
func streamsAt(ctx context.Context, e *engine.Engine, subscribers *driver, n, rate int, span time.Duration) error {
	var starts figure
	spent, err := meterOf(func() (got figure, err error) {
		started := make(chan error, 1)
		go func() {
			var err error
			starts, err = atRate(ctx, rate, span, func(ctx context.Context) error {
				_, err := e.Start(ctx, engine.StartRequest{Definition: "p1"})
				return err
			})
			started <- err
		}()
		got, err = subscribers.run(span)
		return got, errors.Join(err, <-started)
	})
	if err != nil {
		return err
	}
	each := func(v float64) float64 { return v / float64(max(starts.count, 1)*n) }
	fmt.Printf("%-12d%12.0f%12s%10s%12d%10s%10s%12.1fµs%14.1f\n", n, starts.rate(), short(starts.p50), short(starts.p99), spent.count, short(spent.p50), short(spent.p99),
		each(float64(spent.cpu.Microseconds())), each(float64(spent.objects)))
	return nil
}

// atRate does something so many times a second, whether or not those before are done.
func atRate(ctx context.Context, rate int, span time.Duration, do func(context.Context) error) (figure, error) {
	var mu sync.Mutex
	var all []time.Duration
	var errs error
	var under sync.WaitGroup
	began := time.Now()
	for i := 0; ; i++ {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		if due.Sub(began) >= span || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Until(due))
		under.Go(func() {
			at := time.Now()
			err := do(ctx)
			mu.Lock()
			defer mu.Unlock()
			all, errs = append(all, time.Since(at)), errors.Join(errs, err)
		})
	}
	under.Wait()
	return figureOf(all, time.Since(began)), errs
}

// watched is how many subscribers there are for each one whose changes are timed: reading times costs more than the rest.
const watched = 16

// subscribe is the other process: Count connections to the stream of What. For each line with a duration it reports how long
// changes took in that time.
func (o order) subscribe(ctx context.Context) error {
	var mu sync.Mutex
	var all []time.Duration
	ready := make(chan error, o.Count)
	for i := range o.Count {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", o.What)
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := fmt.Fprintf(conn, "GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
			return err
		}
		go func() {
			r := bufio.NewReaderSize(conn, 32<<10)
			ready <- awaitStream(r)
			for i%watched == 0 {
				took, err := nextChange(r)
				if err != nil {
					return
				}
				mu.Lock()
				all = append(all, took)
				mu.Unlock()
			}
			for {
				if _, err := r.Discard(16 << 10); err != nil {
					return
				}
			}
		}()
	}
	for range o.Count {
		if err := <-ready; err != nil {
			return err
		}
	}
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		span, err := time.ParseDuration(lines.Text())
		if err != nil {
			return err
		}
		mu.Lock()
		all = nil
		mu.Unlock()
		time.Sleep(span + span/4) // what is on its way at the end counts
		mu.Lock()
		got := figureOf(all, span)
		mu.Unlock()
		if err := out.Encode(turnFigure{Count: got.count, Took: got.took, P50: got.p50, P99: got.p99}); err != nil {
			return err
		}
	}
	return nil
}

// awaitStream reads until the stream has begun.
func awaitStream(r *bufio.Reader) error {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil || bytes.HasPrefix(line, []byte("event: ready")) {
			return err
		}
	}
}

// nextChange reads the next change, and returns how old it is.
func nextChange(r *bufio.Reader) (time.Duration, error) {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if _, rest, ok := bytes.Cut(line, []byte(`"time":"`)); ok {
			text, _, _ := bytes.Cut(rest, []byte(`"`))
			if at, err := time.Parse(time.RFC3339Nano, string(text)); err == nil { // else the end of a chunk is in it
				return time.Since(at), nil
			}
		}
	}
}
