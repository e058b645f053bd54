package main

import (
	"context"
	"sync/atomic"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/effect/catalogue"
)

// invoker carries out the calls of a server. Its catalogue can be replaced while it runs.
type invoker struct {
	router   effect.Router // without a catalogue
	wait     bool          // functions without an endpoint wait for an answer
	known    atomic.Pointer[catalogue.Catalogue]
	onParked func(effect.Call)
}

var _ effect.Invoker = (*invoker)(nil)

// use replaces the catalogue; nil is none.
func (v *invoker) use(c *catalogue.Catalogue) { v.known.Store(c) }

func (v *invoker) names() []string { return v.known.Load().Names() }

// Invoke carries out a call, or lets it wait where nothing can.
func (v *invoker) Invoke(ctx context.Context, c effect.Call) effect.Outcome {
	router := v.router
	known := v.known.Load()
	if known != nil {
		router.Catalogue = known
	}
	if v.wait && effect.ParseOperation(c.Operation).Kind == effect.ByName && !knows(known, c.Function) {
		if v.onParked != nil {
			v.onParked(c)
		}
		return effect.Outcome{Parked: true}
	}
	return router.Invoke(ctx, c)
}

func knows(c *catalogue.Catalogue, name string) bool {
	if c == nil {
		return false
	}
	known, _ := c.Knows(name)
	return known
}
