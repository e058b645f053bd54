package sw08

import (
	_ "embed" // of codes.md

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The codes of this dialect. They are stable: a code is never given another meaning. SW80x to SW83x are
// about the shape of one value, SW84x and SW85x about references, the rest about the flow and about
// what is allowed but odd.
const (
	codeNotObject  = "SW800"
	codeMissing    = "SW801"
	codeType       = "SW802"
	codeUnknownKey = "SW803"
	codeStateType  = "SW804"
	codeChoice     = "SW805"
	codeNoExit     = "SW806"
	codeTwoExits   = "SW807"
	codeDuplicate  = "SW808"
	codeExclusive  = "SW809"
	codeEmpty      = "SW810"
	codeOutOfPlace = "SW811"
	codeQuoteIt    = "SW812" // warning
	codeLanguage   = "SW813"
	codeExpression = "SW814"
	codeVariable   = "SW815"
	codeTarget     = "SW816"
	codeDuration   = "SW817"
	codeCron       = "SW818"
	codeInterval   = "SW819"
	codeZone       = "SW820"
	codeNumber     = "SW821"
	codeTooMany    = "SW822"
	codeConstant   = "SW823"
	codeAttribute  = "SW824"
	codeOperation  = "SW825"
	codeName       = "SW826"
	codeVersion    = "SW827"

	codeNoState       = "SW840"
	codeNoFunction    = "SW841" // warning
	codeNoEvent       = "SW842"
	codeNoRetry       = "SW843"
	codeNoError       = "SW844"
	codeNoAuth        = "SW845"
	codeNoHandler     = "SW846"
	codeNoCompensator = "SW847"
	codeCycle         = "SW848"
	codeEventKind     = "SW849" // warning
	codeAmbiguous     = "SW850" // warning
	codeOwnWorkflow   = "SW851"
	codeResource      = "SW852"
	codeSchema        = "SW853"
	codeJobName       = "SW854"
	codeJobArguments  = "SW855"
	codeJobUnknown    = "SW856" // warning
	codeSecret        = "SW857" // warning

	codeExpected      = "SW860" // warning
	codeNoStart       = "SW861" // warning
	codeOtherForm     = "SW862" // warning
	codeSonata        = "SW863" // warning
	codeCustom        = "SW864" // warning
	codeAuth          = "SW865" // warning
	codeTwoWildcards  = "SW866"
	codeSameError     = "SW867" // warning
	codeWildcardCode  = "SW868" // warning
	codeUnreachable   = "SW869" // warning
	codeUnused        = "SW870" // warning
	codeRepeatedEvent = "SW871"
	codeNothing       = "SW872" // warning
	codeAnyEvent      = "SW873" // warning
	codeIgnored       = "SW874" // warning
	codeNoCorrelation = "SW875" // warning
	codeNoDefault     = "SW876" // warning
	codeNoLimit       = "SW877" // warning
	codeContinue      = "SW878" // warning
	codeNoMatch       = "SW879" // warning
	codeExtension     = "SW880" // warning
	codeRunBefore     = "SW881"
	codeCompIncoming  = "SW882"
	codeCompEvent     = "SW883"
	codeCompEnd       = "SW884" // warning
	codeCompUnmarked  = "SW885"
	codeCompLeaves    = "SW886"
	codeCompRecursive = "SW887"
	codeCompTriggers  = "SW888"
	codeCredentials   = "SW889" // warning
)

//go:embed codes.md
var codesPage string

// Codes explains every code of this dialect.
func Codes() []dialect.Explanation { return dialect.ParseExplanations(codesPage) }
