package sw01

import (
	_ "embed" // of codes.md

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The codes of this dialect. They are stable: a code is never given another
// meaning. SV1xx is about the shape of one value, SV2xx about what refers to
// something else, SV3xx about the flow and about what is allowed but odd.
const (
	codeNotObject  = "SV100"
	codeMissing    = "SV101"
	codeType       = "SV102"
	codeUnknownKey = "SV103" // warning
	codeStateType  = "SV104"
	codeChoice     = "SV105"
	codeDuplicate  = "SV108"
	codeExclusive  = "SV109"
	codeEmpty      = "SV110"
	codeTwice      = "SV111"
	codeQuoteIt    = "SV112" // warning
	codeExpression = "SV120"
	codeNotPath    = "SV121"
	codeTime       = "SV122"
	codeRepeat     = "SV123"
	codeResultPath = "SV124"
	codeNumber     = "SV126"
	codeEventExpr  = "SV127"
	codeNot        = "SV128"
	codeTwoFilters = "SV129"
	codeTooMany    = "SV130"
	codeSeconds    = "SV131"

	codeNoState     = "SV201"
	codeNoFunction  = "SV202" // warning
	codeNoEvent     = "SV203"
	codeCrossing    = "SV204"
	codeAmbiguous   = "SV207" // warning
	codeOwnWorkflow = "SV208"

	codeJobName      = "SV212"
	codeJobArguments = "SV213"
	codeJobUnknown   = "SV214" // warning

	codeNoStart       = "SV301" // warning
	codeManyStarts    = "SV302"
	codeTwoExits      = "SV303" // warning
	codeSameMatch     = "SV304" // warning
	codeUnreachable   = "SV310" // warning
	codeUnusedEvent   = "SV312" // warning
	codeLiteral       = "SV314" // warning
	codeRepeatedEvent = "SV316" // warning
	codeNoDefault     = "SV317" // warning
	codeNoName        = "SV318" // warning
	codeWait          = "SV320" // warning
	codeNoRetries     = "SV321" // warning
	codeAnyEvent      = "SV322" // warning
	codeIgnored       = "SV323" // warning
	codeNoCorrelation = "SV325" // warning
	codeNoCategory    = "SV326" // warning
)

//go:embed codes.md
var codesPage string

// Codes explains every code of this dialect.
func Codes() []dialect.Explanation { return dialect.ParseExplanations(codesPage) }
