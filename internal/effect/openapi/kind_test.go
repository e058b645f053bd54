package openapi

import (
	"context"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/effect/pin"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Definition is what tests pin and check.
type Definition = pin.Definition

var kinds = pin.Kinds{"openapi": Kind{}}

// Pin pins the documents of a program.
func Pin(ctx context.Context, p *ir.Program, bundle dialect.Bundle, def Definition) dialect.Diagnostics {
	def.Program = p
	return kinds.Pin(ctx, bundle, def)
}
