package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/store/postgres"
)

func isPostgres(kind string) bool {
	return kind == "postgres" || strings.HasPrefix(kind, "postgres://") || strings.HasPrefix(kind, "postgresql://")
}

// startPostgres starts a server unless there is an address of one.
func startPostgres(kind string) (address string, stop func(), err error) {
	if kind != "postgres" {
		return kind, func() {}, nil
	}
	s, err := pgtest.Launch()
	if err != nil {
		return "", nil, err
	}
	return s.URL("postgres"), s.Close, nil
}

// openPostgres opens a namespace of its own.
func openPostgres(address string) (opened, error) {
	ctx := context.Background()
	db, err := postgres.Open(ctx, address, postgres.Options{Node: "bench"})
	if err != nil {
		return opened{}, err
	}
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		_ = db.Close()
		return opened{}, err
	}
	return opened{
		Store: db.Namespace(fmt.Sprint("bench-", time.Now().UnixNano())),
		cost: func() (out cost) {
			complain(c.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&out.bytes))
			return out
		},
		close: func() {
			_ = c.Close(ctx)
			_ = db.Close()
		},
	}, nil
}

// rawConnections is how many connections write single rows at most.
const rawConnections = 32

// reportCommits measures what the server does with transactions of one row.
func reportCommits(ctx context.Context, o options) error {
	config, err := pgxpool.ParseConfig(o.store)
	if err != nil {
		return err
	}
	config.MaxConns = rawConnections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "DROP TABLE IF EXISTS lockstep_bench; CREATE TABLE lockstep_bench (n bigint PRIMARY KEY, data bytea)", pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	defer func() {
		_, err := pool.Exec(context.WithoutCancel(ctx), "DROP TABLE lockstep_bench")
		complain(err)
	}()
	data, first := make([]byte, 300), int64(0)
	for _, n := range o.inFlight {
		n = min(n, rawConnections)
		got, err := closedLoop(ctx, n, o.time, func(ctx context.Context, i int64) error {
			_, err := pool.Exec(ctx, "INSERT INTO lockstep_bench VALUES ($1, $2)", first+i, data)
			return err
		})
		if err != nil {
			return err
		}
		first += int64(got.count + n)
		fmt.Printf("one row a commit, %d connections: %.0f/s, p50 %s, p99 %s\n", n, got.rate(), short(got.p50), short(got.p99))
	}
	return nil
}

const (
	snapshotFlight   = 128
	snapshotInterval = 10 * time.Second
)

// reportSnapshot runs W1 for so long, and as long again while a transaction keeps an old
// snapshot, so that no dead row goes.
func reportSnapshot(ctx context.Context, address string, d time.Duration) error {
	if !isPostgres(address) {
		return fmt.Errorf("-snapshot: it needs -store postgres")
	}
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
	if err := curve(ctx, "without", d, b); err != nil {
		return err
	}
	other, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer func() { _ = other.Close(context.WithoutCancel(ctx)) }()
	if _, err := other.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class", pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	return curve(ctx, "with an old snapshot", d, b)
}

// curve prints the throughput of every interval.
func curve(ctx context.Context, name string, d time.Duration, b *runner) error {
	var done atomic.Int64
	ended := make(chan struct{})
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		tick := time.NewTicker(snapshotInterval)
		defer tick.Stop()
		for last, began := int64(0), time.Now(); ; {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			n := done.Load()
			fmt.Printf("%s: %4.0f s %8.0f/s\n", name, time.Since(began).Seconds(), float64(n-last)/snapshotInterval.Seconds())
			last = n
		}
	}()
	got, err := closedLoop(ctx, snapshotFlight, d, func(ctx context.Context, i int64) error {
		err := b.one(ctx, i)
		done.Add(1)
		return err
	})
	close(ended)
	<-printed
	if err == nil {
		fmt.Printf("%s: %.0f/s, p50 %s, p99 %s\n", name, got.rate(), short(got.p50), short(got.p99))
	}
	return err
}
