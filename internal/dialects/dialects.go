// Package dialects lists the dialects of definitions that Lockstep reads.
package dialects

import (
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw08"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw10"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
)

// All returns a registry of every dialect.
func All() *dialect.Registry {
	all := []dialect.FrontEnd{sw10.FrontEnd{}, wfx.FrontEnd{}}
	all = append(all, sw01.FrontEnds()...)
	all = append(all, sw08.FrontEnds()...)
	return dialect.NewRegistry(append(all, sw05.FrontEnds()...)...)
}
