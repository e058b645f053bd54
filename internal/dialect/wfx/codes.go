package wfx

import (
	_ "embed" // of codes.md

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The codes of this dialect. They are stable: a code is never given another meaning.
// WFX1xx is about the shape of one value, WFX2xx about names and transitions, WFX3xx
// about the graph and about what is allowed but odd.
const (
	codeNotObject  = "WFX100"
	codeMissing    = "WFX101"
	codeType       = "WFX102"
	codeUnknownKey = "WFX103" // warning
	codeChoice     = "WFX104"
	codeEmpty      = "WFX105"
	codeName       = "WFX106"
	codeTooLong    = "WFX107"
	codeTooMany    = "WFX108"
	codeDuration   = "WFX109"

	codeSameState       = "WFX201"
	codeNoState         = "WFX202"
	codeSameTransition  = "WFX203"
	codeSameGroup       = "WFX204"
	codeGroupState      = "WFX205"
	codeTwoGroups       = "WFX206"
	codeTwoImmediate    = "WFX207"
	codeNeverTaken      = "WFX208"
	codeImmediateClient = "WFX209"
	codeImmediateSelf   = "WFX210"
	codeTimeoutTarget   = "WFX211"

	codeNoInitial    = "WFX301"
	codeTwoInitial   = "WFX302"
	codeUnreachable  = "WFX303"
	codeCycle        = "WFX304"
	codeClientAction = "WFX310" // warning
	codeLooseFinal   = "WFX311" // warning
)

//go:embed codes.md
var codesPage string

// Codes explains every code of this dialect.
func Codes() []dialect.Explanation { return dialect.ParseExplanations(codesPage) }
