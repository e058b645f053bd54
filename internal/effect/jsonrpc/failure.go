package jsonrpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
)

// Error is what the other side says went wrong: an error of JSON-RPC, or the status of its HTTP answer.
type Error struct {
	Status  int    // of the HTTP answer, where that says so; 0: it does not
	Code    string // of JSON-RPC, or that of a tool; "": there is none
	Message string // "": there is none
	Data    expr.Value
}

func (e *Error) Error() string {
	return cmp.Or(e.Message, "error "+cmp.Or(e.Code, strconv.Itoa(e.Status)))
}

// errorOf reads the error of an answer.
func errorOf(v expr.Value) *Error {
	data, _ := v.Get("data")
	return &Error{Code: effect.Text(v, "code"), Message: effect.Name(v, "message"), Data: data}
}

// invalid is the error of an answer that is not one of the protocol.
func invalid(format string, args ...any) error {
	return &effecthttp.Error{Code: effecthttp.CodeInvalid, Msg: fmt.Sprintf(format, args...)}
}

// Failed is the outcome of a call that went wrong. Where is what it did. The failure is named runtime, whatever
// went wrong (Open Workflow §A2A Call, §MCP Call), unless there were no credentials for it.
func Failed(where string, err error) effect.Outcome {
	f := effect.Failure{Name: effect.Runtime, Code: effecthttp.CodeArguments, Detail: where + ": " + err.Error()}
	if refused, ok := errors.AsType[*auth.Error](err); ok {
		f.Name, f.Code, f.Status = refused.Name, effecthttp.CodeAuthentication, refused.Status()
	}
	if known, ok := errors.AsType[*effecthttp.Error](err); ok {
		f.Code = known.Code
	}
	if told, ok := errors.AsType[*Error](err); ok {
		f.Code, f.Data = told.Code, told.Data
		if told.Status != 0 {
			f.Status = strconv.Itoa(told.Status)
		}
		if told.Message != "" {
			f.Detail = told.Message
		}
	}
	return effect.Fail(f)
}

// Deadline is how long a call may take, and what limits it.
type Deadline struct {
	After time.Duration
	Named string
}

// Within returns a context that ends after the deadline, and a function that explains an error of what was
// done in it.
func (d Deadline) Within(ctx context.Context, client *effecthttp.Client) (limited context.Context, explain func(error) error, cancel func()) {
	limited, cancel = context.WithTimeout(ctx, d.After)
	return limited, func(err error) error { return d.Explain(ctx, client, err, limited.Err() != nil) }, cancel
}

// Explain is an error whose message may be told; over: the deadline was reached.
func (d Deadline) Explain(ctx context.Context, client *effecthttp.Client, err error, over bool) error {
	if told, ok := errors.AsType[*Error](err); ok {
		return told
	}
	if over && ctx.Err() == nil {
		return &effecthttp.Error{Code: effecthttp.CodeTimeout, Msg: fmt.Sprintf("no answer came within %s (%s)", d.After, d.Named)}
	}
	if ctx.Err() != nil {
		err = ctx.Err() // not what broke because of it
	}
	return client.Explain(ctx, err, d.After)
}
