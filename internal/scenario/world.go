package scenario

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/redact"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// world is the engine that one scenario runs in, and what happened there.
type world struct {
	scenario    Scenario
	definitions []Definition
	run         *trial.Run
	engine      *engine.Engine // of the run
	store       *watchedStore  // likewise

	job      string // the id of the job under test; empty: the workflow creates none
	produced []expr.Value
	notes    []string
	refusal  error // why the start was refused
	failures []Failure
	broken   bool // an error or a limit ended the run
}

// runScenario runs one scenario to the end and compares the outcome with the expected one.
func runScenario(ctx context.Context, s Scenario, definitions []Definition, o Options, coverage []Coverage) Result {
	result := Result{Name: s.Name, At: s.At.Pos}
	w := &world{scenario: s, definitions: definitions}
	limited, stop := context.WithCancelCause(ctx) // ends with the limit that is exceeded
	defer stop(nil)
	if err := w.build(ctx, o, stop); err != nil {
		result.Failures = []Failure{{Field: "deploy", Message: err.Error()}}
		return result
	}
	if err := w.play(limited); err != nil {
		var limit *trial.LimitError
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
	if w.broken { // the expected outcome could not happen yet
		result.Failures = w.failures
	} else {
		w.unmocked(result.Outcome.Calls)
		result.Failures = append(w.failures, check(s.Expect, result.Outcome)...)
	}
	for _, row := range rows {
		for i, d := range definitions {
			if h := w.store.byID[row.ID]; h != nil && d.Program.ID == row.Definition && d.Program.Version == row.Version {
				coverage[i].add(h.records)
			}
		}
	}
	return result
}

func (w *world) build(ctx context.Context, o Options, stop context.CancelCauseFunc) error {
	first := w.definitions[0].Program
	w.store = &watchedStore{byID: map[string]*history{}}
	if w.scheduled() {
		w.store.fires, w.store.again = first.ID, w.scenario.Until != nil
	}
	if w.scenario.Expect.Lifecycle != nil {
		w.store.lifecycles = map[workflowKey]*engine.Lifecycle{}
		for _, d := range w.definitions {
			w.store.lifecycles[workflowKey{d.Program.ID, d.Program.Version}] = engine.NewLifecycle(d.Program)
		}
	}
	var err error
	w.run, err = trial.New(trial.Config{
		Clock: engine.NewVirtualClock(w.scenario.Clock), Limits: o.limits(), OnLimit: stop,
		Wrap: func(s store.Store) store.Store {
			w.store.Store = s
			return w.store
		},
		Engine: engine.Config{
			Invoker: mock.New(w.scenario.Mocks, nil), Languages: o.Languages, Mocked: w.mocked, Secrets: redact.PlainSets(w.secret).For,
			OnEmit: func(_ string, e event.Event) { w.produced = append(w.produced, e.Value()) },
		},
	})
	if err != nil {
		return err
	}
	w.engine = w.run.Engine
	if until := w.scenario.Until; until != nil {
		w.run.Until = until.AddTo(w.scenario.Clock)
	}
	for _, d := range w.definitions {
		if err := w.run.Deploy(ctx, d.Program); err != nil {
			return err
		}
	}
	if w.scenario.HasInput && !first.Job && !first.Start.AsInput {
		if err := w.engine.SetStartInput(ctx, first.ID, w.scenario.Input); err != nil {
			return w.refused(err)
		}
	}
	return nil
}

// secret is one of the scenario.
func (w *world) secret(name string) (expr.Value, bool) {
	v, ok := w.scenario.Secrets[name]
	return v, ok
}

// scheduled reports whether the workflow's own schedule starts it, because neither an input nor an
// event of the scenario does.
func (w *world) scheduled() bool {
	start := w.definitions[0].Program.Start
	s := start.Schedule
	switch {
	case s == nil || s.Cron == "" && !s.Every.Set && !s.After.Set || len(w.scenario.Events) > 0:
		return false
	case len(start.Events) > 0 && !start.AsInput:
		return true
	}
	return !w.scenario.HasInput
}

// play starts the workflow, then delivers events and takes and moves the clock until nothing more can
// happen.
func (w *world) play(ctx context.Context) error {
	if w.refusal != nil {
		return nil
	}
	if err := w.start(ctx); err != nil {
		return err
	}
	for _, e := range w.scenario.Events {
		w.run.At(e.After.AddTo(w.scenario.Clock), func(ctx context.Context) error {
			w.send(ctx, e)
			return nil
		})
	}
	for _, t := range w.scenario.Takes {
		w.run.At(t.After.AddTo(w.scenario.Clock), func(ctx context.Context) error {
			w.take(ctx, t)
			return nil
		})
	}
	return w.run.Finish(ctx)
}

func (w *world) start(ctx context.Context) error {
	first := w.definitions[0].Program
	if first.Job {
		return w.startJob(ctx)
	}
	byEvents := len(first.Start.Events) > 0 && !(first.Start.AsInput && w.scenario.HasInput)
	if byEvents || w.scheduled() {
		return nil
	}
	_, err := w.engine.Start(ctx, engine.StartRequest{Definition: first.ID, Version: first.Version, Input: w.scenario.Input})
	return w.refused(err)
}

// refused notes why the start is not allowed. It returns any other error.
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

func (w *world) send(ctx context.Context, e Event) {
	_, err := w.run.Send(ctx, e.Value)
	if err != nil {
		w.failures = append(w.failures, Failure{Field: "events", Message: fmt.Sprintf("the event at %s is not accepted: %v", e.At.Pos, err)})
	}
}

// unmocked adds a failure for each function that was called without a mock.
func (w *world) unmocked(calls []Call) {
	if len(w.scenario.Mocks[mock.Any]) > 0 {
		return
	}
	seen := map[string]bool{}
	for _, c := range calls {
		if len(w.scenario.Mocks[c.Function]) > 0 || seen[c.Function] || w.needsNoMock(c.Function) {
			continue
		}
		seen[c.Function] = true
		w.failures = append(w.failures, Failure{
			Field:   "mocks",
			Message: fmt.Sprintf("function %q was called without a mock, with the arguments %s", c.Function, c.Arguments),
		})
	}
}
