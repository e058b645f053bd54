package lockstep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// Error is why an operation was refused or failed. Its Code is stable, and is what a server answers
// over HTTP in the same case.
type Error struct {
	api.Problem
	cause error
}

// Error returns the detail, with the cause if the store or the engine itself failed.
func (e *Error) Error() string {
	text := e.Detail
	if text == "" {
		text = e.Title
	}
	if e.Code == api.CodeStore || e.Code == api.CodeInternal {
		text = fmt.Sprintf("%s: %v", text, e.cause)
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// ErrClosed is the cause of the error that an operation returns after [Engine.Close] was called, or that was waiting
// when it was called.
var ErrClosed = errors.New("the engine is closed")

// closed is the error of such an operation.
var closed = &Error{
	api.Problem{Code: api.CodeStopping, Status: http.StatusServiceUnavailable, Title: "Stopping", Detail: ErrClosed.Error()},
	ErrClosed,
}

// wrap turns an error of the engine or of the client into an Error. If ctx ended, it returns the
// error of ctx.
func wrap(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrClosed) || errors.Is(context.Cause(ctx), ErrClosed) {
		return closed
	}
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return &Error{p.Problem, err}
	}
	return &Error{server.ProblemOf(err), err}
}

// wrapped wraps the errors of a sequence.
func wrapped[T any](ctx context.Context, list iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item, err := range list {
			if !yield(item, wrap(ctx, err)) {
				return
			}
		}
	}
}

// OptionError says that an option of [Open] has a value that cannot be used.
type OptionError struct {
	Option string // its name
	Err    error
}

func (e *OptionError) Error() string { return fmt.Sprintf("lockstep: %s: %v", e.Option, e.Err) }
func (e *OptionError) Unwrap() error { return e.Err }

// InstanceError says that an instance did not complete, and so has no output.
type InstanceError struct{ Instance api.Instance }

func (e *InstanceError) Error() string {
	in := e.Instance
	switch {
	case in.Quarantine != "":
		return fmt.Sprintf("instance %s is set aside: %s", in.ID, in.Quarantine)
	case in.Error != nil:
		return fmt.Sprintf("instance %s %s: %v", in.ID, in.Status, in.Error)
	}
	return fmt.Sprintf("instance %s is %s", in.ID, in.Status)
}

// Output decodes the output of a completed instance as [encoding/json] does. For any other instance
// it returns an [*InstanceError].
func Output[T any](in api.Instance) (out T, err error) {
	if in.Status != api.Completed {
		return out, &InstanceError{in}
	}
	if err := json.Unmarshal(in.Output, &out); err != nil {
		return out, fmt.Errorf("lockstep: the output of instance %s: %w", in.ID, err)
	}
	return out, nil
}
