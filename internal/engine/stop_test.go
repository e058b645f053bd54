package engine

import (
	"context"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/effect/mock"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// endless is a language whose only expression never ends unless it is stopped.
type endless struct{ began chan struct{} }

func (e *endless) Compile(string) (expr.Program, error) { return e, nil }

func (e *endless) Eval(_ expr.Value, b *expr.Budget) (expr.Result, error) {
	e.began <- struct{}{}
	for {
		part := b.Times(1)
		for range 2 * expr.StopEvery {
			if err := part.Step(1); err != nil {
				return expr.Result{}, err
			}
		}
	}
}

// runEndless runs an instance that comes to such an expression after the step before, and is at
// it in the expensive lane.
func runEndless(t *testing.T, before func(b *builder) stepOp) (e *Engine, id string, stop func()) {
	lang, languages := &endless{make(chan struct{}, 16)}, jsonpath.Languages()
	languages["endless"] = lang
	e, err := New(Config{Store: memory.New(), Languages: languages, OnError: func(err error) { t.Error(err) }, Invoker: mock.New(mock.Mocks{"f": {gives(`{"f":1}`), gives(`{"f":1}`)}}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	e.watchdog.tick = time.Hour // who intervenes does not wait for it
	b := build("w")
	if err := e.Deploy(t.Context(), b.main(before(b), stepOp{"E", &ir.Eval{From: b.expr("endless", "")}}, delay(time.Hour))); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = e.Run(ctx)
	}()
	if id, err = e.Start(ctx, StartRequest{Definition: "w", Input: expr.EmptyObject}); err != nil {
		t.Fatal(err)
	}
	<-lang.began // where it was found to be expensive
	if _, call := before(b).op.(*ir.Call); call {
		<-lang.began // and then by a worker
	}
	<-lang.began
	return e, id, func() { cancel(); <-ended }
}

// Whoever intervenes ends a step that is under way, wherever it came from; it is done
// again when that is over, if there is anything left to do. A server ends all the same.
func TestInterveneInARunningStep(t *testing.T) {
	befores := map[string]func(*builder) stepOp{
		"timer":  func(*builder) stepOp { return delay(time.Millisecond) },
		"answer": func(b *builder) stepOp { return b.call("f") },
	}
	for name, before := range befores {
		t.Run(name+" end", func(t *testing.T) {
			_, _, stop := runEndless(t, before)
			stop()
		})
		for verb, want := range map[core.Verb]core.Status{
			core.VerbTerminate: core.Terminated, core.VerbCancel: core.Cancelled, core.VerbSuspend: core.Paused,
		} {
			t.Run(name+" "+string(verb), func(t *testing.T) {
				e, id, stop := runEndless(t, before)
				defer stop()
				if err := e.Control(t.Context(), id, core.Control{Verb: verb}); err != nil {
					t.Fatal(err)
				}
				row, err := e.Get(t.Context(), id)
				if err != nil || row.Status != want {
					t.Fatalf("it is %s: %v", row.Status, err)
				}
			})
		}
	}
}
