package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// Case is the input, mocks and events of one run.
type Case struct {
	Input  expr.Value
	ByHand bool // Input starts the workflow; else events do
	// Words01 says that kinds of errors are those of 0.1.
	Words01 bool
	// OneType says that data of the wrong kind is the same error as an expression that fails.
	OneType bool
	Mocks   []Mock
	Events  []Timed
}

// Mock is how one function answers, call by call; the last answer repeats.
type Mock struct {
	Function string
	Answers  []mock.Answer
}

// Timed is an event that arrives some time after the start.
type Timed struct {
	At    time.Duration
	Event expr.Value
}

// Outcome is the observable result of a case.
type Outcome struct {
	Status    string // completed, failed, waiting, running, none
	Output    expr.Value
	HasOutput bool
	Error     string        // the name of the fault
	Category  string        // of the fault, as 0.1 names it
	Elapsed   time.Duration // from creation to end of the first instance
	ended     time.Duration // when it ended, since the epoch
	Calls     []Call
	Instances int
	Entered   map[string]bool // states that were entered
}

// Call is one call of a function.
type Call struct {
	At       time.Duration
	Function string
	Args     expr.Value
}

// The statuses beside those of instances.
const (
	statusNone    = "none"
	statusWaiting = "waiting"
	statusRunning = "running" // a limit ended the run
	statusRefused = "refused" // the input does not adhere to its schema
)

// Limits of one run ("convert-moves", "convert-calls", "convert-steps", "convert-data",
// "convert-horizon"): a workflow may wait or loop for ever, and its data may grow.
const (
	MaxMoves = 2_000 // of the clock
	MaxCalls = 200
	MaxSteps = 10_000 // without waiting; servers allow more
	MaxData  = 256 << 10
	Horizon  = 5 * 365 * 24 * time.Hour
)

var epoch = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// subject is what runs: programs, of which the first is started, and how its calls differ from those of the
// source.
type subject struct {
	programs []*ir.Program
	calls    Calls
	titles   bool // errors have titles and statuses instead of names and codes
	typed    bool // those of the source have statuses, too
}

// run starts the first of the programs under virtual time, on the engine that servers use.
func run(ctx context.Context, s subject, c *Case) (Outcome, error) {
	programs := s.programs
	limited, stop := context.WithCancel(ctx)
	defer stop()
	r := &runner{c: c, s: s, stop: stop, out: Outcome{Status: statusNone, Entered: map[string]bool{}}}
	if err := r.build(ctx, programs); err != nil {
		return r.out, err
	}
	ended, err := r.play(limited, programs[0])
	if err != nil && ctx.Err() == nil && len(r.out.Calls) >= MaxCalls {
		ended, err = false, nil
	}
	if err != nil {
		return r.out, err
	}
	return r.out, r.observe(ctx, ended)
}

type runner struct {
	c    *Case
	s    subject
	run  *trial.Run
	out  Outcome
	stop context.CancelFunc
}

func (r *runner) build(ctx context.Context, programs []*ir.Program) error {
	mocks := mock.Mocks{}
	for _, m := range r.c.Mocks {
		mocks[m.Function] = m.Answers
	}
	answers := mock.New(mocks, nil)
	limits := core.DefaultLimits
	limits.Steps, limits.DataBytes = MaxSteps, MaxData
	var err error
	r.run, err = trial.New(trial.Config{Clock: engine.NewVirtualClock(epoch), Engine: engine.Config{
		Languages: languages.All(), Limits: &limits,
		Mocked: func(*ir.Function) bool { return true }, // also functions that create jobs
		Invoker: effect.Func(func(ctx context.Context, call effect.Call) effect.Outcome {
			call = r.s.original(call)
			r.called(call.Function, call.Args)
			return r.s.adapted(answers.Invoke(ctx, call))
		}),
		OnEmit: func(_ string, e event.Event) {
			v := e.Value().Without("id").Without("time").Without("specversion").Without("datacontenttype")
			if kind, _ := v.Get("type"); r.s.calls.NoSource[kind.Str()] {
				v = v.Without("source")
			}
			if data, _ := v.Get("data"); data.IsNull() { // no data is null in 1.0
				v = v.Without("data")
			}
			r.called(eventCall, v)
		},
		OnRecord: func(_ string, rec core.Record) {
			if rec.Type == core.RecEntered {
				r.out.Entered[rec.Node] = true
			}
		},
	}})
	if err != nil {
		return err
	}
	r.run.Until = epoch.Add(Horizon)
	return r.run.Deploy(ctx, programs...)
}

// eventCall stands for the sending of an event among the calls.
const eventCall = "send an event"

func (r *runner) called(function string, args expr.Value) {
	r.out.Calls = append(r.out.Calls, Call{r.run.Clock.Now().Sub(epoch), function, args})
	if len(r.out.Calls) >= MaxCalls {
		r.stop()
	}
}

// original is a call as the source makes it.
func (s subject) original(c effect.Call) effect.Call {
	if key := s.calls.Inside[c.Function]; key != "" {
		args, ok := c.Args.Get(key)
		if c.Args = args; !ok {
			c.Args = expr.EmptyObject
		}
	}
	if name := s.calls.Names[c.Function]; name != "" {
		c.Function = name
	}
	return c
}

// adapted is an answer as the conversion gets it: its errors have a title for a name, and a status for a code.
func (s subject) adapted(out effect.Outcome) effect.Outcome {
	if f := out.Failure; f != nil && s.titles {
		told := *f
		if _, engine := standardNames[f.Name]; f.Name != effect.Unnamed && !engine {
			told.Title = cmp.Or(f.Title, f.Name)
			if !s.typed {
				told.Status = cmp.Or(f.Status, "599") // one that no handler is for, as the conversion assumes
			}
		}
		if _, err := strconv.Atoi(f.Code); err == nil {
			if !s.typed {
				told.Status = cmp.Or(f.Status, f.Code)
			}
		} else if f.Name == effect.Unnamed {
			told.Title = cmp.Or(f.Title, f.Code)
		}
		out.Failure = &told
	}
	return out
}

// standardNames are the kinds of errors that the engine raises, by their names.
var standardNames = map[string]string{
	"Timeout": "timeout", "ExpressionError": "expression", "DataError": "expression", "SchemaViolation": "validation",
	"FunctionNotFound": "configuration", "WorkflowNotFound": "configuration",
}

// play runs the case until nothing more can happen. It reports false where a limit ends it first.
func (r *runner) play(ctx context.Context, first *ir.Program) (ended bool, err error) {
	if r.c.ByHand {
		_, err := r.run.Engine.Start(ctx, engine.StartRequest{Definition: first.ID, Input: r.c.Input})
		var refused *engine.InputError
		if errors.As(err, &refused) {
			r.out.Status = statusRefused
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	for _, e := range r.c.Events {
		r.run.At(epoch.Add(e.At), func(ctx context.Context) error { return r.send(ctx, e.Event) })
	}
	for range MaxMoves {
		more, err := r.run.Step(ctx)
		if !more || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

func (r *runner) send(ctx context.Context, v expr.Value) error {
	_, err := r.run.Send(ctx, v)
	var conflict *engine.EventConflictError
	if errors.As(err, &conflict) {
		return nil
	}
	return err
}

// category is the kind of a fault.
func (r *runner) category(f *core.Fault) string {
	if r.c.Words01 {
		name := f.Name
		if r.c.OneType && name == core.FaultData {
			name = core.FaultExpression
		}
		return sw01.Category(name, f.Code, f.Status)
	}
	if kind := standardNames[f.Name]; kind != "" {
		return kind
	}
	return "error"
}

// observe reads the outcome of the first instance.
func (r *runner) observe(ctx context.Context, ended bool) error {
	rows, err := r.run.Store.Instances(ctx, store.Query{})
	if err != nil {
		return err
	}
	var first *store.Instance
	for i := range rows {
		if rows[i].Quarantine != "" {
			return fmt.Errorf("instance %s is set aside: %s", rows[i].ID, rows[i].Quarantine)
		}
		if rows[i].Parent != "" {
			continue
		}
		if r.out.Instances++; first == nil {
			first = &rows[i]
		}
	}
	if first == nil {
		return nil
	}
	switch {
	case first.Status == core.Completed:
		r.out.Status, r.out.Output, r.out.HasOutput = "completed", first.Output, true
	case first.Status == core.Failed:
		r.out.Status, r.out.Error = "failed", first.Fault.Name
		r.out.Category = r.category(first.Fault)
		if r.s.titles && r.out.Category == "validation" && first.Fault.Instance == "/input" {
			r.out = Outcome{Status: statusRefused, Entered: r.out.Entered}
			return nil
		}
		r.out.Output, r.out.HasOutput = first.Output, !first.Output.IsNull()
	case ended:
		r.out.Status = statusWaiting
	default:
		r.out.Status = statusRunning
	}
	if first.Status.Final() {
		r.out.ended = first.Ended.Std().Sub(epoch)
		r.out.Elapsed = first.Ended.Std().Sub(first.Created.Std())
	}
	return nil
}
