package catalogue

import "github.com/lockstep-workflows/lockstep/internal/dialect"

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

// Codes explains every code of this package.
func Codes() []dialect.Explanation { return explanations }

const good = "functions:\n  charge:\n    http: {method: POST, url: \"https://pay.example/charge\", body: {amount: \"{{ $.amount }}\"}}\n"

var explanations = []dialect.Explanation{
	{
		Code: codeType, Title: "a value of a catalogue has the wrong type",
		Text: "A catalogue is {functions: {NAME: …}}, where each function is one of http, openapi, exec and builtin. The message says what is " +
			"expected here.",
		Bad: "functions:\n- charge\n", Good: good,
	},
	{
		Code: codeKey, Title: "an unknown key in a catalogue",
		Text: "A misspelled key would change what is called, so it is an error.",
		Bad:  "functions:\n  charge:\n    http: {methd: POST, url: \"https://pay.example/charge\"}\n", Good: good,
	},
	{
		Code: codeKind, Title: "a function that is not of exactly one kind",
		Text: "A function of a catalogue is one of http, openapi, exec and builtin: not two of them, and not none.",
		Bad:  "functions:\n  charge: {}\n", Good: good,
	},
	{
		Code: codeMissing, Title: "a key is missing in a catalogue",
		Text: "http needs url, openapi needs document and operation, exec needs command.",
		Bad:  "functions:\n  charge:\n    http: {method: POST}\n", Good: good,
	},
	{
		Code: codeValue, Title: "a value of a catalogue cannot be used",
		Text: "A method, an address, a header, a duration or the name of a built-in function that does not exist or is not allowed.",
		Bad:  "functions:\n  charge: {builtin: ekho}\n", Good: "functions:\n  charge: {builtin: echo}\n",
	},
	{
		Code: codeExpr, Title: "a malformed expression in a catalogue",
		Text: "What stands in {{ }} is a path into the arguments of the call, as in definitions; in result it is one into the answer.",
		Bad:  "functions:\n  charge:\n    http: {url: \"https://pay.example/{{ $. }}\"}\n", Good: good,
	},
	{
		Code: codeHost, Title: "the host of an address is not constant",
		Text: "Data never chooses where a call goes: scheme, host and port of a url stand there as they are. The path and the query may hold " +
			"{{ }}; what comes out is escaped.",
		Bad:  "functions:\n  charge:\n    http: {url: \"https://{{ $.shop }}.example/charge\"}\n",
		Good: "functions:\n  charge:\n    http: {url: \"https://pay.example/{{ $.shop }}/charge\"}\n",
	},
	{
		Code: codeNoExec, Title: "commands are not allowed",
		Text: "A function that runs a command is used only where the operator says --allow-exec. There is no other way to run a command.",
		Bad:  "functions:\n  resize:\n    exec: {command: [convert, \"{{ $.file }}\"]}\n", Good: good,
	},
	{
		Code: codeCommand, Title: "a command that data could change",
		Text: "{{ }} in a command is one whole argument, so that data can never become a second one; the program itself is constant. Shells " +
			"would interpret an argument, so they take none from data. Secrets belong into env, since every user of the machine can read " +
			"the arguments of a command. Otherwise the arguments of the call come to the command as JSON on its stdin.",
		Bad:  "functions:\n  resize:\n    exec: {command: [convert, \"--size={{ $.size }}\"]}\n",
		Good: "functions:\n  resize:\n    exec: {command: [convert, \"--size\", \"{{ $.size }}\"]}\n",
	},
	{
		Code: codeSecret, Title: "a secret that cannot stand here",
		Text: "A secret is ${env:NAME}: the value of an environment variable when the call is made. It may stand in headers, query, body and " +
			"path of an http call, in the headers of an openapi call, and in env of a command.",
		Bad:  "functions:\n  charge:\n    http: {url: \"https://pay.example/charge\", headers: {Authorization: \"${env:}\"}}\n",
		Good: "functions:\n  charge:\n    http: {url: \"https://pay.example/charge\", headers: {Authorization: \"Bearer ${env:TOKEN}\"}}\n",
	},
	{
		Code: codeUnknown, Title: "a function that the catalogue does not have",
		Text: "The definition names the function and gives it no operation, so that its name is looked up in the catalogue (--functions FILE), " +
			"which does not have it. A call fails with FunctionNotFound. The first example is a definition, the second a catalogue.",
		Bad: "functions:\n- {name: chrage}\n", Good: good,
	},
}
