package scenario

import (
	"slices"

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
)

// Codes explains the codes of this package.
func Codes() []dialect.Explanation { return slices.Clone(explanations) }

var explanations = []dialect.Explanation{
	{
		Code: codeUnknownKey, Title: "a key that scenario files do not know",
		Text: "Every key of a scenario file has a meaning; one that is misspelled would silently test less than it seems to.",
		Bad:  "scenarios:\n- name: hello\n  expect: {ouput: {greeting: Hello}}\n",
		Good: "scenarios:\n- name: hello\n  expect: {output: {greeting: Hello}}\n",
	},
	{
		Code: codeKind, Title: "a value of the wrong kind",
		Text: "The value is a string where a list is needed, a number where a string is needed, and so on. The message says which.",
		Bad:  "expect: {path: Charge}\n",
		Good: "expect: {path: [Charge]}\n",
	},
	{
		Code: codeMissing, Title: "something that must be there is not",
		Text: "A scenario file names its workflow and at least one scenario; a scenario has a name and expects something; " +
			"an event has a type; a list of answers has at least one.",
		Bad:  "scenarios:\n- name: hello\n  input: {name: Ada}\n",
		Good: "scenarios:\n- name: hello\n  input: {name: Ada}\n  expect: {status: completed}\n",
	},
	{
		Code: codeValue, Title: "a value that cannot be",
		Text: "Durations are ISO 8601 (PT1M, P30D), the clock is a date and time (2026-03-01T00:00:00Z), a status is one of " +
			"completed, failed, cancelled, waiting and none.",
		Bad:  "expect: {status: done, elapsed: 5 minutes}\n",
		Good: "expect: {status: completed, elapsed: PT5M}\n",
	},
	{
		Code: codeRepeated, Title: "two scenarios of one name",
		Text: "Reports tell scenarios apart by their names, and --run chooses by them, so each is used once in a file.",
		Bad:  "scenarios:\n- {name: a, expect: {status: completed}}\n- {name: a, expect: {status: failed}}\n",
		Good: "scenarios:\n- {name: a, expect: {status: completed}}\n- {name: b, expect: {status: failed}}\n",
	},
	{
		Code: codeConflict, Title: "keys that exclude one another",
		Text: "An answer of a mock has one of result, error and echo; an expected error goes with the status failed, or with " +
			"none where the start is refused.",
		Bad:  "mocks: {charge: {result: {}, error: {name: Declined}}}\n",
		Good: "mocks: {charge: [{error: {name: Declined}}, {result: {}}]}\n",
	},
	{
		Code: codeDialect, Title: "not for definitions of this dialect",
		Text: "Takes, and the state that is expected, are for jobs: state machines that actors move. Other workflows move by " +
			"themselves; they are tested with mocks, events, path and status.",
		Bad:  "takes:\n- {actor: CLIENT, state: DONE}\n",
		Good: "events:\n- {at: PT1M, event: {type: done, source: device}}\n",
	},
	{
		Code: codeDefinition, Title: "the definition cannot be read",
		Text: "The path of a workflow is relative to the scenario file. A list names further workflows after the one under test; " +
			"no two of them may have the same id.",
		Bad:  "workflow: ordr.yaml\n",
		Good: "workflow: order.yaml\n",
	},
}
