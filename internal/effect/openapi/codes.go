package openapi

import "github.com/lockstep-workflows/lockstep/internal/dialect"

// The codes of this package. All are warnings: the definition can be used, and a call
// of the function fails.
const (
	codeOpen      = "OA001"
	codeRead      = "OA002"
	codeNoOpenAPI = "OA003"
	codeNoID      = "OA004"
	codeBroken    = "OA005"
	codeUnchecked = "OA006"
	codeTwice     = "OA007"
)

// Codes explains every code of this package.
func Codes() []dialect.Explanation { return explanations }

// Hint says what to try where a call fails with a code of this package; it is empty for
// other codes.
func Hint(code string) string { return hints[code] }

var hints = map[string]string{
	codeOpen: "see that the document is where the operation says: a file lies in the definition's folder or below it; of an address, " +
		"\"lockstep validate --fetch FILE\" tells why it cannot be opened, and --outbound-allow HOST[:PORT] lets it be a private one",
	codeRead:      "correct the document, which is not well-formed; \"lockstep validate --fetch FILE\" tells where",
	codeNoOpenAPI: "let the operation name an OpenAPI document (2.0, 3.0, 3.1), or an address with a method: https://host/path#POST",
	codeNoID:      "write after the # an operationId of the document, in exactly its spelling",
	codeBroken:    "correct the document, or answer the calls of the function with --mock FILE; \"lockstep explain OA005\" tells more",
}

const good = "functions:\n- {name: getPet, operation: pets.yaml#getPet}\n"

var explanations = []dialect.Explanation{
	{
		Code: codeOpen, Title: "an OpenAPI document cannot be opened",
		Text: "A function's operation is document#operationId. The document is a file of the definition's folder, by a relative path or " +
			"a file: URI, or an http(s) address that the outbound policy allows. It is opened when the definition is deployed, and that " +
			"text is used from then on. Here it could not be opened: calls of the function fail with FunctionNotFound.",
		Bad: "functions:\n- {name: getPet, operation: pest.yaml#getPet}\n", Good: good,
	},
	{
		Code: codeRead, Title: "an OpenAPI document is not YAML or JSON",
		Text: "The document was opened, but it is not well-formed; the message says where. Calls of the function fail with FunctionNotFound.",
		Bad:  "functions:\n- {name: getPet, operation: torn.yaml#getPet}\n", Good: good,
	},
	{
		Code: codeNoOpenAPI, Title: "a document is not an OpenAPI document",
		Text: "OpenAPI documents say so with openapi: 3.x.y or swagger: \"2.0\" at their top. Versions 2.0, 3.0 and 3.1 are understood. A " +
			"plain address is another thing: https://host/path#POST, where what follows the # is a method.",
		Bad: "functions:\n- {name: getPet, operation: schema.json#getPet}\n", Good: good,
	},
	{
		Code: codeNoID, Title: "a document has no such operation",
		Text: "What follows the # is the operationId of an operation in the document, in exactly its spelling. Calls of the function fail " +
			"with FunctionNotFound.",
		Bad: "functions:\n- {name: getPet, operation: pets.yaml#getPte}\n", Good: good,
	},
	{
		Code: codeBroken, Title: "an operation cannot be called",
		Text: "The document has the operation, but something that a call needs is missing or contradicts itself: a reference that leads " +
			"nowhere, a placeholder in the path without a parameter or a parameter without its placeholder, no server with a host, a " +
			"parameter that nothing can write.",
		Bad: "functions:\n- {name: getPet, operation: pets.yaml#lost}\n", Good: good,
	},
	{
		Code: codeUnchecked, Title: "a schema cannot be checked",
		Text: "What is sent and what comes back is checked against the document's schemas. This one is not a valid schema, uses what is " +
			"not supported ($dynamicRef), or exceeds a limit. The operation is called all the same, without that check.",
		Bad: "functions:\n- {name: getPet, operation: pets.yaml#odd}\n", Good: good,
	},
	{
		Code: codeTwice, Title: "two operations have the same operationId",
		Text: "An operationId is unique in a document. Here several operations bear it; the first one in the document is called (of one path: get, put, post, delete, options, head, patch, trace).",
		Bad:  "functions:\n- {name: getPet, operation: pets.yaml#twin}\n", Good: good,
	},
}
