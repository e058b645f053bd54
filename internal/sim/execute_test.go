package sim

import (
	"context"
	"errors"
	"math"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/trial"
)

// kernel runs a case on the real path: the front-end, the engine and the memory store, under virtual
// time.
type kernel struct {
	c   *Case
	run *trial.Run
	out Outcome
}

// maxMoves bounds the steps of one case. The interpreter came to an end, so the kernel must.
const maxMoves = 20_000

// Execute runs a case on the kernel.
func Execute(ctx context.Context, c *Case) (Outcome, error) {
	k := &kernel{c: c}
	if err := k.build(ctx); err != nil {
		return k.out, err
	}
	if err := k.play(ctx); err != nil {
		return k.out, err
	}
	if c.IsJob() {
		if err := k.history(ctx); err != nil {
			return k.out, err
		}
	}
	return k.out, Observe(ctx, k.run.Store, &k.out)
}

func (k *kernel) build(ctx context.Context) error {
	programs, err := k.c.Compile()
	if err != nil {
		return err
	}
	answers := mock.New(k.c.Answers(), nil)
	k.run, err = trial.New(trial.Config{Clock: engine.NewVirtualClock(Epoch), History: true, Engine: engine.Config{
		Languages:  languages.All(),
		ChunkBytes: 16, // most values are large
		Invoker: effect.Func(func(ctx context.Context, call effect.Call) effect.Outcome {
			k.out.Calls = append(k.out.Calls, Call{At: k.run.Clock.Now().Sub(Epoch), Function: call.Function, Args: call.Args})
			return answers.Invoke(ctx, call)
		}),
		OnEmit: func(_ string, e event.Event) {
			k.out.Produced = append(k.out.Produced, ProducedAt(k.run.Clock.Now(), e))
		},
	}})
	if err != nil {
		return err
	}
	return k.run.Deploy(ctx, programs...)
}

func (k *kernel) play(ctx context.Context) error {
	if err := k.start(ctx); err != nil {
		return err
	}
	for _, e := range k.c.Events {
		k.run.At(Epoch.Add(e.At), func(ctx context.Context) error {
			_, err := k.run.Send(ctx, e.Event)
			return err
		})
	}
	for _, u := range k.c.Updates {
		k.run.At(Epoch.Add(u.At), func(ctx context.Context) error {
			reply, err := u.Send(ctx, k.run.Engine, k.run.Clock.Now())
			k.out.Replies = append(k.out.Replies, reply)
			return err
		})
	}
	for range maxMoves {
		more, err := k.run.Step(ctx)
		if !more || err != nil {
			return err
		}
	}
	return errors.New("the kernel does not come to an end")
}

func (k *kernel) start(ctx context.Context) (err error) {
	switch {
	case k.c.IsJob():
		_, err = k.run.Engine.CreateJob(ctx, k.c.JobRequest())
	case k.c.ByHand:
		_, err = k.run.Engine.Start(ctx, engine.StartRequest{Definition: idOf(k.c.Def), Input: k.c.Input})
	}
	return err
}

// history reads what the engine tells of the job.
func (k *kernel) history(ctx context.Context) error {
	job, changes, _, err := k.run.Engine.JobWithHistory(ctx, JobID, 1000, math.MaxInt)
	if err != nil {
		return err
	}
	k.out.History = []string{jobNow(since(job.Updated), job.Status, job.Content)}
	for _, c := range changes {
		k.out.History = append(k.out.History, jobWas(since(c.At), since(c.Replaced), c.Actor, c.Status, c.Content, c.HasStatus))
	}
	return nil
}
