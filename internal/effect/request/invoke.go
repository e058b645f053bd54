package request

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Invoker makes the calls.
type Invoker struct{ client *http.Client }

var _ effect.Invoker = (*Invoker)(nil)

// New makes calls with a client, under its policy.
func New(client *http.Client) *Invoker { return &Invoker{client} }

// call is a request, and what its answer means.
type call struct {
	http.Request
	secrets expr.Value // what of the arguments follows a redirect to another host
	outcome func(a http.Answer, where string) effect.Outcome
}

// described is what the definition says of a function.
type described struct {
	ir.Request
	guarded bool // data may choose the host
}

// builders make requests, by protocol.
var builders = map[string]func(described, expr.Value) (call, error){
	ir.RequestHTTP:    httpCall,
	ir.RequestREST:    restCall,
	ir.RequestGraphQL: graphqlCall,
	ir.RequestOData:   odataCall,
}

// Invoke makes the request that the operation of the function describes.
func (i *Invoker) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	b, _ := ir.BuiltinOf(c.Operation)
	r, err := b.Request()
	build := builders[r.Protocol]
	if err != nil || build == nil {
		return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: fmt.Sprintf("function %q: nothing here can call %q", c.Function, c.Operation)})
	}
	args, credentials, err := i.authorize(ctx, r, b, c.Args)
	if err != nil {
		return refused(c.Function, err)
	}
	made, err := build(described{r, b.Guarded}, args)
	if err != nil {
		return refused(c.Function, err)
	}
	made.Auth = credentials
	made.Guarded, made.Secret = b.Guarded, i.client.Holds(made.secrets)
	if made.Header.Get("Idempotency-Key") == "" { // the author's own lasts longer than one call
		made.Key = c.Key
	}
	where := made.Method + " " + made.URL.Scheme + "://" + made.URL.Host + made.URL.EscapedPath()
	a, err := i.client.Do(ctx, made.Request)
	switch {
	case err != nil:
		return http.Failed(where, err)
	case made.outcome != nil:
		return made.outcome(a, where)
	}
	return a.Outcome(where)
}

// authorize takes the credentials of a call from its arguments. Arguments that choose the host cannot have them sent there.
func (i *Invoker) authorize(ctx context.Context, r ir.Request, b ir.Builtin, args expr.Value) (expr.Value, *auth.Policy, error) {
	if !r.Auth {
		return args, nil, nil
	}
	if b.Guarded {
		return args, nil, definitionf("credentials cannot be sent to a host that arguments choose")
	}
	own, _ := args.Get("arguments")
	policy, _ := args.Get("authentication")
	if policy.IsNull() {
		return args, nil, definitionf("it has no credentials")
	}
	return i.client.Authorize(ctx, own, policy, b)
}

// definitionError is about what the definition says of a function: no arguments could make a request of it.
type definitionError struct{ text string }

func (e *definitionError) Error() string { return e.text }

func definitionf(format string, args ...any) error {
	return &definitionError{fmt.Sprintf(format, args...)}
}

// refused is the outcome of a call of which no request can be made.
func refused(function string, err error) effect.Outcome {
	f := effect.Failure{Name: effect.InvalidArguments, Code: http.CodeArguments, Detail: fmt.Sprintf("function %q: %v", function, err)}
	if _, ok := errors.AsType[*definitionError](err); ok {
		f.Name, f.Code = effect.NotFound, ""
	}
	return effect.Fail(f)
}
