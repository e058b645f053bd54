package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

func isPostgres(kind string) bool {
	return kind == "postgres" || strings.HasPrefix(kind, "postgres://") || strings.HasPrefix(kind, "postgresql://")
}

// startPostgres starts a server, which counts statements, unless there is an address of one.
func startPostgres(ctx context.Context, kind string) (address string, stop func(), err error) {
	if kind != "postgres" {
		return kind, func() {}, nil
	}
	s, err := pgtest.Launch()
	if err != nil {
		return "", nil, err
	}
	c, err := pgx.Connect(ctx, s.URL("postgres"))
	if err == nil {
		_, err = c.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
		err = errors.Join(err, c.Close(ctx))
	}
	if err != nil {
		complain(fmt.Errorf("statements are not counted: %w", err))
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
	w, err := watch(ctx, address)
	if err != nil {
		_ = db.Close()
		return opened{}, err
	}
	return opened{
		Store: db.Namespace(fmt.Sprint("bench-", time.Now().UnixNano())),
		cost: func() (out cost) {
			var err, err2 error
			out.bytes, err = w.wal(ctx)
			out.statements, err2 = w.statements(ctx)
			complain(errors.Join(err, err2))
			return out
		},
		cpu: func() time.Duration { return w.cpu(nil).postgres },
		close: func() {
			w.close()
			_ = db.Close()
		},
	}, nil
}

// rawConnections is how many connections write single rows at most.
const rawConnections = 32

// commitsAlone are how many transactions of one row a second a server takes, by the number of connections.
type commitsAlone map[int]figure

// on is the figure for so many in flight.
func (c commitsAlone) on(inFlight int) figure { return c[connectionsFor(inFlight)] }

func connectionsFor(inFlight int) int { return min(inFlight, rawConnections) }

// commitsOf measures what the server does with transactions of one row.
func commitsOf(ctx context.Context, address string, inFlight []int, d time.Duration) (commitsAlone, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	config.MaxConns = rawConnections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, "DROP TABLE IF EXISTS lockstep_bench; CREATE TABLE lockstep_bench (n bigint PRIMARY KEY, data bytea)", pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, err
	}
	defer func() {
		_, err := pool.Exec(context.WithoutCancel(ctx), "DROP TABLE lockstep_bench")
		complain(err)
	}()
	out, data, first := commitsAlone{}, make([]byte, 300), int64(0)
	for _, n := range inFlight {
		n = connectionsFor(n)
		if _, known := out[n]; known {
			continue
		}
		got, err := closedLoop(ctx, n, d, func(ctx context.Context, i int64) error {
			_, err := pool.Exec(ctx, "INSERT INTO lockstep_bench (n, data) VALUES ($1, $2)", first+i, data)
			return err
		})
		if err != nil {
			return nil, err
		}
		first += int64(got.count + n)
		out[n] = got
	}
	return out, nil
}
