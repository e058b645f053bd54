package lockstep

import (
	"context"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/effect/route"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// router makes the calls that definitions describe.
func (c *config) router(outbound *effecthttp.Client) *route.Router {
	return builtin.Router(builtin.Options{Client: outbound, AllowExec: c.allowExec, Timeout: c.programTimeout, Log: c.log}, c.functions)
}

// invoker carries out calls: registered functions by name, other functions as the definition
// says.
func (c *config) invoker(router *route.Router) effect.Invoker {
	if c.other == nil {
		return router
	}
	return effect.Func(func(ctx context.Context, call effect.Call) effect.Outcome {
		if known, _ := c.functions.Knows(call.Function); known && call.Operation == "" {
			return router.Invoke(ctx, call)
		}
		return c.other.Invoke(ctx, call)
	})
}

// parks reports whether the calls of a function wait for an answer by hand.
func (c *config) parks(f *ir.Function) bool {
	if known, _ := c.functions.Knows(f.Name); known && f.Operation == "" {
		return false
	}
	other, ok := c.other.(interface {
		Parks(function, operation string) bool
	})
	return ok && other.Parks(f.Name, f.Operation)
}

// names lists the functions that definitions may call by name alone.
func (c *config) names() []string {
	out := c.functions.names()
	if other, ok := c.other.(interface{ Names() []string }); ok {
		out = append(out, other.Names()...)
	}
	return out
}

// checkCalls compares the calls of a definition with the catalogue, if there is one.
func (c *config) checkCalls(ctx context.Context, d pin.Definition) dialect.Diagnostics {
	if other, ok := c.other.(interface {
		CheckCalls(ctx context.Context, d pin.Definition) dialect.Diagnostics
	}); ok {
		return other.CheckCalls(ctx, d)
	}
	return nil
}
