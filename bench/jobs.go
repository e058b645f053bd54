package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// jobOf is the i-th of n jobs as a store keeps it: of four workflows, three in four closed,
// ten for each client. What it is repeats itself after twenty.
func jobOf(i, n int) store.Instance {
	job := store.Job{Client: fmt.Sprintf("device-%07d", i%(n/10)), State: "DONE", Group: "CLOSED"}
	status, active := core.Completed, []string(nil)
	switch i % 20 {
	case 3, 4, 16:
		job.State, job.Group = "NEW", "OPEN"
	case 5, 10:
		job.State, job.Group = "WORK", "OPEN"
	}
	if job.Group == "OPEN" {
		status, active = core.Waiting, []string{job.State}
	}
	tags := []expr.Value{expr.String(fmt.Sprint("site-", i%100))}
	if i%5 == 0 {
		tags = append(tags, expr.String("a"))
	}
	if i%2 == 0 {
		tags = append(tags, expr.String("b"))
	}
	output := expr.Object(expr.Member{Key: "state", Value: expr.String(job.State)}, expr.Member{Key: "clientId", Value: expr.String(job.Client)})
	return store.Instance{
		ID: fmt.Sprintf("3c9f0a10-5d1e-4b7a-9a55-%012d", i), Definition: fmt.Sprint("update-", i%4), Version: "1", Digest: "d", Status: status, Active: active,
		Created: core.Time(i), Updated: core.Time(i), Labels: expr.Object(expr.Member{Key: "tags", Value: expr.Array(tags...)}), Job: job, Output: output,
	}
}

// fewJobs is how many there are to compare with.
const fewJobs = 1000

// fillJobs makes n jobs in a store: the first and the last ones in order, so that lists
// that begin there find the same of every n; those between side by side.
func fillJobs(ctx context.Context, s store.Store, n int) error {
	if _, err := store.PutDefinition(ctx, s, store.Definition{ID: "update-0", Version: "1", Digest: "d"}, nil, false); err != nil {
		return err
	}
	page := make([]byte, 300)
	part := func(from, to, flight int) error {
		_, err := batchOf(ctx, flight, max(to-from, 0), func(ctx context.Context, k int) error {
			return s.Commit(ctx, store.Commit{Instance: jobOf(from+k, n), Pages: []core.Page{{Data: page}}, Records: []core.Record{{Type: core.RecStarted}}})
		})
		return err
	}
	return cmp.Or(part(0, fewJobs, 1), part(fewJobs, n-fewJobs, fillers), part(max(n-fewJobs, fewJobs), n, 1))
}

// jobLists are lists of jobs that people ask for.
func jobLists() []struct {
	name string
	q    store.Query
} {
	tags := []store.Label{{Name: "tags", Value: "a"}, {Name: "tags", Value: "b"}}
	open := []string{"OPEN"}
	return []struct {
		name string
		q    store.Query
	}{
		{"group=OPEN&tag=a,b", store.Query{Groups: open, Tagged: tags}},
		{"group=OPEN&tag=site-5", store.Query{Groups: open, Tagged: []store.Label{{Name: "tags", Value: "site-5"}}}},
		{"group=OPEN", store.Query{Groups: open}},
		{"state=WORK", store.Query{State: "WORK"}},
		{"workflow=update-0", store.Query{Definition: "update-0"}},
		{"clientId=…&group=OPEN", store.Query{Client: fmt.Sprintf("device-%07d", 5), Groups: open}},
		{"all, newest first", store.Query{Newest: true}},
		{"group=OPEN&tag=a,b&offset=100", store.Query{Groups: open, Tagged: tags, Offset: 100}},
		{"all, limit=100", store.Query{Limit: 100}},
		{"all, limit=100&offset=500", store.Query{Limit: 100, Offset: 500}},
		{"group=OPEN&limit=100", store.Query{Groups: open, Limit: 100}},
	}
}

// listCost is what one list costs.
type listCost struct {
	found                 int
	rows, queries, pages  int64
	median                time.Duration
	counted               int64 // how many the query selects altogether
	countRows, countPages int64
	countTime             time.Duration
}

// lists is how often each list is read: their time is the median.
const lists = 21

// reading is what a store has read so far.
type reading struct{ rows, queries, pages int64 }

// jobStore is a store of jobs whose reading is measured.
type jobStore struct {
	store.Store
	read func(context.Context) (reading, error)
}

// read is what the database has read so far.
func (db database) read(ctx context.Context) (reading, error) {
	traffic, err := db.Traffic(ctx)
	count := db.Counters()
	return reading{count.Rows, count.Queries, traffic.Seen}, err
}

func costOfList(ctx context.Context, s jobStore, q store.Query) (c listCost, err error) {
	q.Jobs, q.Limit = true, cmp.Or(q.Limit, 10)
	spend := func(do func() error) (rows, queries, pages int64, err error) {
		before, err := s.read(ctx)
		if err != nil {
			return 0, 0, 0, err
		}
		if err := do(); err != nil {
			return 0, 0, 0, err
		}
		after, err := s.read(ctx)
		return after.rows - before.rows, after.queries - before.queries, after.pages - before.pages, err
	}
	c.rows, c.queries, c.pages, err = spend(func() error {
		list, err := s.Instances(ctx, q)
		c.found = len(list)
		return err
	})
	if err != nil {
		return c, err
	}
	began := time.Now()
	c.countRows, _, c.countPages, err = spend(func() (err error) {
		c.counted, err = s.Count(ctx, q)
		return err
	})
	c.countTime = time.Since(began)
	if err != nil {
		return c, err
	}
	var times []time.Duration
	for range lists {
		began := time.Now()
		if _, err := s.Instances(ctx, q); err != nil {
			return c, err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	c.median = times[len(times)/2]
	return c, nil
}

// reportJobs prints what lists of jobs cost among n, and among a thousand.
func reportJobs(ctx context.Context, n int) error { return reportJobsOf(ctx, n, reportJobsOnce) }

func reportJobsOf(ctx context.Context, n int, once func(context.Context, int) error) error {
	if n < fewJobs || n%fewJobs != 0 {
		return fmt.Errorf("-jobs: %d is not a multiple of %d", n, fewJobs)
	}
	for _, n := range []int{fewJobs, n} {
		if err := once(ctx, n); err != nil {
			return fmt.Errorf("%d jobs: %w", n, err)
		}
	}
	return nil
}

func reportJobsOnce(ctx context.Context, n int) error {
	dir, remove, err := workDir()
	if err != nil {
		return err
	}
	defer remove()
	db, err := openDatabase(dir)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := fillJobs(ctx, db.store, n); err != nil {
		_ = db.Close()
		return err
	}
	filled := time.Since(began)
	if err := db.Close(); err != nil {
		return err
	}
	began = time.Now()
	if db, err = openDatabase(dir); err != nil {
		return err
	}
	defer db.Close()
	fmt.Printf("jobs %d   filled in %s   opened in %s   file %s\n", n, filled.Round(time.Millisecond), time.Since(began).Round(time.Millisecond), mebibytes(fileBytes(dir)))
	if err := reportLists(ctx, jobStore{db.store, db.read}); err != nil {
		return err
	}
	return reportMoves(ctx, db, n)
}

// reportLists prints what each list costs, of ten jobs unless it says otherwise.
func reportLists(ctx context.Context, s jobStore) error {
	fmt.Printf("  %-32s%8s%8s%10s%8s%10s%12s%12s%12s\n", "list, limit=10", "found", "rows", "queries", "pages", "p50", "count", "its pages", "its time")
	for _, l := range jobLists() {
		c, err := costOfList(ctx, s, l.q)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		fmt.Printf("  %-32s%8d%8d%10d%8d%10s%12d%12d%12s\n", l.name, c.found, c.rows, c.queries, c.pages, short(c.median), c.counted, c.countPages, short(c.countTime))
	}
	return nil
}

// reportMoves prints what updates of a job's status cost, one at a time and 128 at a time.
func reportMoves(ctx context.Context, db database, n int) error {
	for _, kind := range []struct {
		name   string
		states []string
	}{{"updates in a state", []string{"WORK"}}, {"moves", []string{"WORK", "NEW"}}} {
		for _, flight := range []int{1, 128} {
			updates := min(n/2, 5_000)
			before := db.Counters()
			got, err := batchOf(ctx, flight, updates, func(ctx context.Context, k int) error {
				i := 20*(k%(n/20)) + 5 // in WORK or NEW, and far from one another
				in, err := db.store.Instance(ctx, jobOf(i, n).ID)
				if err != nil {
					return err
				}
				in.Job.State = kind.states[int(in.Rev)%len(kind.states)]
				in.Updated++
				err = db.store.Commit(ctx, store.Commit{Instance: in, Pages: []core.Page{{Data: make([]byte, 300)}}, Records: []core.Record{{Type: core.RecTaken}}})
				if errors.Is(err, store.ErrConflict) { // another commit of the same job came first; later ones go on
					err = nil
				}
				return err
			})
			if err != nil {
				return err
			}
			after := db.Counters()
			fmt.Printf("  %-20s in flight %-5d %10.0f/s   p50 %s   p99 %s   statements each %.1f\n", kind.name, flight, got.rate(), short(got.p50), short(got.p99),
				float64(after.Statements-before.Statements)/float64(updates))
		}
	}
	return nil
}
