package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// How a run in the playground ended, beside the statuses that are final.
const (
	playWaiting = "waiting" // nothing more can happen by itself
	playStopped = "stopped" // before a state: all steps are made
	playLater   = "later"   // the next thing happens after until
	playLimit   = "limit"   // it was cut off
	playNone    = "none"    // there is no instance
)

// play is one run.
type play struct {
	ask     playAsk
	program *ir.Program
	clock   *engine.VirtualClock
	engine  *engine.Engine
	stop    context.CancelFunc
	room    int // bytes of records that are left
	view    *playRunView
	pending []playArrival
	first   string // instance
	steps   int    // made
	stops   []playStop
	over    *playLimitError
}

type playStop struct {
	instance string
	record   core.Record
}

// playArrival is an event or a take, with the instant at which it comes.
type playArrival struct {
	at      time.Time
	deliver func(context.Context) error
}

// playLimitError says which limit a run went beyond.
type playLimitError struct{ limit, text string }

func (e *playLimitError) Error() string { return e.text + " (limit " + e.limit + ")" }

// play runs a program as far as was asked, until ctx ends. An error is a fault of ours.
func (s *Server) play(ctx context.Context, ask playAsk, p *ir.Program) (*playRunView, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	run := &play{
		ask: ask, program: p, stop: cancel, clock: engine.NewVirtualClock(ask.start), room: playBytes,
		view: &playRunView{Stopped: []playStopView{}, Instances: []instanceView{}, Records: []json.RawMessage{}, Waits: []waitView{}, Notes: []string{}},
	}
	status := ""
	err := run.build(ctx, s.engine.Languages())
	if err != nil {
		err = fmt.Errorf("%w: playground: %w", errInternal, err)
	} else {
		status, err = run.happen(ctx)
	}
	if err != nil {
		if status, err = run.cut(ctx, err); err != nil {
			return nil, err
		}
	}
	return run.view, run.tell(context.WithoutCancel(ctx), status)
}

func (p *play) build(ctx context.Context, languages expr.Languages) error {
	guard := &scenario.Guard{
		Store: silent{memory.New()}, Forget: true,
		Limits:  scenario.Limits{Calls: playCalls, Steps: playSteps, Instances: playInstances},
		OnLimit: func(e *scenario.LimitError) { p.exceeded(beyond(e)) },
	}
	limits := core.DefaultLimits
	limits.DataBytes = playData
	var stops []string
	if p.ask.steps >= 0 {
		stops = []string{"*"}
	}
	created := 0
	var err error
	p.engine, err = engine.New(engine.Config{
		Store: guard, Clock: p.clock, Invoker: mock.New(p.ask.scene.Mocks, nil), Languages: languages,
		Timezone: "UTC", Inline: true, OnRecord: p.record, Limits: &limits, Stops: stops,
		Mocked: func(f *ir.Function) bool { return p.ask.scene.Mocks.Answers(f.Name) },
		NewID: func() string {
			created++
			return fmt.Sprintf("instance-%d", created)
		},
	})
	if err != nil {
		return err
	}
	return p.engine.Deploy(ctx, p.program)
}

// silent is a store without schedules: a run is started by hand or by an event.
type silent struct{ store.Store }

// PutDefinition leaves the schedule out.
func (s silent) PutDefinition(ctx context.Context, d store.Definition, _ *store.Schedule, move bool) (store.Definition, error) {
	return s.Store.PutDefinition(ctx, d, nil, move)
}

// record keeps what happens. It is called from Poll alone.
func (p *play) record(id string, r core.Record) {
	if p.first == "" {
		p.first = id
	}
	switch r.Type {
	case core.RecStopped:
		p.stops = append(p.stops, playStop{id, r})
		return // the state's own record follows when it is entered
	case core.RecControl:
		if p.ask.steps >= 0 {
			return // ours
		}
	case core.RecFinished:
		p.stops = slices.DeleteFunc(p.stops, func(s playStop) bool { return s.instance == id })
	}
	text, err := encode(playRecord{id, viewRecord(int64(len(p.view.Records)+1), &r)})
	switch p.room -= len(text); {
	case err != nil:
		p.exceeded("playground-bytes", "a record cannot be written")
	case p.room < 0:
		p.exceeded("playground-bytes", fmt.Sprintf("the records have more than %d bytes", playBytes))
	case len(p.view.Records) == playRecords:
		p.exceeded("playground-records", fmt.Sprintf("there are more than %d records: is this a loop without an end?", playRecords))
	default:
		p.view.Records = append(p.view.Records, text)
	}
}

// exceeded ends the run at a limit, the first that is told.
func (p *play) exceeded(limit, text string) {
	if p.over == nil {
		p.over = &playLimitError{limit, text}
		p.stop()
	}
}

// beyond names a limit of scenarios as one of the playground.
func beyond(e *scenario.LimitError) (limit, text string) {
	switch e.Limit {
	case "scenario-calls":
		return "playground-calls", fmt.Sprintf("more than %d calls of functions: is this a loop without an end?", e.Max)
	case "scenario-instances":
		return "playground-instances", fmt.Sprintf("more than %d instances at a time: do workflows start one another without an end?", e.Max)
	}
	return "playground-steps", fmt.Sprintf("more than %d steps: is this a loop without an end?", e.Max)
}

// happen starts the workflow and lets things happen, until nothing more can, or should.
func (p *play) happen(ctx context.Context) (string, error) {
	if refused, err := p.begin(ctx); refused || err != nil {
		return playNone, err
	}
	p.pending = p.arrivals()
	for {
		if err := p.poll(ctx); err != nil {
			return "", err
		}
		if len(p.stops) > 0 {
			if p.steps == p.ask.steps {
				return playStopped, nil
			}
			if err := p.step(ctx); err != nil {
				return "", err
			}
			continue
		}
		now := p.clock.Now()
		next, ok := p.engine.Next()
		if ok && !next.After(now) {
			continue // Poll ended before its work did
		}
		if len(p.pending) > 0 && !p.pending[0].at.After(now) {
			arrived := p.pending[0]
			p.pending = p.pending[1:]
			if err := arrived.deliver(ctx); err != nil {
				return "", err
			}
			continue
		}
		if len(p.pending) > 0 && (!ok || p.pending[0].at.Before(next)) {
			next, ok = p.pending[0].at, true
		}
		if !ok {
			return p.rest(ctx)
		}
		if limit := p.ask.until; !limit.IsZero() && next.After(limit) {
			p.view.Next = &next
			return playLater, nil
		}
		p.clock.Advance(next)
	}
}

// poll does what can be done now, within the limits.
func (p *play) poll(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := p.engine.Poll(ctx)
	if p.over != nil {
		return p.over
	}
	return err
}

// begin starts the workflow, unless events do. What is refused is a note.
func (p *play) begin(ctx context.Context) (refused bool, err error) {
	switch start := p.program.Start; {
	case p.program.Job:
		client := p.ask.client
		if client == "" {
			client = "client"
		}
		var job engine.Job
		job, err = p.engine.CreateJob(ctx, engine.JobRequest{Workflow: p.program.ID, Client: client, Definition: p.ask.input, ID: "instance-1"})
		p.first = job.ID
	case len(start.Events) > 0 && p.ask.hasInput:
		err = p.engine.SetStartInput(ctx, p.program.ID, p.ask.input)
	case len(start.Events) == 0:
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

// step lets the first instance that is stopped run the state that it is before.
func (p *play) step(ctx context.Context) error {
	at := p.stops[0]
	p.stops = p.stops[1:]
	p.steps++
	err := p.engine.Control(ctx, at.instance, core.Control{Verb: core.VerbResume})
	if _, ended := as[*core.Rejected](err); ended {
		return nil // meanwhile, by another branch
	}
	return err
}

// arrivals lists events and takes by time; those of one instant as listed.
func (p *play) arrivals() []playArrival {
	var out []playArrival
	for _, e := range p.ask.scene.Events {
		out = append(out, playArrival{e.After.AddTo(p.ask.start), func(ctx context.Context) error { return p.send(ctx, e) }})
	}
	for _, t := range p.ask.scene.Takes {
		out = append(out, playArrival{t.After.AddTo(p.ask.start), func(ctx context.Context) error { return p.take(ctx, t) }})
	}
	slices.SortStableFunc(out, func(a, b playArrival) int { return a.at.Compare(b.at) })
	return out
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
		p.note("nobody waits for the event %s; it is kept", scenario.Describe(e.Value))
	}
	return err
}

func (p *play) take(ctx context.Context, t scenario.Take) error {
	if p.first == "" || !p.program.Job {
		p.note("the take at line %d is for jobs, and this is none", t.At.Pos.Line)
		return nil
	}
	status := t.Status.With("state", expr.String(t.State))
	_, err := p.engine.UpdateJob(ctx, p.first, engine.JobUpdate{Actor: t.Actor, Status: status})
	if rejected, ok := as[*core.Rejected](err); ok {
		p.note("the take at line %d was rejected: %s; open are %s", t.At.Pos.Line, rejected.Msg, scenario.DescribeOffers(rejected.Allowed))
		return nil
	}
	if problem := ofEngine(err); err != nil && problem != nil {
		p.note("the take at line %d was refused: %s", t.At.Pos.Line, problem.Detail)
		return nil
	}
	return err
}

// rest is the status of a run in which nothing more can happen by itself.
func (p *play) rest(ctx context.Context) (string, error) {
	if p.first == "" {
		return playNone, nil
	}
	row, err := p.engine.Get(ctx, p.first)
	if err != nil {
		return "", err
	}
	if row.Status.Final() {
		return string(row.Status), nil
	}
	return playWaiting, nil
}

// cut makes of an error what the reader is told, if it is one of a limit.
func (p *play) cut(ctx context.Context, err error) (string, error) {
	if p.over == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		p.exceeded("playground-time", fmt.Sprintf("the run took longer than %s", playTime))
	}
	if p.over == nil {
		return "", err
	}
	p.view.Limit = p.over.limit
	return playLimit, nil
}

// tell fills in how things stand now.
func (p *play) tell(ctx context.Context, status string) error {
	v := p.view
	v.Status, v.Clock, v.Steps = status, p.clock.Now(), p.steps
	for _, s := range p.stops {
		data := s.record.Data
		v.Stopped = append(v.Stopped, playStopView{s.instance, s.record.Node, viewPlace(s.record.Pos), &data})
	}
	rows, err := p.engine.Query(ctx, store.Query{})
	if err != nil {
		return err
	}
	for i := range rows {
		v.Instances = append(v.Instances, viewBrief(&rows[i]))
		if rows[i].ID == p.first {
			full := viewInstance(&rows[i])
			v.Output, v.Error = full.Output, full.Error
		}
	}
	summary := ""
	if p.first != "" && status != playLimit {
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

// message says in a sentence how the run ended.
func (p *play) message(status, summary string) string {
	passed := elapsed(p.clock.Now().Sub(p.ask.start))
	switch status {
	case playLimit:
		return "Cut off: " + p.over.Error() + "."
	case playNone:
		if len(p.view.Notes) > 0 {
			return "No instance was created: " + p.view.Notes[0]
		}
		return "No instance was created: the workflow begins with an event, and none came that fits."
	case playStopped:
		return fmt.Sprintf("Stopped before %q.", p.stops[0].record.Node)
	case playLater:
		return fmt.Sprintf("%s It goes on at %s.", summary, p.view.Next.Format(time.RFC3339))
	case string(core.Completed):
		if p.clock.Now().Equal(p.ask.start) {
			return "Completed at once."
		}
		return "Completed after " + passed + " of virtual time."
	}
	return summary
}
