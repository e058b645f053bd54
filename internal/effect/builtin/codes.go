package builtin

import (
	_ "embed" // of codes.md

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

const codeNoExec = "CALL002"

//go:embed codes.md
var codesPage string

// Codes explains every code of the packages that make calls.
func Codes() []dialect.Explanation { return dialect.ParseExplanations(codesPage) }
