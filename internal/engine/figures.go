package engine

import (
	"context"
	"errors"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/metric"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// Figures count what this engine did since it was made. They are those of this node: what other nodes did is in theirs.
type Figures struct {
	Definitions *metric.Vec[DefinitionFigures]
	Functions   *metric.Vec[FunctionFigures]
	Commits     *metric.Histogram // how long commits of steps took that succeeded
	Conflicts   metric.Counter    // commits that lost against another writer, and are repeated
	Failures    metric.Counter    // commits that failed for another reason
	TimerLag    *metric.Histogram // from when timers were due to the commit of what they caused
	ScheduleLag *metric.Histogram // from the fire times of schedules to the start

	due map[string]*metric.Counter // by kind of work: how much of it the last pass found
}

// DefinitionFigures count what happened to the instances of a definition.
type DefinitionFigures struct {
	Started, Retries                         metric.Counter
	Completed, Failed, Cancelled, Terminated metric.Counter
	Duration                                 *metric.Histogram // from the creation to the end
}

// FunctionFigures count the calls of a function: each delivery, also those that are repeated after a crash.
type FunctionFigures struct {
	OK, Failed metric.Counter
	Parked     metric.Counter // left to a person, or to another program
	Abandoned  metric.Counter // the answer was no longer waited for, or the engine ended
	Duration   *metric.Histogram
}

func (f *Figures) init() {
	f.Definitions = metric.NewVec(func() *DefinitionFigures {
		return &DefinitionFigures{Duration: metric.NewHistogram(metric.Long)}
	})
	f.Functions = metric.NewVec(func() *FunctionFigures {
		return &FunctionFigures{Duration: metric.NewHistogram(metric.Quick)}
	})
	f.Commits, f.TimerLag, f.ScheduleLag = metric.NewHistogram(metric.Quick), metric.NewHistogram(metric.Quick), metric.NewHistogram(metric.Quick)
	f.due = map[string]*metric.Counter{}
	for _, kind := range workKinds {
		f.due[kind] = new(metric.Counter)
	}
}

// Figures returns what is counted.
func (e *Engine) Figures() *Figures { return &e.figures }

// Due calls f with each kind of work, and how much of it the last pass found. It looks for a batch of each, so a large
// number is a lower bound.
func (f *Figures) Due(each func(kind string, n int64)) {
	for _, kind := range workKinds {
		each(kind, f.due[kind].Load())
	}
}

// committed counts a commit that was tried.
func (f *Figures) committed(took time.Duration, err error) {
	switch {
	case err == nil:
		f.Commits.Observe(took)
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrOutdated):
		f.Conflicts.Add(1)
	default:
		f.Failures.Add(1)
	}
}

// Failure is an instance that failed, or was put into quarantine.
type Failure struct {
	Instance store.Instance
	TraceID  string // "": it belongs to no trace
}

// observe counts what a commit did to an instance, and tells of its failure.
func (e *Engine) observe(c *store.Commit) {
	e.figures.records(c)
	e.tallies.count(c)
	if e.cfg.OnFailed == nil || c.Instance.Status != core.Failed && c.Instance.Quarantine == "" {
		return
	}
	for i := range c.Records {
		if r := &c.Records[i]; r.Type == core.RecFinished && r.Status == core.Failed || c.Instance.Quarantine != "" {
			failed := Failure{Instance: c.Instance}
			if at, ok := e.traceOf(c.Instance.ID, c.Instance.Trace, c.Instance.Created); ok {
				failed.TraceID = at.Trace.String()
			}
			e.cfg.OnFailed(failed)
			return
		}
	}
}

// records counts what a commit did to an instance.
func (f *Figures) records(c *store.Commit) {
	for i := range c.Records {
		switch c.Records[i].Type {
		case core.RecStarted:
			f.Definitions.Of(c.Instance.Definition).Started.Add(1)
		case core.RecRetrying:
			f.Definitions.Of(c.Instance.Definition).Retries.Add(1)
		case core.RecFinished:
			f.ended(&c.Instance)
		}
	}
}

func (f *Figures) ended(in *store.Instance) {
	d := f.Definitions.Of(in.Definition)
	d.Duration.Observe(time.Duration(in.Ended - in.Created))
	switch in.Status {
	case core.Completed:
		d.Completed.Add(1)
	case core.Failed:
		d.Failed.Add(1)
	case core.Cancelled:
		d.Cancelled.Add(1)
	case core.Terminated:
		d.Terminated.Add(1)
	}
}

// called counts a call that is over here; abandoned: nothing waits for its answer.
func (f *Figures) called(function string, took time.Duration, out *effect.Outcome, abandoned bool) {
	of := f.Functions.Of(function)
	switch {
	case abandoned:
		of.Abandoned.Add(1)
		return
	case out.Parked:
		of.Parked.Add(1)
		return
	case out.Failure != nil:
		of.Failed.Add(1)
	default:
		of.OK.Add(1)
	}
	of.Duration.Observe(took)
}

// Sizer is a store that knows how large it is.
type Sizer interface {
	// Size is the number of bytes that the store takes on disk, of all namespaces.
	Size(ctx context.Context) (int64, error)
}

// StoreSize is the size of the store in bytes; false: it is not known.
func (e *Engine) StoreSize(ctx context.Context) (int64, bool) {
	s, ok := e.store.(Sizer)
	if !ok {
		return 0, false
	}
	size, err := s.Size(ctx)
	return size, err == nil
}

// QueuedCalls is how many calls wait for a place among those in flight, and how many are in flight without one: those
// with an [effect.Outcome] Wait, and those that are postponed.
func (e *Engine) QueuedCalls() (queued, waiting int) {
	e.calls.mu.Lock()
	defer e.calls.mu.Unlock()
	return e.calls.queue.size, e.calls.placeless
}
