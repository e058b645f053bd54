package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	snapshotFlight   = 128
	shortestSnapshot = 5 * time.Second
	pauseOfProgress  = 30 * time.Second
)

// intervalOf is the interval of a curve's points: a tenth of its time, at most 10 s.
func intervalOf(d time.Duration) time.Duration { return min(d/10, 10*time.Second) }

// reportSnapshot runs W1 for d while a transaction holds an old snapshot, so that no dead row can be
// removed, and before that for a fifth of the time without it.
func reportSnapshot(ctx context.Context, address string, d time.Duration) error {
	s, err := openStore(address)
	if err != nil {
		return err
	}
	defer s.close()
	b, err := newRunner(ctx, s.Store, loads()[0])
	if err != nil {
		return err
	}
	defer b.stop()
	other, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = other.Close(context.WithoutCancel(ctx)) }()
	w, err := watch(ctx, address)
	if err != nil {
		return err
	}
	defer w.close()
	fmt.Printf("%-12s%10s%12s%10s%10s%14s%12s%14s\n", "snapshot", "after", "per second", "p50", "p99", "dead rows", "tables", "others' cores")
	without, err := curve{name: "none", time: max(d/5, shortestSnapshot), runner: b, watcher: w}.run(ctx)
	if err != nil {
		return err
	}
	if _, err := other.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class", pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	with, err := curve{name: "old", time: d, runner: b, watcher: w}.run(ctx)
	if err != nil {
		return err
	}
	// Without the transaction, the measurement would say nothing about its snapshot.
	if _, err := other.Exec(ctx, "COMMIT"); err != nil {
		return fmt.Errorf("the old snapshot was lost: %w", err)
	}
	fmt.Println(verdict(without, with))
	return nil
}

// point is one interval of a curve.
type point struct {
	figure
	dead, bytes int64         // rows and size of the tables, at its end
	others      time.Duration // processor time used outside the measurement
}

func (p point) othersCores() float64 { return ratio(p.others.Seconds(), p.took.Seconds()) }

// curve is W1, measured interval by interval.
type curve struct {
	name    string
	time    time.Duration
	runner  *runner
	watcher *watcher
}

// run prints every interval and returns them.
func (c curve) run(ctx context.Context) ([]point, error) {
	var (
		mu     sync.Mutex
		latest []time.Duration
		points []point
	)
	take := func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		out := latest
		latest = nil
		return out
	}
	over := make(chan struct{})
	printed := make(chan error, 1)
	cpu := c.watcher.cpu(nil)
	go func() {
		printed <- c.each(over, func(took, after time.Duration) error {
			now := c.watcher.cpu(nil)
			p := point{figure: figureOf(take(), took), others: now.minus(cpu).others()}
			cpu = now
			if err := sizes(ctx, c.watcher.conn, &p); err != nil {
				return err
			}
			points = append(points, p)
			fmt.Printf("%-12s%10s%12.0f%10s%10s%14d%12s%14.2f\n", c.name, after.Round(time.Second), p.rate(), short(p.p50), short(p.p99), p.dead, mebibytes(p.bytes), p.othersCores())
			return nil
		})
	}()
	_, err := closedLoop(ctx, snapshotFlight, c.time, func(ctx context.Context, i int64) error {
		at := time.Now()
		err := c.runner.one(ctx, i)
		mu.Lock()
		defer mu.Unlock()
		latest = append(latest, time.Since(at))
		return err
	})
	close(over)
	if late := <-printed; err == nil {
		err = late
	}
	if err == nil && len(points) == 0 {
		err = fmt.Errorf("%v were too short for a single interval", c.time)
	}
	return points, err
}

// each calls print after every interval, and reports progress to stderr. An interval that is cut
// off by the end is not printed.
func (c curve) each(over <-chan struct{}, print func(took, after time.Duration) error) error {
	tick := time.NewTicker(intervalOf(c.time))
	defer tick.Stop()
	progress := time.NewTicker(pauseOfProgress)
	defer progress.Stop()
	for began, last := time.Now(), time.Now(); ; {
		select {
		case <-over:
			return nil
		case <-progress.C:
			fmt.Fprintf(os.Stderr, "bench: snapshot %s: %s of %s\n", c.name, time.Since(began).Round(time.Second), c.time)
		case <-tick.C:
			now := time.Now()
			if err := print(now.Sub(last), now.Sub(began)); err != nil {
				return err
			}
			last = now
		}
	}
}

// sizes asks for dead rows and the size of all tables with their indexes.
func sizes(ctx context.Context, c *pgx.Conn, p *point) error {
	return c.QueryRow(ctx, `SELECT coalesce(sum(n_dead_tup), 0)::bigint, coalesce(sum(pg_total_relation_size(relid)), 0)::bigint
		FROM pg_stat_user_tables`).Scan(&p.dead, &p.bytes)
}

const (
	// holds is the fraction of the throughput that must be left for a curve to hold.
	holds = 0.9
	// quiet is how many cores other processes may use without making the figures meaningless.
	quiet = 0.2
)

// verdict compares the ends of two curves, and the end of the second one with its beginning.
func verdict(without, with []point) string {
	before := mean(lastFifth(without))
	begin := mean(firstFifth(with))
	end := mean(lastFifth(with))
	beside := ratio(end.rate(), before.rate())
	aging := ratio(end.rate(), begin.rate())
	word := "holds"
	switch {
	case aging < holds:
		word = "falls while the snapshot gets older"
	case beside < holds:
		word = "is lower beside an old snapshot, and does not fall further"
	}
	text := fmt.Sprintf("verdict: throughput %s: at the end %.0f %% of that without a snapshot and %.0f %% of that "+
		"at its beginning (at least %.0f %% wanted); p99 %s, without %s; dead rows %d, without %d",
		word, 100*beside, 100*aging, 100*holds, short(end.p99), short(before.p99),
		with[len(with)-1].dead, without[len(without)-1].dead)
	if busy := mean(slices.Concat(without, with)).othersCores(); busy > quiet {
		text += fmt.Sprintf("\nbut others used %.1f cores meanwhile: measure again when the machine is idle", busy)
	}
	return text
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func fifth(n int) int { return max(1, n/5) }

func firstFifth(points []point) []point { return points[:fifth(len(points))] }

func lastFifth(points []point) []point { return points[len(points)-fifth(len(points)):] }

// mean combines intervals into one; its percentiles are the worst of theirs.
func mean(points []point) (out point) {
	for _, p := range points {
		out.count += p.count
		out.took += p.took
		out.others += p.others
		out.p50 = max(out.p50, p.p50)
		out.p99 = max(out.p99, p.p99)
	}
	return out
}
