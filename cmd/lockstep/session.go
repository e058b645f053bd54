package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/effect/openapi"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// session is one `lockstep run`: an engine over a memory store that lives as long
// as the first instance.
type session struct {
	app         *app
	ctx         context.Context
	stop        context.CancelCauseFunc // ends the run
	flags       runFlags
	client      *http.Client
	catalogue   *catalogue.Catalogue // nil: there is none
	definitions []definition
	input       expr.Value
	moves       []move // of a job
	mocks       mock.Mocks
	events      *feed
	engine      eventEngine
	clock       engine.Clock
	virtual     *engine.VirtualClock // where time is skipped

	// What records tell; they come from several goroutines.
	mu       sync.Mutex
	progress *progress
	records  int    // how many so far
	instance string // the first one
	reached  *expr.Value
	steps    *stepper        // nil: the run does not stop
	asking   context.Context // a question to the person ends with it
}

func (a *app) newSession(ctx context.Context, files []string, flags runFlags) (*session, error) {
	s := &session{app: a, flags: flags, clock: engine.RealClock{}}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	if flags.skipTime {
		s.virtual = engine.NewVirtualClock(time.Now().UTC().Truncate(time.Second))
		s.clock = s.virtual
	}
	var err error
	if s.client, err = flags.outbound.client(); err != nil {
		return nil, err
	}
	if s.catalogue, err = flags.functions.use(ctx, a, s.client); err != nil {
		return nil, err
	}
	if err := s.loadDefinitions(files); err != nil {
		return nil, err
	}
	if err := s.prepareJob(); err != nil {
		return nil, err
	}
	if s.input, err = a.readInput(ctx, flags.input); err != nil {
		return nil, err
	}
	if s.events, err = a.openFeed(ctx, flags.events, s.clock.Now()); err != nil {
		return nil, err
	}
	invoker, err := s.invoker()
	if err != nil {
		return nil, err
	}
	if err := s.deploy(invoker); err != nil {
		return nil, s.explain(err)
	}
	return s, nil
}

// catalogued lists the functions of the catalogue.
func (s *session) catalogued() []string {
	if s.catalogue == nil {
		return nil
	}
	return s.catalogue.Names()
}

// invoker calls services, or answers from mocks: then from those alone, so that a
// misspelled name never reaches a service. With a catalogue beside the mocks, these
// come first.
func (s *session) invoker() (effect.Invoker, error) {
	router := &effect.Router{HTTP: s.client, OpenAPI: openapi.New(s.client)}
	if s.catalogue != nil {
		router.Catalogue = s.catalogue
	}
	if s.flags.mock == "" {
		return router, nil
	}
	text, err := readFile(s.ctx, s.flags.mock)
	if err != nil {
		return nil, err
	}
	mocks, doc, found := scenario.ReadMocks(s.flags.mock, text)
	if found.HasErrors() {
		return nil, s.app.invalidDocument("the mocks cannot be used", doc, found)
	}
	s.mocks = mocks
	if s.catalogue == nil {
		return mock.New(mocks, nil), nil
	}
	return mock.New(mocks, router), nil
}

// mocked reports whether a mock answers for a function that creates jobs.
func (s *session) mocked(f *ir.Function) bool { return s.mocks.Answers(f.Name) }

func (s *session) deploy(invoker effect.Invoker) error {
	var programs []*ir.Program
	for _, d := range s.definitions {
		programs = append(programs, d.Program)
	}
	s.progress = newProgress(s.app.err, programs, s.virtual != nil, s.definitionOf)
	var stops []string
	if s.flags.step {
		stops, s.steps = []string{"*"}, newStepper(s.ctx, s.app.in, s.app.err)
	}
	var err error
	s.engine.refused = s.events.refused
	s.engine.Engine, err = engine.New(engine.Config{
		Store: s.store(), Clock: s.clock, Invoker: invoker, Languages: languages.All(),
		Timezone: s.flags.timezone, Inline: s.virtual != nil, OnRecord: s.record, Stops: stops,
		Mocked: s.mocked,
	})
	if err != nil {
		return usagef("--timezone: %v", err) // the only thing that can be wrong in an empty store
	}
	for _, p := range programs {
		if err := s.engine.Deploy(s.ctx, p); err != nil {
			return err
		}
	}
	if s.flags.input == "" || s.first().Job {
		return nil
	}
	return s.engine.SetStartInput(s.ctx, s.first().ID, s.input)
}

// store keeps no history, so that a workflow that goes on for ever does not fill the
// memory. Where time is skipped, a loop without an end must be stopped.
func (s *session) store() store.Store {
	limits := scenario.Limits{Instances: scenario.DefaultLimits.Instances}
	if s.virtual != nil {
		limits.Steps = scenario.DefaultLimits.Steps
	}
	return &scenario.Guard{Store: memory.New(), Limits: limits, Forget: true, OnLimit: func(e *scenario.LimitError) { s.stop(e) }}
}

// eventEngine is an engine that goes on when it has refused an event.
type eventEngine struct {
	*engine.Engine
	refused func(event.Event, error)
}

// Send tells what another event of the same id makes of an event, instead of failing.
func (e eventEngine) Send(ctx context.Context, ev event.Event) (engine.Sent, error) {
	sent, err := e.Engine.Send(ctx, ev)
	var conflict *engine.EventConflictError
	if errors.As(err, &conflict) {
		e.refused(ev, conflict)
		err = nil
	}
	return sent, err
}

func (s *session) close() { s.client.Close() }

// record follows what instances do.
func (s *session) record(id string, r core.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records++
	if s.instance == "" {
		s.instance = id
	}
	if s.reached != nil {
		return
	}
	if !s.app.problems {
		s.progress.record(id, id != s.instance, r)
	}
	if s.steps != nil {
		switch r.Type {
		case core.RecStopped:
			s.steps.stops = append(s.steps.stops, stop{id, r})
		case core.RecFinished:
			s.steps.over(id, r.Status)
		}
	}
	if id == s.instance && r.Type == core.RecEntered && r.Node == s.flags.until {
		data := r.Data
		s.reached = &data
	}
}

// definitionOf is the id of an instance's definition.
func (s *session) definitionOf(instance string) string {
	row, err := s.engine.Get(context.WithoutCancel(s.ctx), instance) // also of what ends with the run
	if err != nil {
		return "" // the types of its states are not told
	}
	return row.Definition
}

// seen is what the records told so far.
func (s *session) seen() (instance string, reached *expr.Value, records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance, s.reached, s.records
}
