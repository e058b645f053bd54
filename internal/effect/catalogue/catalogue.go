package catalogue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
)

// Catalogue is a file of functions, ready to be called.
type Catalogue struct {
	options Options
	entries map[string]entry
	kinds   map[string]string // by name
	names   []string
}

var _ route.Catalogue = (*Catalogue)(nil)

// entry is a function of one kind. Its error is about the call; what the other side
// says is an outcome.
type entry interface {
	invoke(ctx context.Context, c *Catalogue, call effect.Call, s *secrets) (effect.Outcome, error)
}

// Names lists the functions, sorted; there are none where there is no catalogue.
func (c *Catalogue) Names() []string {
	if c == nil {
		return nil
	}
	return slices.Clone(c.names)
}

// Knows reports whether there is such a function, and else one that may be meant.
func (c *Catalogue) Knows(name string) (known bool, near string) {
	if c.entries[name] != nil {
		return true, ""
	}
	return false, dialect.Suggest(name, c.names)
}

// Check warns of the functions of a definition that the catalogue should have, and has
// not. places are where they stand, by name. No catalogue promises nothing.
func (c *Catalogue) Check(places map[string]dialect.Place) dialect.Diagnostics {
	if c == nil {
		return nil
	}
	var report dialect.Reporter
	for name, at := range places {
		known, near := c.Knows(name)
		if known {
			continue
		}
		d := report.Warnf(at, codeUnknown, "function %q has no operation, and the catalogue does not have it", name)
		if near != "" {
			d.WithHint("did you mean %q?", near)
		}
	}
	return report.Diagnostics() // sorted
}

// Invoke calls a function by its name.
func (c *Catalogue) Invoke(ctx context.Context, call effect.Call) effect.Outcome {
	e := c.entries[call.Function]
	if e == nil {
		return effect.Fail(effect.Failure{Name: effect.NotFound, Detail: fmt.Sprintf("the catalogue has no function %q", call.Function)})
	}
	// A definition of Serverless Workflow 0.1 says which kind of function it means; types
	// that are no kinds are the author's own.
	if kind := c.kinds[call.Function]; slices.Contains(kinds, strings.ToLower(call.Type)) && strings.ToLower(call.Type) != kind {
		return effect.Fail(effect.Failure{
			Name: effect.NotFound, Detail: fmt.Sprintf("the definition asks for function %q of type %q, and that of the catalogue is of type %q", call.Function, call.Type, kind),
		})
	}
	if call.Args.IsNull() {
		call.Args = expr.EmptyObject
	}
	s := &secrets{lookup: c.options.lookup}
	seen := new(effect.Exchanges)
	out, err := e.invoke(effect.WithExchanges(ctx, seen), c, call, s)
	if err != nil {
		out = effect.Fail(failureOf(call.Function, err))
	}
	out.Exchange = seen.Last()
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
