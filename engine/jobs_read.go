package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/store"
)

// jobRow reads the row of a job. An instance that is none is not found.
func (e *Engine) jobRow(ctx context.Context, id string) (Instance, error) {
	row, err := e.Get(ctx, id)
	if err == nil && row.Job.State == "" {
		return Instance{}, &NotFoundError{Kind: "job", ID: id}
	}
	return row, noJob(err, id)
}

// Job reads a job. An instance that is none is not found.
func (e *Engine) Job(ctx context.Context, id string) (Job, error) {
	if e.memoryIsTruth() {
		if row, data, ok := e.live.idleJob(id); ok && row.Job.State != "" {
			return jobFrom(row, data), nil
		}
	}
	for range maxConflicts {
		row, err := e.jobRow(ctx, id)
		if err != nil {
			return Job{}, err
		}
		job, ok, err := e.jobAt(ctx, row)
		if ok || err != nil {
			return job, err
		}
	}
	return e.jobLocked(ctx, id)
}

// jobAt reads a job whose row was read. It reports false where it changed since: row and
// data must be of one revision.
func (e *Engine) jobAt(ctx context.Context, row Instance) (Job, bool, error) {
	if e.memoryIsTruth() {
		if now, data, ok := e.live.idleJob(row.ID); ok && now.Rev == row.Rev {
			return jobFrom(row, data), true, nil
		}
	}
	data, err := e.storedData(ctx, row)
	if err != nil {
		return Job{}, false, err
	}
	again, err := e.jobRow(ctx, row.ID)
	if err != nil {
		return Job{}, false, err
	}
	return jobFrom(row, data), again.Rev == row.Rev && again.Created == row.Created, nil
}

// storedData is the data of a job as it is stored. One in quarantine may have none that
// can be read; its row is all there is to show.
func (e *Engine) storedData(ctx context.Context, row Instance) (expr.Value, error) {
	pages, err := e.store.Pages(ctx, row.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return expr.Null, &NotFoundError{Kind: "job", ID: row.ID}
	case err != nil:
		return expr.Null, fmt.Errorf("read job %s: %w", row.ID, err)
	}
	prog, err := e.program(ctx, row.Digest)
	if err == nil && len(pages) > 0 {
		var state *core.State
		if state, err = decode(prog, pages); err == nil {
			return state.Data(), nil
		}
	}
	if err != nil && row.Quarantine == "" {
		return expr.Null, fmt.Errorf("read job %s: %w", row.ID, err)
	}
	return expr.Null, nil
}

// jobLocked reads a job that changes all the time, while nobody here can change it.
func (e *Engine) jobLocked(ctx context.Context, id string) (Job, error) {
	l := e.live.acquire(id)
	defer e.live.release(l)
	switch err := e.load(ctx, l); {
	case err != nil:
		return Job{}, noJob(err, id)
	case l.row.Job.State == "":
		return Job{}, &NotFoundError{Kind: "job", ID: id}
	case l.state == nil:
		return jobFrom(l.row, expr.Null), nil
	}
	return jobFrom(l.row, l.state.Data()), nil
}

// jobRows is how many rows of jobs are read at a time.
const jobRows = 100

// EachJob calls f with the jobs that a query selects, one after the other, until it returns
// false. One that changes while they are read is shown as it is then, if the query still
// selects it. Only one of them is in memory at a time.
func (e *Engine) EachJob(ctx context.Context, q store.Query, f func(*Job) bool) error {
	q.Jobs, q.Bare = true, true
	for left := q.Limit; ; {
		if q.Limit = jobRows; left > 0 {
			q.Limit = min(left, jobRows)
		}
		rows, err := e.store.Instances(ctx, q)
		if err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		for _, row := range rows {
			switch job, ok, err := e.jobListed(ctx, row, &q); {
			case err != nil:
				return fmt.Errorf("list jobs: %w", err)
			case !ok:
			case !f(&job):
				return nil
			case left == 1:
				return nil
			case left > 0:
				left--
			}
		}
		if len(rows) < q.Limit {
			return nil
		}
		q.After, q.Offset = rows[len(rows)-1].Seq, 0
	}
}

// jobListed is a job whose row was selected. It reports false where it is not any more.
func (e *Engine) jobListed(ctx context.Context, row Instance, q *store.Query) (Job, bool, error) {
	job, ok, err := e.jobAt(ctx, row)
	if !ok && (err == nil || isMissing(err)) {
		job, err = e.Job(ctx, row.ID)
		job.Seq = row.Seq
		ok = err == nil && job.Created == row.Created && q.Selects(&job.Instance)
	}
	if job.Instance.Status == core.Completed && q.Bare {
		job.Output = job.Status
	}
	if err != nil && !isMissing(err) {
		return Job{}, false, err
	}
	return job, ok, nil
}

// Jobs lists the jobs that a query selects, see EachJob. They are all in memory: it is for
// a bounded number.
func (e *Engine) Jobs(ctx context.Context, q store.Query) (out []Job, err error) {
	err = e.EachJob(ctx, q, func(j *Job) bool {
		out = append(out, *j)
		return true
	})
	return out, err
}

// CountJobs is how many jobs a query selects.
func (e *Engine) CountJobs(ctx context.Context, q store.Query) (int64, error) {
	q.Jobs = true
	return e.store.Count(ctx, q)
}

// JobStats counts jobs by workflow, state and group.
func (e *Engine) JobStats(ctx context.Context) ([]store.JobStat, error) {
	return e.store.JobStats(ctx)
}
