package lockstep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
)

// Func registers a Go function under the name by which definitions call it. The arguments of a call
// become an In, and the result becomes JSON, both as [encoding/json] does.
//
// An error is the failure of the call, which the definition may handle: an [*effect.Failure] with
// the name, code and details that it has, any other one with its text as the detail. When ctx ends,
// the result is no longer needed.
func Func[In, Out any](name string, f func(ctx context.Context, in In) (Out, error)) Option {
	return func(c *config) error {
		switch {
		case name == "":
			return &OptionError{"Func", errors.New("the name is empty")}
		case f == nil:
			return &OptionError{"Func", fmt.Errorf("%q is registered with nil", name)}
		case c.functions[name] != nil:
			return &OptionError{"Func", fmt.Errorf("%q is registered twice", name)}
		}
		c.functions[name] = func(ctx context.Context, args expr.Value) effect.Outcome {
			var in In
			if err := json.Unmarshal(args.AppendJSON(nil), &in); err != nil {
				return effect.Fail(effect.Failure{Name: effect.InvalidArguments, Detail: fmt.Sprintf("function %q: %v", name, err)})
			}
			out, err := f(ctx, in)
			if err != nil {
				return effect.Fail(failureOf(err))
			}
			value, err := valueOf(out)
			if err != nil {
				return effect.Fail(effect.Failure{Name: effect.Unnamed, Detail: fmt.Sprintf("the result of function %q: %v", name, err)})
			}
			return effect.Outcome{Value: value}
		}
		return nil
	}
}

// failureOf is what a definition sees of an error.
func failureOf(err error) effect.Failure {
	if f, ok := errors.AsType[*effect.Failure](err); ok {
		return *f
	}
	return effect.Failure{Name: effect.Unnamed, Detail: err.Error()}
}

// valueOf is a Go value as a workflow has it.
func valueOf(v any) (expr.Value, error) {
	if value, ok := v.(expr.Value); ok {
		return value, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return expr.Value{}, err
	}
	return expr.ParseJSON(text)
}

type callKey struct{}

// CallKey is the idempotency key of the call that a registered function carries out. All deliveries
// of one call have the same key, and no other call has it.
func CallKey(ctx context.Context) string {
	key, _ := ctx.Value(callKey{}).(string)
	return key
}

// functions are the registered ones, by name.
type functions map[string]func(context.Context, expr.Value) effect.Outcome

var _ route.Catalogue = functions{}

func (f functions) names() []string { return slices.Sorted(maps.Keys(f)) }

// Knows implements [route.Catalogue].
func (f functions) Knows(name string) (known bool, near string) {
	if f[name] != nil {
		return true, ""
	}
	return false, dialect.Suggest(name, f.names())
}

// Invoke implements [effect.Invoker].
func (f functions) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	args := c.Args
	if args.IsNull() {
		args = expr.EmptyObject
	}
	return f[c.Function](context.WithValue(ctx, callKey{}, c.Key), args)
}
