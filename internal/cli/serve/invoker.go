package serve

import (
	"context"
	"sync/atomic"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/secrets"
)

// invoker carries out the calls of a server. Its catalogue can be replaced at run time.
type invoker struct {
	router   *route.Router // without a catalogue
	wait     bool          // functions without an endpoint wait for an answer
	secrets  *secrets.Store
	known    atomic.Pointer[catalogue.Catalogue]
	onParked func(effect.Call)
}

var _ effect.Invoker = (*invoker)(nil)

// use replaces the catalogue; nil: none.
func (v *invoker) use(c *catalogue.Catalogue) { v.known.Store(c) }

// Names lists the functions of the catalogue.
func (v *invoker) Names() []string { return v.known.Load().Names() }

// CheckCalls reports calls of a definition that do not fit the functions of the catalogue.
func (v *invoker) CheckCalls(ctx context.Context, d pin.Definition) dialect.Diagnostics {
	return v.known.Load().CheckCalls(ctx, d)
}

// Invoke carries out a call, or parks it if there is no implementation.
func (v *invoker) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	router := *v.router
	known := v.known.Load()
	if known != nil {
		router.Catalogue = known
	}
	if v.parks(known, c.Operation, c.Function) {
		if v.onParked != nil {
			v.onParked(c)
		}
		return effect.Outcome{Parked: true}
	}
	return secrets.Invoker(&router, v.secrets).Invoke(ctx, c)
}

// Parks reports whether calls of a function wait for an answer.
func (v *invoker) Parks(function, operation string) bool {
	return v.parks(v.known.Load(), operation, function)
}

func (v *invoker) parks(known *catalogue.Catalogue, operation, name string) bool {
	return v.wait && route.Parse(operation).Kind == route.ByName && !knows(known, name)
}

func knows(c *catalogue.Catalogue, name string) bool {
	if c == nil {
		return false
	}
	known, _ := c.Knows(name)
	return known
}
