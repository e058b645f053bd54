// Package languages is the set of expression languages that programs of all dialects
// use: whoever links programs takes it, so that no place knows fewer than another.
package languages

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
)

// All returns the languages by name. The map is the caller's own.
func All() expr.Languages {
	langs := jsonpath.Languages()
	langs[jsonschema.Lang] = jsonschema.Compiler{}
	langs[choice.Lang] = choice.Compiler{}
	return langs
}
