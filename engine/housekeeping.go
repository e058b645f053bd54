package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/store"
)

// JobRetention says that jobs are deleted which did not change for a time.
type JobRetention struct {
	Workflow string   // empty: of all workflows
	States   []string // those in one of these; none: those that are over
	After    time.Duration
}

const (
	// sweepPart is how many jobs a pass looks at for one rule.
	sweepPart = 128
	// The time between two looks at all jobs of a rule is a part of its own time, within
	// these bounds.
	shortestSweep = time.Second
	longestSweep  = time.Hour
	sweepFraction = 32
	// maxRetention is the longest time: with more, instants do not fit.
	maxRetention = 100 * 365 * 24 * time.Hour
)

// housekeeper is no instance: of several nodes the one keeps house that would have it.
const housekeeper = "housekeeping"

// house is how far housekeeping is. Poll's lock is around what sweeps do; the instant of
// the next is read by others, too.
type house struct {
	sweeps []*sweep

	mu   sync.Mutex
	next core.Time
}

// sweep looks at all jobs of one rule and one state, some at a time, in the order of
// their creation.
type sweep struct {
	rule  JobRetention
	state string // empty: those that are over

	next   core.Time // when it begins again
	cursor int64     // Seq of the last that it looked at; 0: it has not begun
	first  core.Time // when the first of those it looked at will be due
}

func (h *house) init(rules []JobRetention) {
	for _, r := range rules {
		r.After = min(r.After, maxRetention)
		if len(r.States) == 0 {
			h.sweeps = append(h.sweeps, &sweep{rule: r})
		}
		for _, state := range r.States {
			h.sweeps = append(h.sweeps, &sweep{rule: r, state: state})
		}
	}
}

// due is when there is something to look at next.
func (h *house) due() (core.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next, len(h.sweeps) > 0
}

// sweepJobs deletes some of the jobs whose time is up. It reports whether there may be
// more to look at.
func (e *Engine) sweepJobs(ctx context.Context, now core.Time, tell func(error)) (more bool, err error) {
	if len(e.house.sweeps) == 0 || !e.mine(housekeeper) {
		return false, nil
	}
	var next core.Time
	var errs []error
	for i, s := range e.house.sweeps {
		if s.next <= now {
			if err := e.sweep(ctx, s, now, tell); err != nil {
				errs = append(errs, err)
				s.next, s.cursor = now+core.Time(longestRest), 0
			}
		}
		if i == 0 || s.next < next {
			next = s.next
		}
	}
	e.house.mu.Lock()
	e.house.next = next
	e.house.mu.Unlock()
	return next <= now, errors.Join(errs...)
}

// sweep goes on with one sweep.
func (e *Engine) sweep(ctx context.Context, s *sweep, now core.Time, tell func(error)) error {
	after := core.Time(s.rule.After)
	if s.cursor == 0 {
		s.first = now + after // what comes into the state from now on is not due before
	}
	q := store.Query{Jobs: true, Definition: s.rule.Workflow, State: s.state, After: s.cursor, Limit: sweepPart}
	if s.state == "" {
		q.Status = []core.Status{core.Completed, core.Failed, core.Cancelled, core.Terminated}
	}
	rows, err := e.store.Instances(ctx, q)
	if err != nil {
		return fmt.Errorf("housekeeping: %w", err)
	}
	var old []task
	for _, row := range rows {
		s.cursor = row.Seq
		if due := row.Updated + after; due > now {
			s.first = min(s.first, due)
			continue
		}
		old = append(old, task{do: func(ctx context.Context) error {
			var changed *RevisionError
			if err := e.DeleteJob(ctx, row.ID, row.Rev); err != nil && !isMissing(err) && !errors.As(err, &changed) {
				return fmt.Errorf("housekeeping: delete job %s: %w", row.ID, err)
			}
			return nil
		}})
	}
	for _, err := range e.each(ctx, old, true) {
		if err != nil {
			tell(err)
		}
	}
	if len(rows) == sweepPart {
		return nil
	}
	pause := min(max(s.rule.After/sweepFraction, shortestSweep), longestSweep)
	s.next, s.cursor = max(s.first, now+core.Time(pause)), 0
	return nil
}
