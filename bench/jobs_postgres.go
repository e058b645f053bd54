package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// reportJobsOnPostgres is reportJobs for a PostgreSQL, whose statistics must be loaded. Rows are those that statements returned,
// pages the blocks of 8 KiB that they looked at.
func reportJobsOnPostgres(ctx context.Context, address string, n int) error {
	return reportJobsOf(ctx, n, func(ctx context.Context, n int) error {
		s, err := openPostgres(address)
		if err != nil {
			return err
		}
		defer s.close()
		c, err := pgx.Connect(ctx, address)
		if err != nil {
			return err
		}
		defer func() { complain(c.Close(context.WithoutCancel(ctx))) }()
		if _, err := c.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
			return err
		}
		began := time.Now()
		if err := fillJobs(ctx, s.Store, n); err != nil {
			return err
		}
		filled := time.Since(began)
		if _, err := c.Exec(ctx, "VACUUM ANALYZE"); err != nil { // as autovacuum does in time
			return err
		}
		fmt.Printf("jobs %d   filled in %s\n", n, filled.Round(time.Millisecond))
		return reportLists(ctx, jobStore{s.Store, func(ctx context.Context) (out reading, err error) {
			err = c.QueryRow(ctx, `SELECT coalesce(sum(rows), 0)::bigint, coalesce(sum(calls), 0)::bigint, coalesce(sum(shared_blks_hit + shared_blks_read), 0)::bigint
				FROM pg_stat_statements WHERE query ~ 'FROM .*(instances|jobs|labels|lanes)' AND query !~ 'pg_stat_statements'`).Scan(&out.rows, &out.queries, &out.pages)
			return out, err
		}})
	})
}
