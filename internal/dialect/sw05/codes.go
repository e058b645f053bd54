package sw05

import (
	_ "embed" // of codes.md

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The codes of this dialect. They are stable: a code is never given another
// meaning. SW1xx is about the shape of one value, SW2xx about what refers to
// something else, SW3xx about the flow and about what is allowed but odd.
const (
	codeNotObject   = "SW100"
	codeMissing     = "SW101"
	codeType        = "SW102"
	codeUnknownKey  = "SW103" // warning
	codeStateType   = "SW104"
	codeChoice      = "SW105"
	codeNoExit      = "SW106"
	codeTwoExits    = "SW107"
	codeDuplicate   = "SW108"
	codeExclusive   = "SW109"
	codeEmpty       = "SW110"
	codeOutOfPlace  = "SW111"
	codeQuoteIt     = "SW112" // warning
	codeExpression  = "SW120"
	codeNotPath     = "SW121"
	codeDuration    = "SW122"
	codeCron        = "SW123"
	codeInterval    = "SW124"
	codeZone        = "SW125"
	codeNumber      = "SW126"
	codeTooMany     = "SW127"
	codeCollection  = "SW128"
	codeTwoFilters  = "SW129"
	codeFilterShape = "SW130" // warning
	codeConstant    = "SW131"
	codeAttribute   = "SW132"

	codeNoState       = "SW201"
	codeNoFunction    = "SW202" // warning
	codeNoEvent       = "SW203"
	codeNoRetry       = "SW204"
	codeNoCompensator = "SW205"
	codeEventKind     = "SW206"
	codeAmbiguous     = "SW207" // warning
	codeOwnWorkflow   = "SW208"
	codeResource      = "SW209"
	codeSchema        = "SW210"
	codeOperation     = "SW211" // warning
	codeJobName       = "SW212"
	codeJobArguments  = "SW213"
	codeJobUnknown    = "SW214" // warning

	codeNoStart       = "SW301" // warning
	codeManyStarts    = "SW302"
	codeTwoWildcards  = "SW303"
	codeSameError     = "SW304" // warning
	codeWildcardCode  = "SW305" // warning
	codeUnreachable   = "SW310" // warning
	codeUnusedFunc    = "SW311" // warning
	codeUnusedEvent   = "SW312" // warning
	codeUnusedRetry   = "SW313" // warning
	codeLiteral       = "SW314" // warning
	codeBarePath      = "SW315" // warning
	codeRepeatedEvent = "SW316" // warning
	codeNothing       = "SW317" // warning
	codeWait          = "SW320" // warning
	codeDirectInvoke  = "SW321" // warning
	codeAnyEvent      = "SW322" // warning
	codeIgnored       = "SW323" // warning
	codeEndKind       = "SW324" // warning
	codeNoCorrelation = "SW325" // warning
	codeCompIncoming  = "SW330"
	codeCompEvent     = "SW331"
	codeCompStart     = "SW332"
	codeCompEnd       = "SW333"
	codeCompUnmarked  = "SW334"
	codeCompLeaves    = "SW335"
	codeCompRecursive = "SW336"
	codeCompTriggers  = "SW337"
)

//go:embed codes.md
var codesPage string

// Codes explains every code of this dialect.
func Codes() []dialect.Explanation { return dialect.ParseExplanations(codesPage) }
