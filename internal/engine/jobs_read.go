package engine

import (
	"context"
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
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
	if e.cacheIsCurrent() {
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
	if e.cacheIsCurrent() {
		if now, data, ok := e.live.idleJob(row.ID); ok && now.Rev == row.Rev {
			return jobFrom(row, data), true, nil
		}
	}
	list, _, err := e.store.States(ctx, []string{row.ID})
	switch {
	case err != nil:
		return Job{}, false, fmt.Errorf("read job %s: %w", row.ID, err)
	case len(list) == 0:
		return Job{}, false, &NotFoundError{Kind: "job", ID: row.ID}
	}
	return e.jobWith(ctx, row, &list[0])
}

// jobWith is a job of its row and its stored state, unless they are of two revisions.
func (e *Engine) jobWith(ctx context.Context, row Instance, s *store.State) (Job, bool, error) {
	if s.Rev != row.Rev || s.Created != row.Created {
		return Job{}, false, nil
	}
	state, err := e.readState(ctx, row, s)
	switch {
	case err != nil:
		return Job{}, false, fmt.Errorf("read job %s: %w", row.ID, err)
	case state == nil:
		return jobFrom(row, expr.Null), true, nil
	}
	return jobFrom(row, state.Data()), true, nil
}

// readState is the state of an instance as it is stored. It is nil where there is none, and where that of an
// instance in quarantine cannot be read: its row is all there is to show.
func (e *Engine) readState(ctx context.Context, row Instance, s *store.State) (*core.State, error) {
	prog, err := e.program(ctx, row.Digest)
	if err == nil {
		err = s.Damaged
	}
	var state *core.State
	if err == nil && len(s.Pages) > 0 {
		state, err = decode(prog, s.Pages, nil)
	}
	if err != nil && row.Quarantine == "" {
		return nil, err
	}
	return state, nil
}

// jobLocked reads a job under its lock, for a job that changes too often to be read without.
func (e *Engine) jobLocked(ctx context.Context, id string) (Job, error) {
	l, err := e.live.acquire(ctx, id, onRequest)
	if err != nil {
		return Job{}, err
	}
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
// selects it. Only some of them are in memory at a time, see [store.MaxStateBytes].
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
		r := jobReader{e: e, rows: rows, states: map[string]*store.State{}}
		for i := range rows {
			switch job, ok, err := r.listed(ctx, i, &q); {
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

// jobReader reads jobs whose rows were selected, many with one question to the store.
type jobReader struct {
	e      *Engine
	rows   []Instance
	asked  int // so many of the rows
	states map[string]*store.State
}

// listed is the job of a row. It reports false where the query does not select it any more.
func (r *jobReader) listed(ctx context.Context, i int, q *store.Query) (Job, bool, error) {
	row := r.rows[i]
	job, ok, err := r.job(ctx, i)
	if err == nil && !ok {
		job, err = r.e.Job(ctx, row.ID)
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

// job is the job of a row as that was selected; false: it changed since.
func (r *jobReader) job(ctx context.Context, i int) (Job, bool, error) {
	row := r.rows[i]
	if r.e.cacheIsCurrent() {
		if now, data, ok := r.e.live.idleJob(row.ID); ok && now.Rev == row.Rev {
			return jobFrom(row, data), true, nil
		}
	}
	if i >= r.asked {
		if err := r.ask(ctx, i); err != nil {
			return Job{}, false, err
		}
	}
	s := r.states[row.ID]
	if s == nil { // it is deleted, or was in memory when the store was asked
		return Job{}, false, nil
	}
	delete(r.states, row.ID)
	return r.e.jobWith(ctx, row, s)
}

// ask reads the states of the rows from one on, as many as the store gives at a time. Those of
// jobs that are in memory are not needed.
func (r *jobReader) ask(ctx context.Context, i int) error {
	var ids []string
	var ends []int // of the rows, behind each
	for k := i; k < len(r.rows); k++ {
		if k > i && r.e.cacheIsCurrent() {
			if now, _, ok := r.e.live.idleJob(r.rows[k].ID); ok && now.Rev == r.rows[k].Rev {
				continue
			}
		}
		ids, ends = append(ids, r.rows[k].ID), append(ends, k+1)
	}
	list, through, err := r.e.store.States(ctx, ids)
	if err != nil {
		return err
	}
	for k := range list {
		r.states[list[k].ID] = &list[k]
	}
	if r.asked = len(r.rows); through < len(ids) {
		r.asked = ends[max(through, 1)-1]
	}
	return nil
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
	q.Jobs, q.Limit = true, 0
	return e.store.Count(ctx, q)
}

// JobStats counts jobs by workflow, state and group.
func (e *Engine) JobStats(ctx context.Context) ([]store.JobStat, error) {
	return e.store.JobStats(ctx)
}
