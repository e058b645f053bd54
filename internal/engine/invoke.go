package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/redact"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// awaited is the outcome of a call that may go on.
func awaited(ctx context.Context, out effect.Outcome) effect.Outcome {
	for out.Wait != nil {
		out = out.Wait(ctx)
	}
	return out
}

// guarded makes a panic of an invoker the call's failure.
func (e *Engine) guarded(row store.Call, with *callWith, call func() effect.Outcome) (out effect.Outcome) {
	defer func() {
		if r := recover(); r != nil {
			why := with.secrets.Message(fmt.Sprint(r))
			e.report(fmt.Errorf("call %s of %s: panic: %s\n%s", row.Function.Name, row.Instance, why, debug.Stack()))
			out = effect.Fail(effect.Failure{Name: effect.Unnamed, Code: "panic", Detail: fmt.Sprintf("calling %q panicked: %s", row.Function.Name, why)})
		}
	}()
	return call()
}

// invoke asks the invoker. The error says why the call cannot be made now: a store or a secret that cannot be read
// is no reason for the workflow to fail.
func (e *Engine) invoke(ctx context.Context, row store.Call) (effect.Outcome, error) {
	f := row.Function
	if e.cfg.Invoker == nil {
		return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: fmt.Sprintf("nothing here can call function %q", f.Name)}), nil
	}
	with, err := e.callWith(ctx, row)
	switch {
	case errors.Is(err, store.ErrNotFound): // nobody waits for it
		return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: fmt.Sprintf("function %q was not called: %v", f.Name, err)}), nil
	case err != nil:
		return effect.Outcome{}, fmt.Errorf("call %s of %s: %w", f.Name, row.Instance, err)
	}
	seen := new(effect.Exchanges)
	ctx = effect.WithExchanges(e.traceCall(ctx, &row), seen)
	out := e.guarded(row, &with, func() effect.Outcome {
		return e.cfg.Invoker.Invoke(ctx, effect.Call{
			Key: CallKey(row), Instance: row.Instance,
			Function: f.Name, Type: f.Type, Operation: f.Operation, Metadata: f.Metadata,
			Args: with.args, Attempt: row.Attempt, Documents: with.documents, Timeout: e.timeLeft(row),
		})
	})
	if wait := out.Wait; wait != nil {
		row, with := row, with // what it keeps; most calls have their answer by now
		out.Wait = func(ctx context.Context) effect.Outcome {
			out := e.guarded(row, &with, func() effect.Outcome {
				return awaited(effect.WithExchanges(ctx, seen), wait(effect.WithExchanges(ctx, seen)))
			})
			out.Exchange = cmp.Or(out.Exchange, seen.Last())
			return out
		}
	}
	out.Exchange = cmp.Or(out.Exchange, seen.Last())
	return out, nil
}

// timeLeft is how long the definition waits for the answer of a call; 0: it does not say.
func (e *Engine) timeLeft(row store.Call) time.Duration {
	if row.Deadline == 0 {
		return 0
	}
	return max(time.Duration(row.Deadline-e.now()), 1)
}

// callWith is what a call is made with: its arguments with their secrets, and the documents that the
// instance's program pinned when it was deployed.
type callWith struct {
	args      expr.Value
	secrets   *redact.Redactor // of the arguments; nil: they have none
	documents effect.Documents
}

func (e *Engine) callWith(ctx context.Context, row store.Call) (out callWith, err error) {
	out.args = row.Args
	pinned, sealed := row.Function.Resource != 0, redact.Refers(row.Args)
	if !pinned && !sealed {
		return out, nil
	}
	instance, err := e.store.Instance(ctx, row.Instance)
	if err != nil {
		return out, fmt.Errorf("read instance: %w", err)
	}
	prog, err := e.program(ctx, instance.Digest)
	if err != nil {
		return out, err
	}
	if set := e.secretsOf(prog); sealed && set != nil {
		if out.args, err = set.Open(row.Args); err != nil {
			return out, err
		}
		out.secrets = set.Redactor
		if ir.IsLog(row.Function.Operation) { // people read what it is called with
			out.args = set.Redact(out.args)
		}
	}
	if pinned {
		out.documents = effect.Documents{Key: instance.Digest, Root: row.Function.Resource}
		for _, r := range prog.Resources {
			out.documents.All = append(out.documents.All, effect.Document{Ref: r.Ref, Text: r.Text})
		}
	}
	return out, nil
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
