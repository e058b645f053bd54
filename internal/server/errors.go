package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	eventhttp "github.com/lockstep-workflows/lockstep/internal/event/http"
	"github.com/lockstep-workflows/lockstep/internal/query"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// ProblemOf is what the API answers for an error of the engine.
func ProblemOf(err error) api.Problem { return problemOf(err).Problem }

// problemOf is the problem that the client gets for an error. An unknown error is one of the store, or a
// bug: its text goes to the log only.
func problemOf(err error) *problemError {
	if p, ok := errors.AsType[*problemError](err); ok {
		return p
	}
	if errors.Is(err, store.ErrUncertain) { // before its causes, such as a timeout
		p := problem(api.CodeUncertain, "the store did not respond; it is not known whether this happened").
			hint("check whether it did, or send it again with the same Idempotency-Key")
		p.retry, p.cause = 1, err
		return p
	}
	if p := ofEngine(err); p != nil {
		return p
	}
	if p := ofRequest(err); p != nil {
		return p
	}
	var p *problemError
	switch {
	case errors.Is(err, store.ErrFull):
		p = problem(api.CodeStorageFull, "there is no space left to store this; nothing happened")
		p.retry = 5
	case errors.Is(err, store.ErrMoved):
		p = problem(api.CodeStore, store.ErrMoved.Error()+"; nothing is stored any more").
			hint("stop the server, restore its files or a backup, and start it again; its log names the file")
		p.retry = 1
	case errors.Is(err, store.ErrDamaged):
		p = problem(api.CodeDamaged, firstLine(err))
	case errors.Is(err, store.ErrNotFound):
		p = problem(api.CodeNotFound, "it does not exist any more")
	case errors.Is(err, core.ErrStopped):
		p = problem(api.CodeStopping, "the instance's step was stopped because the request took too long or the server is stopping; nothing happened")
		p.retry = 1
	case errors.Is(err, store.ErrConflict):
		p = problem(api.CodeChanged, "it kept changing meanwhile; try again")
	case errors.Is(err, errInternal):
		p = problem(api.CodeInternal, "")
	default:
		p = problem(api.CodeStore, "the store does not respond; nothing happened")
		p.retry = 1
	}
	p.cause = err
	return p
}

// maxNear bounds with how many names a wrong one is compared: an answer to a mistake must not cost much.
const maxNear = 1000

// near is the name among those that exist which was most likely meant; "": there is none.
func near(name string, among []string) string {
	return dialect.Suggest(name, among[:min(len(among), maxNear)])
}

// suggest adds to an error about a definition that does not exist which one was most likely meant. Roles that may not
// read do not learn of it.
func (s *Server) suggest(who identity, err error) error {
	missing, ok := errors.AsType[*engine.NotFoundError](err)
	if !ok || missing.Kind != "definition" || !slices.Contains(readers, who.role) {
		return err
	}
	if missing.Version != "" {
		p := *problemOf(err)
		return p.hint("lockstep def versions " + missing.ID + " lists those that exist")
	}
	if name := nearDefinition(missing.ID, s.engine.Names().Definitions); name != "" {
		p := *problemOf(err)
		return p.hint(fmt.Sprintf("did you mean %q?", name))
	}
	return err
}

// nearDefinition is the id that was most likely meant: a name without its namespace, or one with a slip.
func nearDefinition(name string, among []string) string {
	among = among[:min(len(among), maxNear)]
	if i := slices.IndexFunc(among, func(id string) bool { return strings.HasSuffix(id, "."+name) }); i >= 0 {
		return among[i]
	}
	return near(name, among)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// errInternal marks a bug of this program.
var errInternal = errors.New("internal")

// ofEngine is the problem for an error of the engine, or nil.
func ofEngine(err error) *problemError {
	for _, convert := range engineProblems {
		if p := convert(err); p != nil {
			return p
		}
	}
	return nil
}

// engineProblems convert errors of the engine, each one type of them.
var engineProblems = []func(error) *problemError{
	ofType[*engine.NotFoundError](api.CodeNotFound, ""),
	func(err error) *problemError {
		e, ok := errors.AsType[*engine.InputError](err)
		if !ok {
			return nil
		}
		p := problem(api.CodeInput, e.Error())
		for _, v := range e.Violations {
			p.Errors = append(p.Errors, api.ProblemDetail{Pointer: v.Pointer, Message: v.Message})
		}
		return p
	},
	func(err error) *problemError {
		e, ok := errors.AsType[*engine.UnloadableError](err)
		if !ok {
			return nil
		}
		p := problem(api.CodeDamaged, e.Error())
		p.Limit = e.Limit
		return p.hint("deploy a new version that fits; instances of this one continue in a program whose limit is higher")
	},
	func(err error) *problemError {
		e, ok := errors.AsType[*engine.QuotaError](err)
		if !ok {
			return nil
		}
		p := problem(api.CodeBusy, e.Error())
		p.Limit, p.retry = e.Limit, int(e.Retry().Seconds())
		return p
	},
	func(err error) *problemError {
		e, ok := errors.AsType[*engine.ScheduleError](err)
		if !ok {
			return nil
		}
		p := problem(api.CodeSchedule, e.Error())
		if e.Cron != "" {
			p = p.hint("lockstep schedule trigger " + e.Definition + " starts an instance now")
		}
		return p
	},
	ofType[*engine.NoScheduleError](api.CodeNoSchedule, "lockstep schedule ls lists the definitions that have one"),
	ofPaused,
	func(err error) *problemError {
		e, ok := errors.AsType[*engine.InvalidError](err)
		if !ok {
			return nil
		}
		p := problem(api.CodeInput, e.Error())
		p.Errors = []api.ProblemDetail{{Pointer: "/" + e.Field, Message: e.Msg}}
		return p
	},
	ofType[*engine.ExistsError](api.CodeExists, "it was started with another definition, version or input; choose another id"),
	ofType[*engine.IDError](api.CodeBadParameter, ""),
	ofType[*engine.LabelError](api.CodeBadParameter, ""),
	ofType[*engine.EventConflictError](api.CodeEventConflict, "give the event a new id, or send the same event again"),
	ofType[*engine.VersionConflictError](api.CodeVersion, ""),
	ofType[*engine.BusyError](api.CodeNotReady, ""),
	ofType[*engine.QuarantineError](api.CodeQuarantine, ""),
	ofType[*engine.RevisionError](api.CodeChanged, "read it again, and decide again"),
	ofType[*engine.KeyConflictError](api.CodeKeyReused, "use a new key for another request"),
	func(err error) *problemError {
		if !errors.Is(err, store.ErrText) {
			return nil
		}
		return problem(api.CodeInput, firstLine(err))
	},
	ofType[*core.Rejected](api.CodeNotAllowedNow, ""),
	func(err error) *problemError {
		e, ok := errors.AsType[*store.InUseError](err)
		if !ok {
			return nil
		}
		users := fmt.Sprintf("%d instances refer", e.Instances)
		if e.Instances == 1 {
			users = "1 instance refers"
		}
		p := problem(api.CodeInUse, fmt.Sprintf("%s to version %q of definition %q", users, e.Version, e.Definition))
		p.Count = e.Instances
		return p.hint("delete its instances first, or keep the definition from starting any: lockstep def retire " + e.Definition)
	},
}

// ofPaused converts refusals of a definition that operators stopped.
func ofPaused(err error) *problemError {
	e, ok := errors.AsType[*engine.PausedError](err)
	switch {
	case !ok:
		return nil
	case e.Retired:
		return problem(api.CodeRetired, e.Error()).hint("deploy a new version, or undo it: lockstep def retire --undo " + e.Definition)
	}
	return problem(api.CodePaused, e.Error()).hint("resume it: lockstep def resume " + e.Definition)
}

// ofType converts errors of one type: the detail of the problem is the error's text.
func ofType[E error](code api.Code, hint string) func(error) *problemError {
	return func(err error) *problemError {
		e, ok := errors.AsType[E](err)
		if !ok {
			return nil
		}
		return problem(code, e.Error()).hint(hint)
	}
}

// ofRequest is the problem for an error in a request, or nil.
func ofRequest(err error) *problemError {
	if e, ok := errors.AsType[*query.Error](err); ok {
		p := problem(api.CodeBadFilter, "q: "+e.Error())
		p.Hint = e.Hint
		p.Errors = []api.ProblemDetail{{Parameter: "q", Column: e.Column, Message: e.Msg, Hint: e.Hint}}
		return p
	}
	if e, ok := errors.AsType[*eventhttp.LimitError](err); ok {
		return tooLarge(e.Limit, e.Max)
	}
	if e, ok := errors.AsType[*eventhttp.MediaTypeError](err); ok {
		return problem(api.CodeMediaType, e.Error()).
			hint("send " + eventhttp.Structured + ", " + eventhttp.Batch + ", or ce-id, ce-source, ce-type and ce-specversion headers with the data as body")
	}
	if e, ok := errors.AsType[*eventhttp.InvalidError](err); ok {
		p := problem(api.CodeInvalidEvent, e.Error())
		for _, bad := range e.Events {
			pointer := ""
			if e.Mode == eventhttp.ModeBatch {
				pointer = "/" + itoa(int64(bad.Index))
			}
			if bad.Attribute != "" {
				pointer += "/" + bad.Attribute
			}
			p.Errors = append(p.Errors, api.ProblemDetail{Pointer: pointer, Message: bad.Msg})
		}
		return p
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge("request-bytes", e.Limit)
	}
	switch {
	case errors.Is(err, errBody) && errors.Is(err, os.ErrDeadlineExceeded): // other deadlines are the store's
		return problem(api.CodeRequestTimeout, "the request did not arrive in time (limits request-time and minimum-rate)")
	case errors.Is(err, errBody):
		return problem(api.CodeBadRequest, "the body ended early")
	case errors.Is(err, context.Canceled):
		p := problem(api.CodeStopping, "the request was cancelled: the client disconnected, or the server is stopping")
		p.retry = 1
		return p
	}
	return nil
}

func tooLarge(limit string, most int64) *problemError {
	p := problem(api.CodeTooLarge, fmt.Sprintf("the request exceeds the limit %s, which is %d", limit, most))
	p.Limit = limit
	return p
}
