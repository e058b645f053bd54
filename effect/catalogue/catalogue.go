package catalogue

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/dialect"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/effect/http"
	"github.com/lockstep-workflows/lockstep/expr"
)

// Catalogue is a file of functions, ready to be called.
type Catalogue struct {
	options Options
	entries map[string]entry
	names   []string
}

var _ effect.Catalogue = (*Catalogue)(nil)

// entry is a function of one kind. Its error is about the call; what the other side
// says is an outcome.
type entry interface {
	invoke(ctx context.Context, c *Catalogue, call effect.Call, s *secrets) (effect.Outcome, error)
}

// Names lists the functions, sorted.
func (c *Catalogue) Names() []string { return slices.Clone(c.names) }

// Knows reports whether there is such a function, and else one that may be meant.
func (c *Catalogue) Knows(name string) (known bool, near string) {
	if c.entries[name] != nil {
		return true, ""
	}
	return false, dialect.Suggest(name, c.names)
}

// Invoke calls a function by its name.
func (c *Catalogue) Invoke(ctx context.Context, call effect.Call) effect.Outcome {
	e := c.entries[call.Function]
	if e == nil {
		return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: fmt.Sprintf("the catalogue has no function %q", call.Function)})
	}
	if call.Args.IsNull() {
		call.Args = expr.EmptyObject
	}
	s := &secrets{lookup: c.options.Env}
	out, err := e.invoke(ctx, c, call, s)
	if err != nil {
		out = effect.Fail(failureOf(call.Function, err))
	}
	return s.redact(out)
}

func failureOf(function string, err error) effect.Failure {
	f := effect.Failure{Name: effect.InvalidArguments, Code: http.CodeArguments, Detail: fmt.Sprintf("function %q: %v", function, err)}
	var unset missing
	if errors.As(err, &unset) {
		f.Name, f.Code = effect.Unnamed, "secret-missing"
	}
	return f
}
