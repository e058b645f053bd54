package wfx

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// kind is an error code with its log reference, which is constant.
type kind struct {
	code   api.Code
	logref string
}

// The kinds of errors.
var (
	invalidRequest   = kind{api.CodeJobInvalidRequest, "96a37ea1f7d205ffbfa12334c6812727"}
	jobNotFound      = kind{api.CodeJobNotFound, "11cc67762090e15b79a1387eca65ba65"}
	workflowNotFound = kind{api.CodeWorkflowNotFound, "c452719774086b6e803bb8f6ecea9899"}
	notUnique        = kind{api.CodeWorkflowNotUnique, "e1ee1f2aea859b9dd34579610e386da6"}
	workflowInvalid  = kind{api.CodeWorkflowInvalid, "18f57adc70dd79c7fb4f1246be8a6e04"}
	modified         = kind{api.CodeJobModified, "dc00b05825b44934afeb9454f42a6440"}
	invalidFilter    = kind{api.CodeJobFilter, "731cdc2ae765e840fbd675f15abace97"}
	workflowInUse    = kind{api.CodeWorkflowInUse, "86caf5d4c24174350c37dd2d58c5ad8f"}
)

// maxErrors is how many errors a response lists.
const maxErrors = 128

// failure is a response that refuses a request.
type failure struct {
	status   int
	kind     kind
	messages []string // one for each error; none: the body is {}
	text     string   // instead of them: text/plain
	bare     bool     // no body
}

func (f *failure) Error() string {
	if f.text != "" {
		return f.text
	}
	return strings.Join(f.messages, "; ")
}

// refuse is an error in JSON.
func refuse(status int, k kind, format string, args ...any) *failure {
	return &failure{status: status, kind: k, messages: []string{fmt.Sprintf(format, args...)}}
}

// malformed is the error of a request that violates the contract, which wfx reports as plain text.
func malformed(format string, args ...any) *failure {
	return &failure{status: http.StatusBadRequest, text: fmt.Sprintf(format, args...)}
}

// forbidden is the south's answer to an operation of the north.
var forbidden = &failure{status: http.StatusForbidden, bare: true}

func noJob() *failure { return refuse(http.StatusNotFound, jobNotFound, "Job ID was not found") }

// Refusal is the error that a Config.Client returns for a device that it refuses.
type Refusal struct {
	Status  int // 401 or 403
	Message string
}

func (e *Refusal) Error() string { return e.Message }

// Write answers with the refusal.
func (e *Refusal) Write(w http.ResponseWriter) { failureOf(e).write(w) }

// failureOf is the response for an error; nil: the error is unexpected.
func failureOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if e, ok := errors.AsType[*Refusal](err); ok {
		return &failure{status: e.Status, text: e.Message}
	}
	if e, ok := errors.AsType[*engine.NotFoundError](err); ok {
		switch e.Kind {
		case "job", "instance":
			return noJob()
		case "workflow", "definition":
			return refuse(http.StatusNotFound, workflowNotFound, "Workflow not found for given name")
		}
	}
	if e, ok := errors.AsType[*engine.RevisionError](err); ok {
		return refuse(http.StatusBadRequest, modified, "%s", e.Error())
	}
	if errors.Is(err, store.ErrConflict) {
		return refuse(http.StatusBadRequest, modified, "the job kept changing meanwhile; try again")
	}
	if errors.Is(err, store.ErrText) {
		return refuse(http.StatusBadRequest, invalidRequest, "%s", err.Error())
	}
	if e, ok := errors.AsType[*core.Rejected](err); ok {
		return refuse(http.StatusBadRequest, invalidRequest, "%s", e.Msg)
	}
	if e, ok := errors.AsType[*engine.QuarantineError](err); ok {
		return refuse(http.StatusBadRequest, invalidRequest, "%s", e.Error())
	}
	if e, ok := errors.AsType[*engine.PausedError](err); ok {
		return refuse(http.StatusConflict, invalidRequest, "%s", e.Error())
	}
	if e, ok := errors.AsType[*engine.InputError](err); ok {
		return refuse(http.StatusBadRequest, invalidRequest, "%s", e.Error())
	}
	if e, ok := errors.AsType[*store.InUseError](err); ok {
		jobs, them := "jobs refer", "them"
		if e.Instances == 1 {
			jobs, them = "job refers", "it"
		}
		return refuse(http.StatusConflict, workflowInUse, "%d %s to workflow '%s'; delete %s first", e.Instances, jobs, e.Definition, them)
	}
	return nil
}

// write writes the response.
func (f *failure) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if f.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	switch {
	case f.bare:
		w.WriteHeader(f.status)
	case f.text != "":
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(f.status)
		_, _ = w.Write([]byte(f.text + "\n")) // the client may have disconnected
	default:
		h.Set("Content-Type", "application/json")
		w.WriteHeader(f.status)
		_, _ = w.Write(append(f.body().AppendJSON(nil), '\n'))
	}
}

// body is an [api.ErrorResponse].
func (f *failure) body() expr.Value {
	if len(f.messages) == 0 {
		return expr.EmptyObject
	}
	var list []expr.Value
	for _, message := range f.messages[:min(len(f.messages), maxErrors)] {
		list = append(list, object("code", expr.String(string(f.kind.code)), "logref", expr.String(f.kind.logref), "message", expr.String(message)))
	}
	return object("errors", expr.Array(list...))
}
