package catalogue

import (
	_ "embed" // of codes.md

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The codes of catalogues. All are errors, except the one about definitions; what is
// wrong with an OpenAPI document has the codes of effect/openapi.
const (
	codeType    = "FN001"
	codeKey     = "FN002"
	codeKind    = "FN003"
	codeMissing = "FN004"
	codeValue   = "FN005"
	codeExpr    = "FN006"
	codeHost    = "FN007"
	codeNoExec  = "FN008"
	codeCommand = "FN009"
	codeSecret  = "FN010"
	codeUnknown = "FN011" // warning, in a definition
)

//go:embed codes.md
var codesPage string

// Codes explains every code of this package.
func Codes() []dialect.Explanation { return dialect.ParseExplanations(codesPage) }
