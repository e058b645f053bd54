package a2a

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/jsonrpc"
)

// errLate ends a request whose first answer does not come in time.
var errLate = errors.New("late")

// stream makes a request whose answer is a stream. The call waits for the rest of it without its place.
func (i *Invoker) stream(ctx context.Context, at *jsonrpc.Endpoint, body []byte) effect.Outcome {
	deadline := i.deadline(ctx)
	streaming, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(deadline.After, func() { cancel(errLate) })
	s, err := at.Post(streaming, body, nil)
	if !late.Stop() && err == nil {
		s.Close()
		err = errLate
	}
	fail := func(ctx context.Context, err error) effect.Outcome {
		return jsonrpc.Failed(at.Where("POST"), deadline.Explain(ctx, i.client, err, errors.Is(context.Cause(streaming), errLate)))
	}
	if err != nil {
		defer cancel(nil)
		return fail(ctx, err)
	}
	return effect.Outcome{Wait: func(ctx context.Context) effect.Outcome {
		defer cancel(nil)
		defer s.Close()
		defer context.AfterFunc(ctx, func() { cancel(ctx.Err()) })()
		results, err := collect(s)
		if err != nil {
			return fail(ctx, err)
		}
		return effect.Outcome{Value: expr.Array(results...)}
	}}
}

// collect reads all results of a stream.
func collect(s *jsonrpc.Stream) ([]expr.Value, error) {
	var out []expr.Value
	for range jsonrpc.MaxMessages {
		m, err := s.Next()
		switch {
		case errors.Is(err, io.EOF) && len(out) > 0 && mayBeLast(out[len(out)-1]):
			return out, nil
		case errors.Is(err, io.EOF):
			return nil, &effecthttp.Error{Code: effecthttp.CodeInvalid, Msg: "the stream ended before its last event; tasks/resubscribe can go on with it"}
		case err != nil:
			return nil, err
		case m.Method != "":
			continue // an agent has nothing to ask
		}
		result, err := m.Answers(requestID)
		if err != nil {
			return nil, err
		}
		if out = append(out, result); isLast(result) {
			return out, nil
		}
	}
	return nil, jsonrpc.ErrMessages
}

// isLast reports whether nothing comes after a result: it is a message, or says so.
func isLast(result expr.Value) bool {
	final, _ := result.Get("final")
	return effect.Name(result, "kind") == "message" || final.Bool()
}

// moving are the states of tasks that go on by themselves.
var moving = []string{"submitted", "working", "unknown"}

// mayBeLast reports whether an agent may close a stream after a result: it is not a part of an artifact, nor the
// state of a task that goes on. Of a result without a kind nothing is known.
func mayBeLast(result expr.Value) bool {
	switch effect.Name(result, "kind") {
	case "artifact-update":
		return false
	case "task", "status-update":
		state, _ := result.Lookup("status", "state")
		return !slices.Contains(moving, state.Str())
	}
	return true
}
