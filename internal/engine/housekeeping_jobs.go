package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// JobRetention says that jobs are deleted which did not change for a time.
type JobRetention struct {
	Workflow string   // empty: of all workflows
	States   []string // those in one of these; none: those that are over
	After    time.Duration
}

// sweepPart is how many jobs a pass looks at for one rule.
const sweepPart = 128

// sweep looks at all jobs of one rule and one state, some at a time, in the order of
// their creation.
type sweep struct {
	rule  JobRetention
	state string // empty: those that are over

	next   core.Time // when it begins again
	cursor int64     // Seq of the last that it looked at; 0: it has not begun
	first  core.Time // when the first of those it looked at will be due
}

func (h *house) addSweeps(r JobRetention) {
	r.After = min(r.After, MaxRetention)
	if len(r.States) == 0 {
		h.chores = append(h.chores, &sweep{rule: r})
	}
	for _, state := range r.States {
		h.chores = append(h.chores, &sweep{rule: r, state: state})
	}
}

func (s *sweep) due(core.Time) core.Time { return s.next }

func (s *sweep) putOff(until core.Time) { s.next, s.cursor = until, 0 }

// work goes on with a sweep.
func (s *sweep) work(ctx context.Context, e *Engine, now core.Time, tell func(error)) error {
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
		return err
	}
	var old []task
	for _, row := range rows {
		s.cursor = row.Seq
		if due := row.Updated + after; due > now {
			s.first = min(s.first, due)
			continue
		}
		if e.live.busy(row.ID) {
			continue // a pass does not wait for its step; the next sweep finds it
		}
		old = append(old, task{do: func(ctx context.Context) error {
			var changed *RevisionError
			err := e.DeleteJob(ctx, row.ID, row.Rev)
			switch {
			case err == nil:
				e.house.jobs.Add(1)
			case !isMissing(err) && !errors.As(err, &changed):
				return fmt.Errorf("housekeeping: delete job %s: %w", row.ID, err)
			}
			return nil
		}})
	}
	for _, err := range e.each(ctx, old) {
		if err != nil {
			tell(err)
		}
	}
	if len(rows) == sweepPart {
		return nil
	}
	s.next, s.cursor = max(s.first, now+sweepPause(s.rule.After)), 0
	return nil
}
