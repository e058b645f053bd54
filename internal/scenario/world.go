package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// world is what one scenario runs in: an engine of its own, and a clock that moves
// only when nothing is left to do.
type world struct {
	scenario    Scenario
	definitions []Definition
	clock       *engine.VirtualClock
	store       *watchedStore
	engine      *engine.Engine

	job      string // where one is tested
	produced []expr.Value
	notes    []string
	refusal  error // of the start
	failures []Failure
	broken   bool // it did not come to its end
}

// runScenario runs one scenario to the end and compares what happened with what
// was expected.
func runScenario(ctx context.Context, s Scenario, definitions []Definition, o Options, coverage []Coverage) Result {
	result := Result{Name: s.Name, At: s.At.Pos}
	w := &world{scenario: s, definitions: definitions, clock: engine.NewVirtualClock(s.Clock)}
	limited, stop := context.WithCancelCause(ctx) // ends with the limit that is exceeded
	defer stop(nil)
	if err := w.build(ctx, o, stop); err != nil {
		result.Failures = []Failure{{Field: "deploy", Message: err.Error()}}
		return result
	}
	if err := w.run(limited); err != nil {
		var limit *LimitError
		field := "engine"
		if errors.As(context.Cause(limited), &limit) {
			field, err = "limit", limit
		}
		w.failures = append(w.failures, Failure{Field: field, Message: err.Error()})
		w.broken = true
	}
	rows, err := w.store.Instances(ctx, store.Query{})
	if err != nil {
		w.failures = append(w.failures, Failure{Field: "engine", Message: err.Error()})
	}
	result.Outcome = w.outcome(ctx, rows)
	if w.broken { // what was expected could not happen yet
		result.Failures = w.failures
	} else {
		w.unmocked(result.Outcome.Calls)
		result.Failures = append(w.failures, check(s.Expect, result.Outcome)...)
	}
	for _, row := range rows {
		for i, d := range definitions {
			if h := w.store.byID[row.ID]; h != nil && d.Program.ID == row.Definition {
				coverage[i].add(h.records)
			}
		}
	}
	return result
}

func (w *world) build(ctx context.Context, o Options, stop context.CancelCauseFunc) error {
	first := w.definitions[0].Program
	guard := &Guard{Store: memory.New(), Limits: o.Limits.orDefault(), Forget: true, OnLimit: func(e *LimitError) { stop(e) }}
	w.store = &watchedStore{Store: guard, byID: map[string]*history{}}
	if w.byCron() {
		w.store.fires = first.ID
	}
	created := 0
	var err error
	w.engine, err = engine.New(engine.Config{
		Store: w.store, Clock: w.clock, Invoker: mock.New(w.scenario.Mocks, nil), Languages: o.Languages,
		Timezone: "UTC", Inline: true, Mocked: w.mocked,
		NewID: func() string {
			created++
			return fmt.Sprintf("instance-%d", created)
		},
		OnEmit: func(_ string, e event.Event) { w.produced = append(w.produced, e.Value()) },
	})
	if err != nil {
		return err
	}
	for _, d := range w.definitions {
		if err := w.engine.Deploy(ctx, d.Program); err != nil {
			return err
		}
	}
	if w.scenario.HasInput && !first.Job {
		if err := w.engine.SetStartInput(ctx, first.ID, w.scenario.Input); err != nil {
			return w.refused(err)
		}
	}
	return nil
}

// byCron reports whether the workflow's own schedule starts it: where neither an
// input nor an event of the scenario does.
func (w *world) byCron() bool {
	start := w.definitions[0].Program.Start
	switch {
	case start.Schedule == nil || start.Schedule.Cron == "" || len(w.scenario.Events) > 0:
		return false
	case len(start.Events) > 0:
		return true
	}
	return !w.scenario.HasInput
}

// run starts the workflow, then sends events and moves time until nothing more can
// happen.
func (w *world) run(ctx context.Context) error {
	if w.refusal != nil {
		return nil
	}
	if err := w.start(ctx); err != nil {
		return err
	}
	pending := w.arrivals()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := w.engine.Poll(ctx); err != nil {
			return err
		}
		now := w.clock.Now()
		next, ok := w.engine.Next()
		if ok && !next.After(now) {
			continue // Poll ended before its work did
		}
		if len(pending) > 0 && !pending[0].at.After(now) {
			pending[0].deliver(ctx)
			pending = pending[1:]
			continue
		}
		if len(pending) > 0 && (!ok || pending[0].at.Before(next)) {
			next, ok = pending[0].at, true
		}
		if !ok {
			return nil
		}
		w.clock.Advance(next)
	}
}

func (w *world) start(ctx context.Context) error {
	first := w.definitions[0].Program
	if first.Job {
		return w.startJob(ctx)
	}
	if len(first.Start.Events) > 0 || w.byCron() {
		return nil
	}
	_, err := w.engine.Start(ctx, engine.StartRequest{Definition: first.ID, Input: w.scenario.Input})
	return w.refused(err)
}

// refused notes that the start is not allowed; it passes on any other error.
func (w *world) refused(err error) error {
	var input *engine.InputError
	var schedule *engine.ScheduleError
	var rejected *core.Rejected
	if errors.As(err, &input) || errors.As(err, &schedule) || errors.As(err, &rejected) {
		w.refusal = err
		w.notes = append(w.notes, "the start was refused: "+err.Error())
		return nil
	}
	return err
}

// arrival is an event or a take with the instant at which it comes.
type arrival struct {
	deliver func(context.Context)
	at      time.Time
}

// arrivals lists the scenario's events and takes by time; those of one instant as
// listed.
func (w *world) arrivals() []arrival {
	var out []arrival
	for _, e := range w.scenario.Events {
		out = append(out, arrival{func(ctx context.Context) { w.send(ctx, e) }, e.After.AddTo(w.scenario.Clock)})
	}
	for _, t := range w.scenario.Takes {
		out = append(out, arrival{func(ctx context.Context) { w.take(ctx, t) }, t.After.AddTo(w.scenario.Clock)})
	}
	slices.SortStableFunc(out, func(a, b arrival) int { return a.at.Compare(b.at) })
	return out
}

func (w *world) send(ctx context.Context, e Event) {
	ev, err := event.FromValue(e.Value)
	if err == nil {
		_, err = w.engine.Send(ctx, ev)
	}
	if err != nil {
		w.failures = append(w.failures, Failure{Field: "events", Message: fmt.Sprintf("the event at %s is not accepted: %v", e.At.Pos, err)})
	}
}

// unmocked reports the functions that were called without a mock.
func (w *world) unmocked(calls []Call) {
	if len(w.scenario.Mocks[mock.Any]) > 0 {
		return
	}
	seen := map[string]bool{}
	for _, c := range calls {
		if len(w.scenario.Mocks[c.Function]) > 0 || seen[c.Function] || w.createsJobs(c.Function) {
			continue
		}
		seen[c.Function] = true
		w.failures = append(w.failures, Failure{
			Field:   "mocks",
			Message: fmt.Sprintf("function %q was called without a mock, with the arguments %s", c.Function, c.Arguments),
		})
	}
}
