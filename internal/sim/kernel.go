package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// kernel runs a case on the real path: the front-end, the engine and the memory
// store, under a clock that moves only when nothing is left to do.
type kernel struct {
	c      *Case
	clock  *engine.VirtualClock
	engine *engine.Engine
	store  store.Store
	out    Outcome
}

// maxMoves bounds the moves of time of one case: the interpreter came to an end.
const maxMoves = 20_000

// Execute runs a case on the kernel.
func Execute(ctx context.Context, c *Case) (Outcome, error) {
	k := &kernel{c: c, clock: engine.NewVirtualClock(Epoch), store: memory.New()}
	if err := k.build(ctx); err != nil {
		return k.out, err
	}
	if err := k.run(ctx); err != nil {
		return k.out, err
	}
	if c.IsJob() {
		if err := k.history(ctx); err != nil {
			return k.out, err
		}
	}
	return k.out, Observe(ctx, k.store, &k.out)
}

// Compile compiles the definitions of a case, the main one first. Warnings are fine.
func (c *Case) Compile() ([]*ir.Program, error) {
	fronts := registry()
	var programs []*ir.Program
	for _, def := range append([]expr.Value{c.Def}, c.Subs...) {
		compiled, found := fronts.Compile(idOf(def)+".json", def.AppendJSON(nil), nil, dialect.Options{Dialect: c.Dialect})
		if found.HasErrors() {
			return nil, &refusedError{found}
		}
		programs = append(programs, compiled.Program)
	}
	return programs, nil
}

func (k *kernel) build(ctx context.Context) error {
	programs, err := k.c.Compile()
	if err != nil {
		return err
	}
	answers := mock.New(k.c.Answers(), nil)
	created := 0
	k.engine, err = engine.New(engine.Config{
		Store: k.store, Clock: k.clock, Languages: languages.All(), Timezone: "UTC", Inline: true,
		Invoker: effect.Func(func(ctx context.Context, call effect.Call) effect.Outcome {
			k.out.Calls = append(k.out.Calls, Call{k.clock.Now().Sub(Epoch), call.Function, call.Args})
			return answers.Invoke(ctx, call)
		}),
		NewID: func() string {
			created++
			return fmt.Sprintf("instance-%d", created)
		},
		OnEmit: func(_ string, e event.Event) {
			k.out.Produced = append(k.out.Produced, ProducedAt(k.clock.Now(), e))
		},
	})
	if err != nil {
		return err
	}
	for i := range programs { // children first
		if err := k.engine.Deploy(ctx, programs[len(programs)-1-i]); err != nil {
			return err
		}
	}
	return nil
}

// Answers are the mocks as scenarios have them.
func (c *Case) Answers() mock.Mocks {
	out := mock.Mocks{}
	for _, m := range c.Mocks {
		for _, a := range m.Answers {
			answer := mock.Answer{Result: a.Result, HasResult: a.HasResult, Echo: a.Echo, Delay: a.Delay}
			if f := a.Error; f != nil {
				answer.Error = &effect.Failure{Name: f.Name, Code: f.Code, Status: f.Status, Title: f.Title, Type: f.Type}
			}
			out[m.Function] = append(out[m.Function], answer)
		}
	}
	return out
}

func (k *kernel) run(ctx context.Context) error {
	if err := k.start(ctx); err != nil {
		return err
	}
	pending := k.pending()
	for range maxMoves {
		if _, err := k.engine.Poll(ctx); err != nil {
			return err
		}
		now := k.clock.Now()
		next, ok := k.engine.Next()
		if ok && !next.After(now) {
			continue
		}
		if len(pending) > 0 {
			at := Epoch.Add(pending[0].at)
			if !at.After(now) {
				if err := pending[0].do(ctx); err != nil {
					return err
				}
				pending = pending[1:]
				continue
			}
			if !ok || at.Before(next) {
				next, ok = at, true
			}
		}
		if !ok {
			return nil
		}
		k.clock.Advance(next)
	}
	return errors.New("the kernel does not come to an end")
}

func (k *kernel) start(ctx context.Context) (err error) {
	switch {
	case k.c.IsJob():
		_, err = k.engine.CreateJob(ctx, k.c.JobRequest())
	case k.c.ByHand:
		_, err = k.engine.Start(ctx, engine.StartRequest{Definition: idOf(k.c.Def), Input: k.c.Input})
	}
	return err
}

// timed is something that is done from outside.
type timed struct {
	at time.Duration
	do func(context.Context) error
}

// pending is everything that comes from outside, in order of time.
func (k *kernel) pending() (list []timed) {
	for _, e := range k.c.Events {
		list = append(list, timed{e.At, func(ctx context.Context) error { return k.send(ctx, e.Event) }})
	}
	for _, u := range k.c.Updates {
		list = append(list, timed{u.At, func(ctx context.Context) error {
			reply, err := u.Send(ctx, k.engine, k.clock.Now())
			k.out.Replies = append(k.out.Replies, reply)
			return err
		}})
	}
	slices.SortStableFunc(list, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	return list
}

func (k *kernel) send(ctx context.Context, e expr.Value) error {
	ev, err := event.FromValue(e)
	if err != nil {
		return err
	}
	_, err = k.engine.Send(ctx, ev)
	return err
}

// ProducedAt is an event that was produced, as outcomes tell it.
func ProducedAt(at time.Time, e event.Event) Produced {
	return Produced{at.Sub(Epoch), e.Value().Without("id").Without("time").Without("datacontenttype")}
}

// Observe reads what became of the instances in a store.
func Observe(ctx context.Context, s store.Store, out *Outcome) error {
	rows, err := s.Instances(ctx, store.Query{})
	if err != nil {
		return err
	}
	for _, row := range rows {
		in := Instance{Workflow: row.Definition, Status: Waiting, Created: since(row.Created)}
		switch row.Status {
		case core.Completed:
			in.Status, in.Output = Completed, row.Output
		case core.Failed:
			in.Status, in.Error = Failed, row.Fault.Name
		case core.Cancelled, core.Terminated:
			in.Status = Cancelled
		}
		if row.Status.Final() {
			in.Ended = since(row.Ended)
		}
		if row.Job.State != "" {
			in.Job = jobText(row.Job.Client, row.Job.State, row.Job.Group, tagsOf(row.Labels))
		}
		if row.Quarantine != "" {
			return fmt.Errorf("instance %s is set aside: %s", row.ID, row.Quarantine)
		}
		records, err := s.Records(ctx, row.ID, 0, 0)
		if err != nil {
			return err
		}
		for _, r := range records {
			if r.Type == core.RecEntered && r.Depth == 0 {
				in.Path = append(in.Path, r.Node)
			}
		}
		out.Instances = append(out.Instances, in)
	}
	return nil
}

func since(t core.Time) time.Duration { return t.Std().Sub(Epoch) }

// refusedError says that a definition of a case is not valid.
type refusedError struct{ found dialect.Diagnostics }

func (e *refusedError) Error() string { return "the definition is refused: " + e.found.Error() }
