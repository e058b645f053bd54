package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
)

const (
	// maxBulk is how many jobs may be created together ("bulk-jobs").
	maxBulk = 10_000
	// maxBulkBytes is how much their definitions may have in all ("bulk-bytes"): each job
	// keeps its own.
	maxBulkBytes = 256 << 20
	// bulkPart is how much of it is written side by side.
	bulkPart = 4 << 20
)

// BulkError says which of many requests cannot be met.
type BulkError struct {
	Index int // from 0
	Err   error
}

func (e *BulkError) Error() string { return fmt.Sprintf("job %d: %v", e.Index+1, e.Err) }
func (e *BulkError) Unwrap() error { return e.Err }

// checkBulk refuses requests that are too many, or too large, to be met together.
func checkBulk(rs []JobRequest) error {
	refuse := func(pointer, format string, args ...any) error {
		return &InputError{Definition: rs[0].Workflow, Violations: []Violation{{pointer, fmt.Sprintf(format, args...)}}}
	}
	if len(rs) > maxBulk {
		return refuse("", "%d jobs at once; at most %d are allowed (limit bulk-jobs)", len(rs), maxBulk)
	}
	left := maxBulkBytes
	for _, r := range rs {
		bytes, _, large := expr.Measure(r.Definition, left, expr.MaxDepth)
		if left -= bytes; large || left < 0 {
			return refuse("/definition", "the definitions of %d jobs have more than %d bytes together (limit bulk-bytes); create fewer at once", len(rs), maxBulkBytes)
		}
	}
	return nil
}

// CreateJobs creates many jobs, several of them side by side. All requests are checked
// first: where one cannot be met, none is, and the error has a *BulkError for each of those.
// A later error is reported likewise; the others are created, in order of the requests, with an
// empty Job in place of those that failed. A job that an earlier request with the same Key created
// counts as existing, and has only its ID; where that request was another one, nothing is created
// and the error is a *KeyConflictError.
func (e *Engine) CreateJobs(ctx context.Context, rs []JobRequest) (jobs []Job, existing []bool, err error) {
	if err := checkBulk(rs); err != nil {
		return nil, nil, err
	}
	rs = slices.Clone(rs)
	jobs, existing = make([]Job, len(rs)), make([]bool, len(rs))
	var errs []error
	seen := map[string]bool{}
	for i, r := range rs {
		r = r.once()
		rs[i] = r
		if r.Key != "" {
			err := e.sameStart(ctx, r.start())
			if err != nil && !isMissing(err) {
				return nil, nil, err
			}
			existing[i] = err == nil
		}
		if existing[i] {
			jobs[i].ID = r.ID
			continue
		}
		_, _, err := e.jobFor(ctx, r)
		if err == nil && r.ID != "" && seen[r.ID] {
			err = &ExistsError{r.ID}
		}
		seen[r.ID] = true
		if err != nil {
			errs = append(errs, &BulkError{i, err})
		}
	}
	if len(errs) > 0 {
		return nil, nil, errors.Join(errs...)
	}
	for from := 0; from < len(rs); {
		to := bulkEnd(rs, from)
		tasks := make([]task, to-from)
		for i := range tasks {
			n := from + i
			tasks[i].do = func(ctx context.Context) (err error) {
				if !existing[n] {
					jobs[n], existing[n], err = e.createJobOnce(ctx, rs[n])
				}
				return err
			}
		}
		for i, err := range e.each(ctx, tasks) {
			if err != nil {
				errs = append(errs, &BulkError{from + i, err})
			}
		}
		from = to
	}
	return jobs, existing, errors.Join(errs...)
}

// createJobOnce creates a job, unless the same request with the same key did so in the meantime.
func (e *Engine) createJobOnce(ctx context.Context, r JobRequest) (job Job, existing bool, err error) {
	job, err = e.CreateJob(ctx, r)
	if r.Key == "" || !errors.As(err, new(*ExistsError)) {
		return job, false, err
	}
	job.ID = r.ID
	err = e.sameStart(ctx, r.start())
	return job, err == nil, err
}

// bulkEnd is how far requests go that are met side by side: as far as they have bulkPart
// bytes together, one at least. Each is in memory several times while it is written.
func bulkEnd(rs []JobRequest, from int) int {
	left := bulkPart
	for i := from; i < len(rs); i++ {
		bytes, _, large := expr.Measure(rs[i].Definition, left, expr.MaxDepth)
		if left -= bytes; i > from && (large || left < 0) {
			return i
		}
	}
	return len(rs)
}
