package openapi

import (
	_ "embed" // of codes.md

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// The codes of this package. OA006 and OA007 are warnings; the others are errors, since
// every call of the function would fail.
const (
	codeOpen      = "OA001"
	codeRead      = "OA002"
	codeNoOpenAPI = "OA003"
	codeNoID      = "OA004"
	codeBroken    = "OA005"
	codeUnchecked = "OA006"
	codeTwice     = "OA007"
)

//go:embed codes.md
var codesPage string

// Codes explains every code of this package.
func Codes() []dialect.Explanation { return dialect.ParseExplanations(codesPage) }

// Hint says what to try where a call fails with a code of this package; it is empty for
// other codes.
func Hint(code string) string { return hints[code] }

var hints = map[string]string{
	codeOpen: "check that the document is where the operation says: a file must be in the definition's folder or below it; of an address, " +
		"\"lockstep validate --fetch FILE\" says why it cannot be opened, and --outbound-allow HOST[:PORT] permits a private one",
	codeRead:      "correct the document, which is not well-formed; \"lockstep validate --fetch FILE\" says where",
	codeNoOpenAPI: "name an OpenAPI document in the operation (2.0, 3.0, 3.1), or an address with a method: https://host/path#POST",
	codeNoID:      "write after the # an operationId of the document, in exactly its spelling",
	codeBroken:    "correct the document, or answer the calls of the function with --mock FILE; \"lockstep explain OA005\" says more",
}
