package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/jsonrpc"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// versions are those of the protocol that are known, the newest last.
var versions = []string{"2024-11-05", "2025-03-26", defaultVersion, "2025-11-25"}

const (
	defaultVersion = "2025-06-18"
	methodTool     = "tools/call"
)

// CodeTool is the code of a failure that a tool reports.
const CodeTool = "tool-error"

// Invoker makes calls.
type Invoker struct {
	client    *effecthttp.Client
	allowExec bool
	places    chan struct{} // as many as programs may run
}

var _ effect.Invoker = (*Invoker)(nil)

// New returns an invoker that calls through the client. Servers that are programs are started only if exec is
// allowed.
func New(client *effecthttp.Client, allowExec bool) *Invoker {
	return &Invoker{client, allowExec, make(chan struct{}, maxPrograms)}
}

// request is what a call asks for.
type request struct {
	version    string
	info       expr.Value // of the client
	method     string
	parameters expr.Value
	key        string
	deadline   jsonrpc.Deadline
}

// session is a connection to a server.
type session interface {
	// call sends a request and waits for its answer. Main: it is the one of the workflow.
	call(ctx context.Context, id int64, method string, params expr.Value, main bool) (expr.Value, error)
	// begin tells the server that the session begins with a version of the protocol.
	begin(ctx context.Context, version string) error
	// end ends the session. Where it returns text, that is what the server has to say of its end.
	end(ctx context.Context) string
}

// maxPrograms is how many programs run at a time (limit mcp-programs).
const maxPrograms = 32

// endWait is how long the end of a session may take, beside the time of the call (limit mcp-session-end).
const endWait = 2 * time.Second

// Invoke makes a call.
func (i *Invoker) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	where := fmt.Sprintf("call %q", c.Function)
	b, _ := ir.BuiltinOf(c.Operation)
	endpoint, _ := c.Args.Lookup("transport", "http", "endpoint")
	policy, _ := endpoint.Get("authentication")
	if b.Open && !policy.IsNull() {
		return jsonrpc.Failed(where, errors.New("an endpoint that an expression gives cannot have an authentication"))
	}
	args, credentials, err := i.client.Authorize(ctx, c.Args, policy, b)
	if err != nil {
		return jsonrpc.Failed(where, err)
	}
	r, err := i.read(ctx, args, c.Key)
	if err != nil {
		return jsonrpc.Failed(where, err)
	}
	transport, _ := args.Get("transport")
	var open func(ctx context.Context) (session, error)
	stdio, _ := transport.Get("stdio")
	program := !stdio.IsNull()
	if program {
		if !i.allowExec || !b.Exec {
			return jsonrpc.Failed(where, &effecthttp.Error{Code: effecthttp.CodeRefused, Msg: "this server does not run programs; start it with --allow-exec"})
		}
		where, open, err = overStdio(stdio, i.client.Holds)
	} else {
		http, _ := transport.Get("http")
		where, open, err = i.overHTTP(http, r, b, credentials)
	}
	if err != nil {
		return jsonrpc.Failed(fmt.Sprintf("call %q", c.Function), err)
	}
	run := func(ctx context.Context) effect.Outcome { return i.run(ctx, r, where, open) }
	if program {
		return effect.Outcome{Wait: func(ctx context.Context) effect.Outcome {
			select {
			case i.places <- struct{}{}:
				defer func() { <-i.places }()
				return run(ctx)
			case <-ctx.Done():
				return jsonrpc.Failed(where, i.client.Explain(ctx, ctx.Err(), r.deadline.After))
			}
		}}
	}
	if r.deadline.After > i.client.Limits().Timeout {
		return effect.Outcome{Wait: run}
	}
	return run(ctx)
}

// run makes the request in a session of its own.
func (i *Invoker) run(ctx context.Context, r request, where string, open func(context.Context) (session, error)) effect.Outcome {
	limited, explain, cancel := r.deadline.Within(ctx, i.client)
	defer cancel()
	s, err := open(limited)
	if err != nil {
		return jsonrpc.Failed(where, explain(err))
	}
	result, err := r.in(limited, s)
	if err != nil {
		err = explain(err) // before the time of the end counts
	}
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer stop()
	last := s.end(ending)
	switch {
	case err != nil && last != "":
		return jsonrpc.Failed(where, fmt.Errorf("%w (%s)", err, last))
	case err != nil:
		return jsonrpc.Failed(where, err)
	}
	return effect.Outcome{Value: result}
}

// in makes the request in a session.
func (r request) in(ctx context.Context, s session) (expr.Value, error) {
	hello := expr.Object(
		expr.Member{Key: "protocolVersion", Value: expr.String(r.version)},
		expr.Member{Key: "capabilities", Value: expr.EmptyObject},
		expr.Member{Key: "clientInfo", Value: r.info},
	)
	welcome, err := s.call(ctx, 1, "initialize", hello, false)
	if err != nil {
		return expr.Null, err
	}
	chosen := effect.Name(welcome, "protocolVersion")
	if !slices.Contains(versions, chosen) {
		return expr.Null, &effecthttp.Error{Code: effecthttp.CodeInvalid, Msg: fmt.Sprintf(
			"the server speaks the version %q of the protocol, and Lockstep %s", chosen, strings.Join(versions, ", "))}
	}
	if err := s.begin(ctx, chosen); err != nil {
		return expr.Null, err
	}
	result, err := s.call(ctx, 2, r.method, r.parameters, true)
	if err != nil {
		return expr.Null, err
	}
	if failed, _ := result.Get("isError"); r.method == methodTool && failed.Bool() {
		return expr.Null, toolError(result)
	}
	return result, nil
}

// toolError is the failure that the result of a tool tells.
func toolError(result expr.Value) error {
	content, _ := result.Get("content")
	var texts []string
	for _, item := range content.Items() {
		if text := effect.Name(item, "text"); text != "" {
			texts = append(texts, text)
		}
	}
	message := strings.Join(texts, "\n")
	if message == "" {
		message = "the tool failed, and does not say why"
	}
	return &jsonrpc.Error{Code: CodeTool, Message: message, Data: result}
}

// read reads the arguments but the transport.
func (i *Invoker) read(ctx context.Context, args expr.Value, key string) (request, error) {
	r := request{version: defaultVersion, method: effect.Name(args, "method"), key: key}
	if !slices.Contains(methods(), r.method) {
		return r, fmt.Errorf("method is %q, and must be one of %s", r.method, strings.Join(methods(), ", "))
	}
	if given, _ := args.Get("protocolVersion"); !given.IsNull() {
		r.version = given.Str()
	}
	if !slices.Contains(versions, r.version) {
		return r, fmt.Errorf("protocolVersion is %q, and must be one of %s", r.version, strings.Join(versions, ", "))
	}
	if r.info, _ = args.Get("client"); r.info.IsNull() {
		r.info = expr.Object(
			expr.Member{Key: "name", Value: expr.String("lockstep")},
			expr.Member{Key: "version", Value: expr.String(version.Read().Version)},
		)
	}
	r.parameters, _ = args.Get("parameters")
	if !r.parameters.IsNull() && !r.parameters.IsObject() {
		return r, errors.New("parameters must be an object, not " + r.parameters.Kind().WithArticle())
	}
	if problem := missing(r.method, r.parameters); problem != "" {
		return r, errors.New(problem)
	}
	if _, given := r.parameters.Lookup("_meta", "idempotencyKey"); r.method == methodTool && !given && key != "" {
		r.parameters = r.parameters.WithPath([]string{"_meta", "idempotencyKey"}, expr.String(key))
	}
	r.deadline.After, r.deadline.Named = i.client.Timeout(ctx)
	timeout, _ := args.Get("timeout")
	if timeout.IsNull() {
		return r, nil
	}
	after, err := span(timeout)
	r.deadline = jsonrpc.Deadline{After: after, Named: "its timeout"}
	return r, err
}

// units are those of a duration that is an object.
var units = map[string]time.Duration{
	"days": 24 * time.Hour, "hours": time.Hour, "minutes": time.Minute, "seconds": time.Second, "milliseconds": time.Millisecond,
}

// span reads a duration: an object of units, or ISO 8601.
func span(v expr.Value) (time.Duration, error) {
	var sum calendar.Duration
	for _, m := range v.Members() {
		n, whole := m.Value.Int()
		part, fits := calendar.DurationOf(units[m.Key]).Times(n)
		var added bool
		if sum, added = sum.Plus(part); units[m.Key] == 0 || !whole || n < 0 || !fits || !added {
			return 0, fmt.Errorf("timeout.%s is not an amount of time", m.Key)
		}
	}
	if !v.IsObject() {
		var err error
		if sum, err = calendar.ParseDuration(v.Str()); err != nil {
			return 0, fmt.Errorf("timeout: %w", err)
		}
	}
	now := time.Now()
	after := sum.AddTo(now).Sub(now)
	if after <= 0 {
		return 0, errors.New("timeout must be positive")
	}
	return after, nil
}
