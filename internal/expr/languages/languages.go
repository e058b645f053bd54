// Package languages is the set of expression languages of all dialects. Everything that links
// programs uses it, so that the sets cannot differ.
package languages

import (
	"maps"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/choice"
	"github.com/lockstep-workflows/lockstep/internal/expr/jq"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/expr/uritemplate"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// All returns the languages by name. Each call returns a new map.
func All() expr.Languages {
	langs := jsonpath.Languages()
	langs[jsonschema.Lang] = jsonschema.Compiler{}
	langs[choice.Lang] = choice.Compiler{}
	maps.Copy(langs, jq.Languages(runtimeValue))
	langs[uritemplate.Lang] = uritemplate.Compiler{}
	return langs
}

// runtimeValue is the variable $runtime of jq expressions.
var runtimeValue = expr.Object(
	expr.Member{Key: "name", Value: expr.String("Lockstep")},
	expr.Member{Key: "version", Value: expr.String(version.Read().Version)},
	expr.Member{Key: "metadata", Value: expr.EmptyObject},
)
