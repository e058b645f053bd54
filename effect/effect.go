// Package effect is how a workflow reaches the outside world: an [Invoker] carries out one
// [Call] of a function and returns its [Outcome].
//
// The engine calls an Invoker at least once for every call of a workflow, always with the
// same Key, so that the other side can recognize a repetition. That is all an Invoker has to
// do: retries, timeouts and the meaning of failures are in the definition.
//
// The package is v0: names may still change between two releases.
package effect

import (
	"context"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Call is one invocation of a function.
type Call struct {
	Key       string // idempotency key, the same for every delivery of this call
	Instance  string // the instance that calls
	Function  string // its name in the definition
	Type      string // as written in the definition
	Operation string // what to call; empty: the function is found by its name
	Metadata  string // JSON text; for people, never executed
	Args      expr.Value
	Attempt   int // of the state or action around it, from 1
	// Timeout is how long the definition waits for the answer: what is left of the innermost timeout around the call;
	// 0: it does not say. After that ctx ends.
	Timeout   time.Duration
	Documents Documents
}

// Documents are the documents that operations refer to, as they were when the definition was
// deployed.
type Documents struct {
	Key  string // the same for the same documents
	Root int    // 1 + index of the operation's own document; 0: none
	All  []Document
}

// Document is a document that an operation refers to.
type Document struct {
	Ref  string // relative to the definition, or an address
	Text string
}

// Outcome is the result of a call: a value, none, or a failure.
type Outcome struct {
	Value    expr.Value
	None     bool // there is no value
	Failure  *Failure
	Delay    time.Duration // how much later the answer arrives (for mocks under virtual time)
	Exchange *Exchange     // how it was carried out over HTTP; nil: it was not, or that is not known
	// Parked: this process does not answer the call; a person or another program will. An Invoker that has a method
	// Parks(function, operation string) bool tells that before the call, so that an instance with such calls alone counts as
	// waiting and not as running.
	Parked bool
	// Wait, if not nil, is how the call goes on: it may take long, and blocks until the call is over or ctx
	// ends. The other fields mean nothing then. A call that waits does not keep others from being made.
	Wait func(ctx context.Context) Outcome
}

// Failure is why a call did not succeed. Definitions match it by Name, Title, Type,
// Code and Status.
type Failure struct {
	Name   string // the name of the error in its domain; Unnamed: only the other fields are known
	Code   string // the service's own code, or a code for what went wrong on the way to it
	Status string // HTTP status
	Title  string
	Type   string
	Detail string     // a sentence for people
	Data   expr.Value // the body of the answer
}

// Error makes a failure an error that a Go function can return.
func (f *Failure) Error() string {
	if f.Detail == "" {
		return f.Name
	}
	return f.Name + ": " + f.Detail
}

// Names of failures that invokers produce. The faults of workflows have the same names.
const (
	Unnamed          = "Error"
	Timeout          = "Timeout"
	NotFound         = "FunctionNotFound"
	InvalidArguments = "InvalidArguments" // nothing was sent
	SchemaViolation  = "SchemaViolation"  // of what was to be sent, or of what came back
)

// Names of failures of calls that their arguments describe (`call: http` and the like of Open
// Workflow 1.0): the last part of the standard error type. Such a failure has no Type of its own,
// and a Status only where there is one.
const (
	Communication  = "communication"  // of the call; the Status is that of the answer
	Authentication = "authentication" // there are no credentials: a token cannot be got
	Authorization  = "authorization"  // a secret that is not there
	Runtime        = "runtime"        // of what was run: a program, an agent, a tool
)

// Invoker carries out calls. It is used from many goroutines at once.
type Invoker interface {
	// Invoke blocks until the call is over or ctx ends. After that, nothing waits for the answer.
	Invoke(ctx context.Context, c Call) Outcome
}

// Func makes a Go function an Invoker.
type Func func(ctx context.Context, c Call) Outcome

// Invoke calls f.
func (f Func) Invoke(ctx context.Context, c Call) Outcome { return f(ctx, c) }

// Fail is the outcome of a failed call.
func Fail(f Failure) Outcome { return Outcome{Failure: &f} }
