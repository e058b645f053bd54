package scenario

import (
	_ "embed" // of codes.md

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Codes of the diagnostics for scenario files.
const (
	codeUnknownKey = "TS101"
	codeKind       = "TS102" // a value of the wrong kind
	codeMissing    = "TS103"
	codeValue      = "TS104" // a value of the right kind that cannot be
	codeRepeated   = "TS105"
	codeConflict   = "TS106" // keys that exclude one another
	codeDialect    = "TS107" // not for definitions of this dialect
	codeDefinition = "TS108" // a definition that cannot be read
	codeNoFunction = "TS109" // a mock that answers no call
)

//go:embed codes.md
var codesPage string

// Codes explains every code of this package.
func Codes() []dialect.Explanation { return dialect.ParseExplanations(codesPage) }
