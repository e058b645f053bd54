package trial

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// Config says how to run workflows.
type Config struct {
	// Engine configures the engine, without a store and a clock.
	Engine engine.Config
	// Clock is the virtual clock; nil: the run is under the real one, and Engine.Run drives it.
	Clock *engine.VirtualClock
	// Local uses the ids and the default time zone of a server on this machine. Otherwise ids are
	// instance-1 and so on, and the zone is UTC, so that two runs of the same workflows are equal.
	Local bool

	// Silent reports whether the schedule of a definition starts nothing. nil: all schedules start instances.
	Silent func(definition string) bool

	Limits  Limits
	OnLimit func(error)                   // called once, with a [*LimitError], from the refused commit; may be nil
	History bool                          // the store keeps records; without an end they would fill the memory
	Wrap    func(store.Store) store.Store // returns the store that the engine uses; nil: the store itself
}

// Run is an engine, its store and its clock.
type Run struct {
	Engine *engine.Engine
	Store  store.Store
	Clock  *engine.VirtualClock
	Until  time.Time // the clock does not go beyond this instant; zero: no limit

	arrivals []arrival // by time
}

// arrival is input from outside at an instant.
type arrival struct {
	at      time.Time
	deliver func(context.Context) error
}

// New returns an engine without workflows.
func New(c Config) (*Run, error) {
	r := &Run{Clock: c.Clock}
	r.Store = &guard{Store: memory.New(), limits: c.Limits, history: c.History, onLimit: c.OnLimit, silent: c.Silent}
	if c.Wrap != nil {
		r.Store = c.Wrap(r.Store)
	}
	cfg := c.Engine
	cfg.Store = r.Store
	cfg.Clock = engine.RealClock{}
	if c.Clock != nil {
		cfg.Clock = c.Clock
		cfg.Inline = true
	}
	if !c.Local {
		created := 0
		cfg.Timezone = "UTC"
		cfg.NewID = func() string {
			created++
			return fmt.Sprintf("instance-%d", created)
		}
	}
	if !c.History {
		cfg.ChunkBytes = math.MaxInt // chunks are stored with the history
	}
	var err error
	r.Engine, err = engine.New(cfg)
	return r, err
}

// Deploy deploys workflows, in this order.
func (r *Run) Deploy(ctx context.Context, programs ...*ir.Program) error {
	for _, p := range programs {
		if err := r.Engine.Deploy(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// Send sends an event in its JSON form.
func (r *Run) Send(ctx context.Context, v expr.Value) (engine.Sent, error) {
	e, err := event.FromValue(v)
	if err != nil {
		return engine.Sent{}, err
	}
	return r.Engine.Send(ctx, e)
}

// At calls deliver when the clock reaches an instant and no other work is left there. Several calls for
// one instant are delivered in order.
func (r *Run) At(at time.Time, deliver func(context.Context) error) {
	i := len(r.arrivals)
	for i > 0 && r.arrivals[i-1].at.After(at) {
		i--
	}
	r.arrivals = slices.Insert(r.arrivals, i, arrival{at, deliver})
}

// Poll does the work of this instant. If ctx ended, its error is the cause: a [*LimitError] if OnLimit
// cancels ctx with it.
func (r *Run) Poll(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := r.Engine.Poll(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Next is the next instant with work or an arrival; it may be this one.
func (r *Run) Next() (time.Time, bool) {
	next, ok := r.Engine.Next()
	return r.sooner(next, ok)
}

// sooner is the next arrival if it comes before the engine's next work.
func (r *Run) sooner(next time.Time, ok bool) (time.Time, bool) {
	if len(r.arrivals) > 0 && (!ok || r.arrivals[0].at.Before(next)) {
		return r.arrivals[0].at, true
	}
	return next, ok
}

// Advance follows Poll. It delivers one arrival that is due or, if there is none, moves the clock to the
// next instant with work. It reports false if there is none up to Until; Next reports whether there is
// one later.
func (r *Run) Advance(ctx context.Context) (bool, error) {
	now := r.Clock.Now()
	next, ok := r.Engine.Next()
	if ok && !next.After(now) {
		return true, nil // Poll ended before its work did
	}
	if len(r.arrivals) > 0 && !r.arrivals[0].at.After(now) {
		due := r.arrivals[0]
		r.arrivals = r.arrivals[1:]
		return true, due.deliver(ctx)
	}
	next, ok = r.sooner(next, ok)
	if !ok || !r.Until.IsZero() && next.After(r.Until) {
		return false, nil
	}
	r.Clock.Advance(next)
	return true, nil
}

// Step polls and advances.
func (r *Run) Step(ctx context.Context) (bool, error) {
	if err := r.Poll(ctx); err != nil {
		return false, err
	}
	return r.Advance(ctx)
}

// Finish steps until nothing more can happen.
func (r *Run) Finish(ctx context.Context) error {
	for {
		more, err := r.Step(ctx)
		if !more || err != nil {
			return err
		}
	}
}
