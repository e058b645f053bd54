package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// figure is what one run of a load gave.
type figure struct {
	count    int
	took     time.Duration
	p50, p99 time.Duration
}

func (f figure) rate() float64 { return float64(f.count) / f.took.Seconds() }

// closedLoop does one after the other in each of n goroutines until the time is up.
// What is under way then is finished, and counts.
func closedLoop(ctx context.Context, n int, d time.Duration, do func(ctx context.Context, i int64) error) (figure, error) {
	var (
		next  atomic.Int64
		mu    sync.Mutex
		times []time.Duration
		errs  []error
		wg    sync.WaitGroup
	)
	began := time.Now()
	for range n {
		wg.Go(func() {
			var mine []time.Duration
			var err error
			for time.Since(began) < d && err == nil {
				at := time.Now()
				err = do(ctx, next.Add(1))
				mine = append(mine, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			times, errs = append(times, mine...), append(errs, err)
		})
	}
	wg.Wait()
	took := time.Since(began)
	for _, err := range errs { // most are the same
		if err != nil {
			return figure{}, err
		}
	}
	if len(times) == 0 {
		return figure{}, fmt.Errorf("nothing was done in %v", d)
	}
	return figureOf(times, took), nil
}

// figureOf is the figure of what ended in a time.
func figureOf(times []time.Duration, took time.Duration) figure {
	if len(times) == 0 {
		return figure{took: took}
	}
	slices.Sort(times)
	return figure{len(times), took, times[len(times)/2], times[len(times)*99/100]}
}

// batchOf does each of so many things once, n at a time.
func batchOf(ctx context.Context, n, count int, do func(ctx context.Context, i int) error) (figure, error) {
	var next atomic.Int64
	times := make([]time.Duration, count)
	errs := make([]error, n)
	var wg sync.WaitGroup
	began := time.Now()
	for w := range n {
		wg.Go(func() {
			for errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				at := time.Now()
				errs[w] = do(ctx, i)
				times[i] = time.Since(at)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	if err := errors.Join(errs...); err != nil || count == 0 {
		return figure{}, err
	}
	return figureOf(times, took), nil
}
