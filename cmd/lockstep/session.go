package main

import (
	"context"
	"sync"
	"time"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/effect/mock"
	"github.com/lockstep-workflows/lockstep/engine"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/ir"
	"github.com/lockstep-workflows/lockstep/scenario"
	"github.com/lockstep-workflows/lockstep/store/memory"
)

// session is one `lockstep run`: an engine over a memory store that lives as long
// as the first instance.
type session struct {
	app         *app
	ctx         context.Context
	flags       runFlags
	client      *http.Client
	definitions []definition
	input       expr.Value
	events      *feed
	engine      *engine.Engine
	clock       engine.Clock
	virtual     *engine.VirtualClock // where time is skipped

	// What records tell; they come from several goroutines.
	mu       sync.Mutex
	progress *progress
	records  int    // how many so far
	instance string // the first one
	reached  *expr.Value
}

// languages are the expression languages of all dialects.
func languages() expr.Languages {
	langs := jsonpath.Languages()
	langs[jsonschema.Lang] = jsonschema.Compiler{}
	return langs
}

func (a *app) newSession(ctx context.Context, files []string, flags runFlags) (*session, error) {
	s := &session{app: a, ctx: ctx, flags: flags, clock: engine.RealClock{}}
	if flags.skipTime {
		s.virtual = engine.NewVirtualClock(time.Now().UTC().Truncate(time.Second))
		s.clock = s.virtual
	}
	var err error
	if s.client, err = flags.outbound.client(); err != nil {
		return nil, err
	}
	if err := s.loadDefinitions(files); err != nil {
		return nil, err
	}
	if s.input, err = a.readInput(flags.input); err != nil {
		return nil, err
	}
	if s.events, err = a.openFeed(flags.events, s.clock.Now()); err != nil {
		return nil, err
	}
	invoker, err := s.invoker()
	if err != nil {
		return nil, err
	}
	return s, s.deploy(invoker)
}

// invoker calls services, or answers from mocks: then from those alone, so that a
// misspelled name never reaches a service.
func (s *session) invoker() (effect.Invoker, error) {
	if s.flags.mock == "" {
		return s.client, nil
	}
	text, err := readFile(s.flags.mock)
	if err != nil {
		return nil, err
	}
	mocks, doc, found := scenario.ReadMocks(s.flags.mock, text)
	if found.HasErrors() {
		return nil, s.app.invalidDocument("the mocks cannot be used", doc, found)
	}
	return mock.New(mocks, nil), nil
}

func (s *session) deploy(invoker effect.Invoker) error {
	var programs []*ir.Program
	for _, d := range s.definitions {
		programs = append(programs, d.Program)
	}
	s.progress = newProgress(s.app.err, programs, s.virtual != nil)
	var err error
	s.engine, err = engine.New(engine.Config{
		Store: memory.New(), Clock: s.clock, Invoker: invoker, Languages: languages(),
		Timezone: s.flags.timezone, Inline: s.flags.skipTime, OnRecord: s.record,
	})
	if err != nil {
		return usagef("--timezone: %v", err) // the only thing that can be wrong in an empty store
	}
	for _, p := range programs {
		if err := s.engine.Deploy(s.ctx, p); err != nil {
			return err
		}
	}
	s.engine.SetStartInput(s.first().ID, s.input)
	return nil
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
	if id == s.instance && r.Type == core.RecEntered && r.Node == s.flags.until {
		data := r.Data
		s.reached = &data
	}
}

// seen is what the records told so far.
func (s *session) seen() (instance string, reached *expr.Value, records int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance, s.reached, s.records
}
