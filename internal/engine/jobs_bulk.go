package engine

import (
	"context"
	"errors"
	"fmt"

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

// CheckBulk refuses requests that are too many, or too large, to be met together.
func CheckBulk(rs []JobRequest) error {
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
// What goes wrong after that is told likewise; the others are created, in order of the
// requests, with an empty Job in place of those that are not.
func (e *Engine) CreateJobs(ctx context.Context, rs []JobRequest) ([]Job, error) {
	if err := CheckBulk(rs); err != nil {
		return nil, err
	}
	var errs []error
	seen := map[string]bool{}
	for i, r := range rs {
		_, _, err := e.jobFor(ctx, r)
		if err == nil && r.ID != "" && seen[r.ID] {
			err = &ExistsError{r.ID}
		}
		if seen[r.ID] = true; err != nil {
			errs = append(errs, &BulkError{i, err})
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	out := make([]Job, len(rs))
	for from := 0; from < len(rs); {
		to := bulkEnd(rs, from)
		tasks := make([]task, to-from)
		for i := range tasks {
			tasks[i].do = func(ctx context.Context) (err error) {
				out[from+i], err = e.CreateJob(ctx, rs[from+i])
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
	return out, errors.Join(errs...)
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
