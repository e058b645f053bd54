package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	eventhttp "github.com/lockstep-workflows/lockstep/internal/event/http"
	"github.com/lockstep-workflows/lockstep/internal/query"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// as finds an error of a type in a chain.
func as[E error](err error) (E, bool) {
	var target E
	ok := errors.As(err, &target)
	return target, ok
}

// problemOf makes an error what the client is told. What is not foreseen is the
// store's trouble, or a fault of ours: the client learns no more than that.
func problemOf(err error) *Problem {
	if p, ok := as[*Problem](err); ok {
		return p
	}
	if errors.Is(err, store.ErrUncertain) { // before what it may be caused by, such as a time limit
		p := problem(CodeUncertain, "the store did not answer; it is not known whether this happened").
			hint("look whether it did, or send it again with the same Idempotency-Key")
		p.retry, p.cause = 1, err
		return p
	}
	if p := ofEngine(err); p != nil {
		return p
	}
	if p := ofRequest(err); p != nil {
		return p
	}
	var p *Problem
	switch {
	case errors.Is(err, store.ErrFull):
		p = problem(CodeStorageFull, "there is no space left to store this; nothing happened")
		p.retry = 5
	case errors.Is(err, store.ErrMoved):
		p = problem(CodeStore, store.ErrMoved.Error()+"; nothing is acknowledged any more").
			hint("stop the server, put back its files or restore a backup, and start it again; its log names the file")
		p.retry = 1
	case errors.Is(err, store.ErrDamaged):
		p = problem(CodeDamaged, firstLine(err))
	case errors.Is(err, store.ErrNotFound):
		p = problem(CodeNotFound, "there is no such thing any more")
	case errors.Is(err, core.ErrStopped):
		p = problem(CodeStopping, "the instance's step was stopped, because the request took too long or the server ends; nothing happened")
		p.retry = 1
	case errors.Is(err, store.ErrConflict):
		p = problem(CodeChanged, "it changed meanwhile, again and again; try again")
	case errors.Is(err, errInternal):
		p = problem(CodeInternal, "")
	default:
		p = problem(CodeStore, "the store does not answer; nothing happened")
		p.retry = 1
	}
	p.cause = err
	return p
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// errInternal marks what is a fault of this program.
var errInternal = errors.New("internal")

// ofEngine are the refusals of the engine.
func ofEngine(err error) *Problem {
	if e, ok := as[*engine.NotFoundError](err); ok {
		return problem(CodeNotFound, e.Error())
	}
	if e, ok := as[*engine.InputError](err); ok {
		p := problem(CodeInput, e.Error())
		for _, v := range e.Violations {
			p.Errors = append(p.Errors, Detail{Pointer: v.Pointer, Message: v.Message})
		}
		return p
	}
	if e, ok := as[*engine.UnloadableError](err); ok {
		p := problem(CodeDamaged, e.Error()).hint("deploy a new version that fits; instances of this one go on in a program whose limit is higher")
		p.Limit = e.Limit
		return p
	}
	if e, ok := as[*engine.ScheduleError](err); ok {
		return problem(CodeSchedule, e.Error())
	}
	if e, ok := as[*engine.ExistsError](err); ok {
		return problem(CodeExists, e.Error())
	}
	if e, ok := as[*engine.IDError](err); ok {
		return problem(CodeBadParameter, e.Error())
	}
	if e, ok := as[*engine.EventConflictError](err); ok {
		return problem(CodeEventConflict, e.Error()).hint("give the event an id of its own, or send the same event again")
	}
	if e, ok := as[*engine.VersionConflictError](err); ok {
		return problem(CodeVersion, e.Error())
	}
	if e, ok := as[*engine.BusyError](err); ok {
		return problem(CodeNotReady, e.Error())
	}
	if e, ok := as[*engine.QuarantineError](err); ok {
		return problem(CodeQuarantine, e.Error())
	}
	if e, ok := as[*engine.RevisionError](err); ok {
		return problem(CodeChanged, e.Error()).hint("read it again, and decide again")
	}
	if e, ok := as[*engine.KeyConflictError](err); ok {
		return problem(CodeKeyReused, e.Error()).hint("use a new key for another request")
	}
	if errors.Is(err, store.ErrText) {
		return problem(CodeInput, firstLine(err))
	}
	if e, ok := as[*core.Rejected](err); ok {
		return problem(CodeNotAllowedNow, e.Msg)
	}
	if e, ok := as[*store.InUseError](err); ok {
		p := problem(CodeInUse, fmt.Sprintf("%d instances refer to version %q of definition %q", e.Instances, e.Version, e.Definition))
		p.Count = e.Instances
		return p
	}
	return nil
}

// ofRequest are errors of reading a request.
func ofRequest(err error) *Problem {
	if e, ok := as[*query.Error](err); ok {
		p := problem(CodeBadFilter, "q: "+e.Error())
		p.Hint = e.Hint
		p.Errors = []Detail{{Parameter: "q", Column: e.Column, Message: e.Msg, Hint: e.Hint}}
		return p
	}
	if e, ok := as[*eventhttp.LimitError](err); ok {
		return tooLarge(e.Limit, e.Max)
	}
	if e, ok := as[*eventhttp.MediaTypeError](err); ok {
		return problem(CodeMediaType, e.Error()).
			hint("send " + eventhttp.Structured + ", " + eventhttp.Batch + ", or ce-id, ce-source, ce-type and ce-specversion headers with the data as body")
	}
	if e, ok := as[*eventhttp.InvalidError](err); ok {
		p := problem(CodeInvalidEvent, e.Error())
		for _, bad := range e.Events {
			pointer := ""
			if e.Mode == eventhttp.ModeBatch {
				pointer = "/" + itoa(int64(bad.Index))
			}
			if bad.Attribute != "" {
				pointer += "/" + bad.Attribute
			}
			p.Errors = append(p.Errors, Detail{Pointer: pointer, Message: bad.Msg})
		}
		return p
	}
	if e, ok := as[*http.MaxBytesError](err); ok {
		return tooLarge("request-bytes", e.Limit)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problem(CodeRequestTimeout, "the request did not arrive in time (limits request-time and minimum-rate)")
	case errors.Is(err, errBody):
		return problem(CodeBadRequest, "the body ended early")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		p := problem(CodeStopping, "the request was given up: the client left, or the server stops")
		p.retry = 1
		return p
	}
	return nil
}

func tooLarge(limit string, most int64) *Problem {
	p := problem(CodeTooLarge, fmt.Sprintf("the request exceeds the limit %s, which is %d", limit, most))
	p.Limit = limit
	return p
}
