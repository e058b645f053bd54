package sw10

import (
	_ "embed" // of codes.md

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The codes of this dialect. They are stable: a code is never given another
// meaning. OW1xx is about the shape of one value, OW2xx about what refers to
// something else, OW3xx about the flow and about what is allowed but odd.
const (
	codeNotObject    = "OW100"
	codeMissing      = "OW101"
	codeType         = "OW102"
	codeUnknownKey   = "OW103" // a warning at the top level
	codeTaskKind     = "OW104"
	codeChoice       = "OW105"
	codeVersion      = "OW106"
	codeName         = "OW107"
	codeExclusive    = "OW109"
	codeEmpty        = "OW110"
	codeItem         = "OW111"
	codeExpression   = "OW120"
	codeLanguage     = "OW121"
	codeDuration     = "OW122"
	codeCron         = "OW123"
	codeAddress      = "OW124"
	codeNumber       = "OW126"
	codeArguments    = "OW127"
	codeSchemaFormat = "OW128"
	codeSchema       = "OW129"
	codeVariableName = "OW130"
	codeConstant     = "OW131"
	codeOutOfPlace   = "OW132"
	codeFunctionName = "OW133"
	codeAttribute    = "OW134"

	codeNoTask        = "OW201"
	codeAmbiguous     = "OW202"
	codeNoFunction    = "OW203" // warning
	codeNoRetry       = "OW204"
	codeNoTimeout     = "OW205"
	codeNoError       = "OW206"
	codeNoAuth        = "OW207"
	codeNoCatalog     = "OW208"
	codeVariable      = "OW209"
	codeSecret        = "OW210"
	codeAuthorization = "OW211"
	codeRecursion     = "OW212"
	codeResource      = "OW213"

	codeTwoDefaults  = "OW301"
	codeNeverMatches = "OW302" // warning
	codeSameName     = "OW303" // warning
	codeReservedName = "OW304" // warning
	codeNothing      = "OW305" // warning
	codeUnreachable  = "OW310" // warning
	codeUnused       = "OW311" // warning
	codeCatchNothing = "OW312" // warning
	codeText         = "OW313" // warning
	codeInstance     = "OW314" // warning
	codeSecretSpread = "OW315" // warning
	codeShadows      = "OW316" // warning
	codeReadEnvelope = "OW317" // warning
	codeIgnored      = "OW318" // warning
	codeSpelling     = "OW319" // warning
	codeNotYet       = "OW320" // warning
)

//go:embed codes.md
var codesPage string

// Codes explains every code of this dialect.
func Codes() []dialect.Explanation { return dialect.ParseExplanations(codesPage) }
