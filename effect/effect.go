// Package effect is how a workflow reaches the world: an [Invoker] carries out one
// [Call] of a function and says what came of it.
//
// The engine calls an Invoker at least once for every call that a workflow decided
// on, always with the same Key, so that the other side can tell a repetition from a
// second order. An Invoker has no other duty towards the workflow: retries, timeouts
// and what a failure means are the definition's.
//
// A [Router] chooses who carries out a call: effect/openapi for operations that a
// document describes, effect/http for plain URLs, effect/catalogue for functions
// that the definition only names. effect/mock answers from a scenario file instead.
package effect

import (
	"context"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Call is one invocation of a function.
type Call struct {
	Key       string // idempotency key, the same for every delivery of this call
	Instance  string // that calls
	Function  string // its name in the definition
	Type      string // as the definition writes it
	Operation string // what it stands for; empty: to be found by name
	Metadata  string // JSON text; for people, never executed
	Args      expr.Value
	Attempt   int // of the state or action around it, from 1
	Documents Documents
}

// Documents are what operations refer to, as they were when the definition was
// deployed.
type Documents struct {
	Key  string // equal keys, equal documents
	Root int    // 1 + index of the operation's own document; 0: there is none
	All  []ir.Resource
}

// Outcome is what a call gave: a value, nothing, or a failure.
type Outcome struct {
	Value   expr.Value
	None    bool // there is no value
	Failure *Failure
	Delay   time.Duration // the answer counts from this much later on (mocks under virtual time)
	Parked  bool          // nobody here can carry it out: a person, or another program, will answer
}

// Failure is why a call did not succeed. Definitions match it by Name, Title, Type,
// Code and Status.
type Failure struct {
	Name   string // domain name; Unnamed where only technical facts are known
	Code   string // the service's own code, or what went wrong on the way to it
	Status string // HTTP status
	Title  string
	Type   string
	Detail string     // a sentence for people
	Data   expr.Value // the body of the answer
}

// Names of failures that invokers give themselves. They are those of core's faults.
const (
	Unnamed          = "Error"
	Timeout          = "Timeout"
	NotFound         = "FunctionNotFound"
	InvalidArguments = "InvalidArguments" // nothing was sent
	SchemaViolation  = "SchemaViolation"  // of what was to be sent, or of what came back
)

// Invoker carries out calls. It is used from many goroutines at once.
type Invoker interface {
	// Invoke blocks until the call is over or ctx ends, which says that nobody waits
	// for the answer any more.
	Invoke(ctx context.Context, c Call) Outcome
}

// Func is a function as an Invoker.
type Func func(ctx context.Context, c Call) Outcome

// Invoke calls f.
func (f Func) Invoke(ctx context.Context, c Call) Outcome { return f(ctx, c) }

// Fail is the outcome of a failed call.
func Fail(f Failure) Outcome { return Outcome{Failure: &f} }
