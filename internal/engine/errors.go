package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// NotFoundError says that a definition or an instance does not exist.
type NotFoundError struct {
	Kind        string // "definition", "instance", "call", "job" or "workflow" (of jobs)
	ID, Version string
}

func (e *NotFoundError) Error() string {
	if e.Version != "" {
		return fmt.Sprintf("there is no version %q of %s %q", e.Version, e.Kind, e.ID)
	}
	return fmt.Sprintf("there is no %s %q", e.Kind, e.ID)
}

// Violation is one way in which data does not adhere to a schema.
type Violation struct {
	Pointer string // JSON pointer into the data; "" is the whole
	Message string
}

// InputError refuses a workflow input.
type InputError struct {
	Definition string
	Violations []Violation
	Input      expr.Value
	Pos        ir.Pos // where the definition asks for the schema; zero where there is none
}

func (e *InputError) Error() string {
	parts := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		parts[i] = v.Message
		if v.Pointer != "" {
			parts[i] = v.Pointer + ": " + v.Message
		}
	}
	return fmt.Sprintf("the input of %q is not acceptable: %s", e.Definition, strings.Join(parts, "; "))
}

func violations(list []expr.Value) []Violation {
	out := make([]Violation, len(list))
	for i, v := range list {
		pointer, _ := v.Get("pointer")
		message, _ := v.Get("message")
		out[i] = Violation{pointer.Str(), message.Str()}
		if message.Str() == "" {
			out[i].Message = v.String()
		}
	}
	return out
}

// ScheduleError refuses a start that the definition's schedule does not allow.
type ScheduleError struct {
	Definition string
	Now        time.Time
	From, To   time.Time // the window, for an interval
	Cron       string    // else the expression
}

func (e *ScheduleError) Error() string {
	if e.Cron != "" {
		return fmt.Sprintf("%q is started by its schedule (cron %q) and does not allow direct invocation", e.Definition, e.Cron)
	}
	return fmt.Sprintf("%q can be started from %s until %s only; it is %s", e.Definition,
		e.From.Format(time.RFC3339), e.To.Format(time.RFC3339), e.Now.Format(time.RFC3339))
}

// ExistsError refuses to create an instance under an id that is taken.
type ExistsError struct{ ID string }

func (e *ExistsError) Error() string { return fmt.Sprintf("instance %q exists already", e.ID) }

// IDError refuses an id for an instance.
type IDError struct{ ID string }

func (e *IDError) Error() string {
	return fmt.Sprintf("%.200q cannot be the id of an instance: it must have 1 to %d characters, letters and digits of ASCII or any of . _ ~ -, and begin with a letter or digit", e.ID, maxGivenID)
}

// EventConflictError refuses an event that has the source and id of another one.
type EventConflictError struct{ Source, ID string }

func (e *EventConflictError) Error() string {
	return fmt.Sprintf("another event of source %q has the id %q already", e.Source, e.ID)
}

// VersionConflictError refuses to give an alias other content.
type VersionConflictError struct{ ID, Version string }

func (e *VersionConflictError) Error() string {
	return fmt.Sprintf("definition %q version %q is deployed with other content; give it a new version", e.ID, e.Version)
}

// QuarantineError says that an instance is set aside because an invariant broke.
type QuarantineError struct{ ID, Reason string }

func (e *QuarantineError) Error() string {
	return fmt.Sprintf("instance %q is in quarantine (%s); resume tries again, terminate gives it up", e.ID, e.Reason)
}
