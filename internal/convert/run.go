package convert

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/lockstep-workflows/lockstep/internal/scenario"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// Case is what a definition is run with.
type Case struct {
	Input  expr.Value
	ByHand bool // it is started with Input; else events start it
	Mocks  []Mock
	Events []Timed
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

// Outcome is what is observed of a case.
type Outcome struct {
	Status    string // completed, failed, waiting, running, none
	Output    expr.Value
	HasOutput bool
	Error     string // the name of the fault
	Category  string // in the words of 0.1
	Elapsed   time.Duration
	ended     time.Duration // since the epoch of runs
	Calls     []Call
	Instances int
	Entered   map[string]bool // states
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
	statusRunning = "running" // it did not end within the limits
)

// Limits of one run ("convert-moves", "convert-calls", "convert-steps", "convert-data",
// "convert-horizon"): a workflow may wait, or go in a circle, for ever, and its data grow.
const (
	MaxMoves = 2_000 // of the clock
	MaxCalls = 200
	MaxSteps = 10_000 // without waiting; servers allow more
	MaxData  = 256 << 10
	Horizon  = 5 * 365 * 24 * time.Hour
)

var epoch = time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)

// run runs programs, of which the first is started, under virtual time on the engine
// that servers use.
func run(ctx context.Context, programs []*ir.Program, c *Case) (Outcome, error) {
	r := &runner{c: c, clock: engine.NewVirtualClock(epoch), store: &scenario.Guard{Store: memory.New(), Forget: true}, first: programs[0]}
	r.out = Outcome{Status: statusNone, Entered: map[string]bool{}}
	if err := r.build(ctx, programs); err != nil {
		return r.out, err
	}
	limited, stop := context.WithCancel(ctx)
	defer stop()
	r.stop = stop
	ended, err := r.run(limited)
	if err != nil && ctx.Err() == nil && len(r.out.Calls) >= MaxCalls {
		ended, err = false, nil
	}
	if err != nil {
		return r.out, err
	}
	return r.out, r.observe(ctx, ended)
}

type runner struct {
	c      *Case
	first  *ir.Program
	clock  *engine.VirtualClock
	engine *engine.Engine
	store  store.Store
	out    Outcome
	stop   context.CancelFunc
}

func (r *runner) build(ctx context.Context, programs []*ir.Program) error {
	mocks := mock.Mocks{}
	for _, m := range r.c.Mocks {
		mocks[m.Function] = m.Answers
	}
	answers := mock.New(mocks, nil)
	limits := core.DefaultLimits
	limits.Steps, limits.DataBytes = MaxSteps, MaxData
	created := 0
	var err error
	r.engine, err = engine.New(engine.Config{
		Store: r.store, Clock: r.clock, Languages: languages.All(), Timezone: "UTC", Inline: true, Limits: &limits,
		Mocked: func(*ir.Function) bool { return true }, // jobs, too: there are none here
		Invoker: effect.Func(func(ctx context.Context, call effect.Call) effect.Outcome {
			r.out.Calls = append(r.out.Calls, Call{r.clock.Now().Sub(epoch), call.Function, call.Args})
			if len(r.out.Calls) >= MaxCalls {
				r.stop()
			}
			return answers.Invoke(ctx, call)
		}),
		NewID: func() string {
			created++
			return fmt.Sprintf("instance-%d", created)
		},
		OnRecord: func(_ string, rec core.Record) {
			if rec.Type == core.RecEntered {
				r.out.Entered[rec.Node] = true
			}
		},
	})
	if err != nil {
		return err
	}
	for i := range programs { // children first
		if err := r.engine.Deploy(ctx, programs[len(programs)-1-i]); err != nil {
			return fmt.Errorf("deploy %s: %w", programs[len(programs)-1-i].ID, err)
		}
	}
	return nil
}

// run moves time until nothing more can happen; it reports false where that takes
// longer than the limits allow.
func (r *runner) run(ctx context.Context) (ended bool, err error) {
	if r.c.ByHand {
		if _, err := r.engine.Start(ctx, engine.StartRequest{Definition: r.first.ID, Input: r.c.Input}); err != nil {
			return false, err
		}
	}
	pending := r.c.Events
	for range MaxMoves {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if _, err := r.engine.Poll(ctx); err != nil {
			return false, err
		}
		now := r.clock.Now()
		next, ok := r.engine.Next()
		if ok && !next.After(now) {
			continue
		}
		if len(pending) > 0 {
			at := epoch.Add(pending[0].At)
			if !at.After(now) {
				if err := r.send(ctx, pending[0].Event); err != nil {
					return false, err
				}
				pending = pending[1:]
				continue
			}
			if !ok || at.Before(next) {
				next, ok = at, true
			}
		}
		if !ok || next.Sub(epoch) > Horizon {
			return true, nil
		}
		r.clock.Advance(next)
	}
	return false, nil
}

func (r *runner) send(ctx context.Context, v expr.Value) error {
	ev, err := event.FromValue(v)
	if err != nil {
		return err
	}
	_, err = r.engine.Send(ctx, ev)
	var conflict *engine.EventConflictError
	if errors.As(err, &conflict) {
		return nil
	}
	return err
}

// observe reads what became of the first instance.
func (r *runner) observe(ctx context.Context, ended bool) error {
	rows, err := r.store.Instances(ctx, store.Query{})
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
		r.out.Category = sw01.Category(first.Fault.Name, first.Fault.Code, first.Fault.Status)
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
