package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// play is one run in the playground.
type play struct {
	ask     playAsk
	program *ir.Program
	run     *trial.Run
	engine  *engine.Engine          // of the run
	stop    context.CancelCauseFunc // ends the run
	room    int                     // how many more bytes of records fit the answer
	view    *api.PlayRun
	first   string // the id of the first instance
	steps   int    // steps made
	stops   []playStop
	limit   *trial.LimitError // the limit that ended the run; nil: none did
}

// playStop is an instance that stopped before a state.
type playStop struct {
	instance string
	record   core.Record
}

// play runs the first program, which may start the others, as far as the request asks. An error is a bug, or that of a client that went away.
func (s *Server) play(ctx context.Context, ask playAsk, programs []*ir.Program) (*api.PlayRun, error) {
	ctx, stop := context.WithCancelCause(ctx) // ends with the limit that is exceeded
	defer stop(nil)
	run := &play{
		ask: ask, program: programs[0], stop: stop, room: playBytes,
		view: &api.PlayRun{
			Stopped: []api.PlayStop{}, Instances: []api.Instance{}, Records: []api.PlayRecord{},
			Waits: []api.Wait{}, Notes: []string{},
		},
	}
	status := ""
	err := run.build(ctx, s.engine.Languages(), programs)
	if err != nil {
		err = fmt.Errorf("%w: playground: %w", errInternal, err)
	} else {
		status, err = run.advance(ctx)
	}
	if err != nil {
		if run.limit = limitOf(context.Cause(ctx)); run.limit == nil {
			return nil, err
		}
		status = api.PlayLimit
	}
	return run.view, run.complete(context.WithoutCancel(ctx), status)
}

// limitOf is the limit that ended a run; nil if none did.
func limitOf(cause error) *trial.LimitError {
	if errors.Is(cause, context.DeadlineExceeded) {
		return &trial.LimitError{Limit: "playground-time", Max: int(playTime.Seconds()), Unit: "seconds"}
	}
	e, _ := errors.AsType[*trial.LimitError](cause)
	return e
}

func (p *play) build(ctx context.Context, languages expr.Languages, programs []*ir.Program) error {
	limits := core.DefaultLimits
	limits.DataBytes = playData
	var stops []string
	if p.ask.steps >= 0 {
		stops = []string{"*"}
	}
	var err error
	p.run, err = trial.New(trial.Config{
		Clock:   engine.NewVirtualClock(p.ask.start),
		Limits:  trial.Limits{Of: "playground", Calls: playCalls, Steps: playSteps, Instances: playInstances},
		OnLimit: p.stop,
		Silent:  func(string) bool { return true }, // input or an event starts a run
		Engine: engine.Config{
			Invoker: mock.New(p.ask.scene.Mocks, nil), Languages: languages, OnRecord: p.record, Limits: &limits, Stops: stops,
			Mocked: func(f *ir.Function) bool { return p.ask.scene.Mocks.Answers(f.Name) },
		},
	})
	if err != nil {
		return err
	}
	p.run.Until = p.ask.until
	p.engine = p.run.Engine
	return p.run.Deploy(ctx, programs...)
}

// record adds a record to the answer. Only Poll calls it, so it needs no lock.
func (p *play) record(id string, r core.Record) {
	p.first = cmp.Or(p.first, id)
	switch r.Type {
	case core.RecStopped:
		p.stops = append(p.stops, playStop{id, r})
		return // the state's own record follows when it is entered
	case core.RecControl:
		if p.ask.steps >= 0 {
			return // it comes from step, not from the user
		}
	case core.RecFinished:
		p.stops = slices.DeleteFunc(p.stops, func(s playStop) bool { return s.instance == id })
	}
	v := api.PlayRecord{Instance: id, Record: ViewRecord(int64(len(p.view.Records)+1), &r)}
	text, err := encode(v)
	p.room -= len(text)
	switch {
	case err != nil || p.room < 0:
		p.stop(&trial.LimitError{Limit: "playground-bytes", Max: playBytes, Unit: "bytes of records"})
	case len(p.view.Records) == playRecords:
		p.stop(&trial.LimitError{Limit: "playground-records", Max: playRecords, Unit: "records"})
	default:
		p.view.Records = append(p.view.Records, v)
	}
}

// advance starts the workflow and runs it until nothing more can happen or the last step asked for is made.
func (p *play) advance(ctx context.Context) (string, error) {
	if refused, err := p.begin(ctx); refused || err != nil {
		return api.PlayNone, err
	}
	for _, e := range p.ask.scene.Events {
		p.run.At(e.After.AddTo(p.ask.start), func(ctx context.Context) error { return p.send(ctx, e) })
	}
	for _, t := range p.ask.scene.Takes {
		p.run.At(t.After.AddTo(p.ask.start), func(ctx context.Context) error { return p.take(ctx, t) })
	}
	for {
		if err := p.run.Poll(ctx); err != nil {
			return "", err
		}
		if len(p.stops) > 0 {
			if p.steps == p.ask.steps {
				return api.PlayStopped, nil
			}
			if err := p.step(ctx); err != nil {
				return "", err
			}
			continue
		}
		more, err := p.run.Advance(ctx)
		if err != nil {
			return "", err
		}
		if !more {
			return p.rest(ctx)
		}
	}
}

// begin starts the workflow, unless events do. A refused start becomes a note.
func (p *play) begin(ctx context.Context) (refused bool, err error) {
	switch start := p.program.Start; {
	case p.program.Job:
		client := p.ask.client
		client = cmp.Or(client, "client")
		var job engine.Job
		job, err = p.engine.CreateJob(ctx, engine.JobRequest{Workflow: p.program.ID, Client: client, Definition: p.ask.input, ID: "instance-1"})
		p.first = job.ID
	case len(start.Events) > 0 && p.ask.hasInput && !start.AsInput:
		err = p.engine.SetStartInput(ctx, p.program.ID, p.ask.input)
	case len(start.Events) == 0 || p.ask.hasInput:
		input := p.ask.input
		if !p.ask.hasInput {
			input = expr.EmptyObject
		}
		_, err = p.engine.Start(ctx, engine.StartRequest{Definition: p.program.ID, Input: input})
	}
	if problem := ofEngine(err); err != nil && problem != nil {
		p.note("the start was refused: %s", problem.Detail)
		return true, nil
	}
	return false, err
}

func (p *play) note(format string, args ...any) {
	p.view.Notes = append(p.view.Notes, fmt.Sprintf(format, args...))
}

// step lets the instance that stopped first run its next state.
func (p *play) step(ctx context.Context) error {
	at := p.stops[0]
	p.stops = p.stops[1:]
	p.steps++
	err := p.engine.Control(ctx, at.instance, core.Control{Verb: core.VerbResume})
	if _, ended := errors.AsType[*core.Rejected](err); ended {
		return nil // another branch ended the instance
	}
	return err
}

func (p *play) send(ctx context.Context, e scenario.Event) error {
	ev, err := event.FromValue(e.Value)
	if err != nil {
		p.note("the event at line %d was refused: %v", e.At.Pos.Line, err)
		return nil
	}
	sent, err := p.engine.Send(ctx, ev)
	if problem := ofEngine(err); err != nil && problem != nil {
		p.note("the event at line %d was refused: %s", e.At.Pos.Line, problem.Detail)
		return nil
	}
	if err == nil && len(sent.Matched) == 0 && len(sent.Started) == 0 && !sent.Duplicate {
		p.note("no instance waits for the event %s; it is kept", scenario.Describe(e.Value))
	}
	return err
}

func (p *play) take(ctx context.Context, t scenario.Take) error {
	if p.first == "" || !p.program.Job {
		p.note("the take at line %d is for a job, but the workflow creates none", t.At.Pos.Line)
		return nil
	}
	status := t.Status.With("state", expr.String(t.State))
	_, err := p.engine.UpdateJob(ctx, p.first, engine.JobUpdate{Actor: t.Actor, Status: status})
	if rejected, ok := errors.AsType[*core.Rejected](err); ok {
		p.note("the take at line %d was rejected: %s; open are %s", t.At.Pos.Line, rejected.Msg, scenario.DescribeOffers(rejected.Allowed))
		return nil
	}
	if problem := ofEngine(err); err != nil && problem != nil {
		p.note("the take at line %d was refused: %s", t.At.Pos.Line, problem.Detail)
		return nil
	}
	return err
}

// rest is the status of a run that cannot advance by itself, or not before the last instant asked for.
func (p *play) rest(ctx context.Context) (string, error) {
	if next, ok := p.run.Next(); ok {
		p.view.Next = next
		return api.PlayLater, nil
	}
	if p.first == "" {
		return api.PlayNone, nil
	}
	row, err := p.engine.Get(ctx, p.first)
	if err != nil {
		return "", err
	}
	if row.Status.Final() {
		return string(row.Status), nil
	}
	return api.PlayWaiting, nil
}

// complete fills in the state of the run.
func (p *play) complete(ctx context.Context, status string) error {
	v := p.view
	v.Status, v.Clock, v.Steps = status, p.run.Clock.Now(), p.steps
	if p.limit != nil {
		v.Limit = p.limit.Limit
	}
	for _, s := range p.stops {
		v.Stopped = append(v.Stopped, api.PlayStop{
			Instance: s.instance, Node: s.record.Node, Place: viewPlace(s.record.Pos), Data: dataOf(s.record.Data),
		})
	}
	rows, err := p.engine.Query(ctx, store.Query{})
	if err != nil {
		return err
	}
	for i := range rows {
		v.Instances = append(v.Instances, viewBrief(&rows[i]))
		if rows[i].ID == p.first {
			full := ViewInstance(&rows[i])
			v.Output, v.Error = full.Output, full.Error
		}
	}
	summary := ""
	if p.first != "" && status != api.PlayLimit {
		waiting, err := p.engine.Waiting(ctx, p.first)
		if err != nil {
			return err
		}
		calls, err := p.engine.OpenCalls(ctx, p.first)
		if err != nil {
			return err
		}
		why := viewWhy(waiting, calls, nil)
		v.Waits, summary = why.Waits, why.Summary
	}
	v.Message = p.message(status, summary)
	return nil
}

// message says in one sentence how the run ended.
func (p *play) message(status, summary string) string {
	now := p.run.Clock.Now()
	switch status {
	case api.PlayLimit:
		return "Stopped: " + p.limit.Error()
	case api.PlayNone:
		if len(p.view.Notes) > 0 {
			return "No instance was created: " + p.view.Notes[0]
		}
		return "No instance was created: the workflow starts with an event, and no event matched."
	case api.PlayStopped:
		return fmt.Sprintf("Stopped before %q.", p.stops[0].record.Node)
	case api.PlayLater:
		return fmt.Sprintf("%s It continues at %s.", summary, p.view.Next.Format(time.RFC3339))
	case string(core.Completed):
		if now.Equal(p.ask.start) {
			return "Completed at once."
		}
		return "Completed after " + elapsed(now.Sub(p.ask.start)) + " of virtual time."
	}
	return summary
}
