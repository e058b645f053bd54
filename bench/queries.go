package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/pagestat"
	"github.com/lockstep-workflows/lockstep/internal/query"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

// fillMixed makes n instances of all kinds, of which the last is created now.
func fillMixed(ctx context.Context, s store.Store, n int, now core.Time) error {
	if _, err := store.PutDefinition(ctx, s, store.Definition{ID: "d", Version: "1", Digest: "x"}, nil, false); err != nil {
		return err
	}
	const batch = 1000
	for from := 0; from < n; from += batch {
		all := store.Commit{Instance: store.Instance{ID: fmt.Sprint("batch-", from), Definition: "batch", Status: core.Completed}}
		for i := from; i < min(n, from+batch); i++ {
			all.Children = append(all.Children, store.NewInstance{Instance: storetest.Mixed(i, n, now)})
		}
		if err := s.Commit(ctx, all); err != nil {
			return err
		}
	}
	return nil
}

// queryRuns is how often each question is asked: its time is the median.
const queryRuns = 5

// reportQueries prints what the questions of the page and of the command line cost among n instances: the rows that
// statements returned, those of indexes included; the pages of the file that a connection with an empty cache reads; the time.
func reportQueries(ctx context.Context, n int) error {
	filters, err := storetest.Filters("internal/query")
	if err != nil {
		return fmt.Errorf("-queries runs in the root of the repository: %w", err)
	}
	dir, remove, err := workDir()
	if err != nil {
		return err
	}
	defer remove()
	db, err := openDatabase(dir)
	if err != nil {
		return err
	}
	defer db.Close()
	now := core.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	began := time.Now()
	if err := fillMixed(ctx, db.store, n, now); err != nil {
		return err
	}
	fmt.Printf("queries %d   filled in %s   file %s\n", n, time.Since(began).Round(time.Millisecond), mebibytes(fileBytes(dir)))
	fmt.Printf("%-44s%-10s%8s%8s%8s%10s\n", "filter", "way", "found", "rows", "pages", "p50")
	var worst queryCost
	for _, f := range filters {
		for _, way := range []string{"newest", "oldest", "count"} {
			c, err := costOfQuery(ctx, db, f.Text, way, now)
			if err != nil {
				return fmt.Errorf("%s: %w", f.Text, err)
			}
			fmt.Printf("%-44s%-10s%8d%8d%8d%10s\n", f.Text, way, c.found, c.rows, c.pages, short(c.median))
			worst = queryCost{max(worst.found, c.found), max(worst.rows, c.rows), max(worst.pages, c.pages), max(worst.median, c.median)}
		}
	}
	fmt.Printf("%-44s%-10s%8d%8d%8d%10s\n", "the most", "", worst.found, worst.rows, worst.pages, short(worst.median))
	return nil
}

// queryCost is what one question costs.
type queryCost struct {
	found, rows, pages int64
	median             time.Duration
}

func costOfQuery(ctx context.Context, db database, filter, way string, now core.Time) (c queryCost, err error) {
	f, err := query.Parse(filter, now)
	if err != nil {
		return c, err
	}
	f.Query.Newest = way == "newest"
	q, whole := f.Query.Indexed()
	q.Limit = storetest.MostFound
	ask := func() error {
		if way == "count" && whole && f.Exact {
			q.Limit = storetest.MostCounted
			c.found, err = db.store.Count(ctx, q)
			return err
		}
		list, err := db.store.Instances(ctx, q)
		c.found = int64(len(slices.DeleteFunc(list, func(in store.Instance) bool { return !f.Selects(&in) })))
		return err
	}
	var times []time.Duration
	for range queryRuns {
		if err := pagestat.Forget(ctx, db.DB); err != nil {
			return c, err
		}
		before, err := db.Traffic(ctx)
		if err != nil {
			return c, err
		}
		rows := db.Counters().Rows
		began := time.Now()
		if err := ask(); err != nil {
			return c, err
		}
		times = append(times, time.Since(began))
		c.rows = db.Counters().Rows - rows
		after, err := db.Traffic(ctx)
		if err != nil {
			return c, err
		}
		c.pages = after.Missed - before.Missed
	}
	slices.Sort(times)
	c.median = times[len(times)/2]
	return c, nil
}
