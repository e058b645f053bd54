package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/redact"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/secrets"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// session is one `lockstep run`: an engine over a memory store, until the first instance ends.
type session struct {
	app         *cli.App
	ctx         context.Context
	stop        context.CancelCauseFunc // ends the run
	flags       runFlags
	secrets     *secrets.Store // nil: there are none
	client      *http.Client
	router      *route.Router
	catalogue   *catalogue.Catalogue // nil: there is none
	definitions []load.Definition
	input       expr.Value
	moves       []move // of a job
	mocks       mock.Mocks
	events      *feed
	trial       *trial.Run
	engine      eventEngine // of the trial
	clock       engine.Clock
	virtual     *engine.VirtualClock // where time is skipped

	// Set from records, which come from several goroutines.
	mu       sync.Mutex
	progress *progress
	records  int    // how many so far
	instance string // the first one
	reached  *expr.Value
	steps    *stepper        // nil: the run does not stop
	asking   context.Context // ends a question to the user
}

func newSession(a *cli.App, ctx context.Context, files []string, flags runFlags) (*session, error) {
	s := &session{app: a, flags: flags, clock: engine.RealClock{}}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	if flags.skipTime {
		s.virtual = engine.NewVirtualClock(time.Now().UTC().Truncate(time.Second))
		s.clock = s.virtual
	}
	var err error
	if s.secrets, err = flags.secrets.Open(a); err != nil {
		return nil, err
	}
	if s.client, err = flags.outbound.Client(s.secrets); err != nil {
		return nil, err
	}
	s.router = flags.functions.Router(s.client, newLog(a.Err))
	if s.catalogue, err = flags.functions.Use(ctx, a, s.client, s.secrets); err != nil {
		return nil, err
	}
	if err := s.loadDefinitions(files); err != nil {
		return nil, err
	}
	if err := s.prepareJob(); err != nil {
		return nil, err
	}
	if s.input, err = a.ReadInput(ctx, flags.input); err != nil {
		return nil, err
	}
	if s.events, err = openFeed(a, ctx, flags.events, s.clock.Now()); err != nil {
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

// invoker calls services, or answers from mocks. With mocks it calls no service, so that a misspelled name
// never reaches one. With a catalogue besides the mocks, mocks come first.
func (s *session) invoker() (effect.Invoker, error) {
	if s.catalogue != nil {
		s.router.Catalogue = s.catalogue
	}
	live := secrets.Invoker(s.router, s.secrets)
	if s.flags.mock == "" {
		return live, nil
	}
	text, err := cli.ReadFile(s.ctx, s.flags.mock)
	if err != nil {
		return nil, err
	}
	mocks, doc, found := scenario.ReadMocks(s.flags.mock, text)
	if found.HasErrors() {
		return nil, s.app.InvalidDocument("the mocks cannot be used", doc, found)
	}
	s.mocks = mocks
	if s.catalogue == nil {
		return mock.New(mocks, nil).Log(live), nil
	}
	return mock.New(mocks, live), nil
}

// mocked reports whether a mock answers for a function that creates jobs.
func (s *session) mocked(f *ir.Function) bool { return s.mocks.Answers(f.Name) }

func (s *session) deploy(invoker effect.Invoker) error {
	var programs []*ir.Program
	for _, d := range s.definitions {
		programs = append(programs, d.Program)
	}
	s.progress = newProgress(s.app.Err, programs, s.virtual != nil, s.definitionOf)
	var stops []string
	if s.flags.step {
		stops, s.steps = []string{"*"}, newStepper(s.ctx, s.app.In, s.app.Err)
	}
	limits := scenario.DefaultLimits
	limits.Calls = 0
	if s.virtual == nil { // only in virtual time can a waiting loop run forever
		limits.Steps = 0
	}
	var err error
	s.trial, err = trial.New(trial.Config{
		Clock: s.virtual, Local: true, Limits: limits, OnLimit: s.stop, Silent: s.silent,
		Engine: engine.Config{
			Invoker: invoker, Languages: languages.All(), Timezone: s.flags.timezone, OnRecord: s.record, Stops: stops,
			Mocked: s.mocked, Secrets: redact.NewSets(s.secrets.Get).For,
		},
	})
	if err != nil {
		return cli.Usagef("--timezone: %v", err) // nothing else can be wrong with an empty store
	}
	s.engine = eventEngine{s.trial.Engine, s.events.refused}
	if err := s.trial.Deploy(s.ctx, programs...); err != nil {
		return err
	}
	if s.flags.input == "" || s.first().Job {
		return nil
	}
	return s.engine.SetStartInput(s.ctx, s.first().ID, s.input)
}

// silent reports whether a schedule starts nothing, because run starts the workflow itself.
func (s *session) silent(definition string) bool {
	return definition != s.first().ID || len(s.first().Start.Events) == 0
}

// eventEngine is an engine that continues after it has refused an event.
type eventEngine struct {
	*engine.Engine
	refused func(event.Event, error)
}

// Send reports a conflict with another event of the same id, instead of failing.
func (e eventEngine) Send(ctx context.Context, ev event.Event) (engine.Sent, error) {
	sent, err := e.Engine.Send(ctx, ev)
	if conflict, ok := errors.AsType[*engine.EventConflictError](err); ok {
		e.refused(ev, conflict)
		err = nil
	}
	return sent, err
}

func (s *session) close() {
	s.router.Close()
	s.client.Close()
}

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
	if !s.app.Problems {
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
		return "" // the types of its states are not shown
	}
	return row.Definition
}

// seen returns what is known from the records so far.
func (s *session) seen() (instance string, reached *expr.Value, records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance, s.reached, s.records
}
