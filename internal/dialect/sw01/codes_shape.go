package sw01

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// Codes explains every code of this dialect.
func Codes() []dialect.Explanation {
	return slices.Concat(shapeCodes, valueCodes, referenceCodes, flowCodes)
}

// shapeCodes explains SV100 to SV119: kinds of values and what must be there.
var shapeCodes = []dialect.Explanation{
	{
		Code: codeNotObject, Title: "the definition is not an object",
		Text: "A definition is one object with states. This document is a list or a single value.",
		Bad:  "- id: order\n- id: refund\n",
		Good: "name: order\nstates:\n- {name: Done, type: END, start: true}\n",
	},
	{
		Code: codeMissing, Title: "a required parameter is missing",
		Text: "The parameter is needed, and nothing sensible can be assumed in its place. Where the specification requires " +
			"something that its own examples leave out (filters, versions, names), nothing is demanded.",
		Bad:  "- {name: Wait, type: DELAY, start: true, next-state: Done}\n- {name: Done, type: END}\n",
		Good: "- {name: Wait, type: DELAY, start: true, time-delay: 5, next-state: Done}\n- {name: Done, type: END}\n",
	},
	{
		Code: codeType, Title: "a value is of the wrong kind",
		Text: "The parameter takes another kind of value, for example a list where text stands.",
		Bad:  "- {name: Pack, type: OPERATION, start: true, action-mode: SEQUENTIAL, actions: pack}\n",
		Good: "- {name: Pack, type: OPERATION, start: true, action-mode: SEQUENTIAL, actions: [{function: pack}]}\n",
	},
	{
		Code: codeUnknownKey, Title: "an unknown parameter",
		Text: "Nothing reads this key, so it has no effect: most often it is misspelt, or belongs to another place or version. " +
			"Keys may be in kebab-case or camelCase, those of filters also in PascalCase. Those inside metadata, extensions and parameters are yours " +
			"and never reported.",
		Bad:  "- {name: Wait, type: DELAY, start: true, time-delay: 5, nextstate: Done, next-state: Done}\n- {name: Done, type: END}\n",
		Good: "- {name: Wait, type: DELAY, start: true, time-delay: 5, metadata: {owner: shop}, next-state: Done}\n- {name: Done, type: END}\n",
	},
	{
		Code: codeStateType, Title: "an unknown state type",
		Text: "A state is one of EVENT, OPERATION, SWITCH, DELAY, PARALLEL, SUBFLOW and END, in any case.",
		Bad:  "- {name: Pack, type: OPERATON, start: true, action-mode: SEQUENTIAL, actions: []}\n",
		Good: "- {name: Pack, type: OPERATION, start: true, action-mode: SEQUENTIAL, actions: []}\n",
	},
	{
		Code: codeChoice, Title: "a value that is not one of the choices",
		Text: "The parameter takes one of a few words; the message lists them. All but the execution status may be in any case.",
		Bad:  "- {name: Done, type: END, start: true, status: FAILED}\n",
		Good: "- {name: Done, type: END, start: true, status: FAILURE}\n",
	},
	{
		Code: codeDuplicate, Title: "a name is defined twice",
		Text: "States of one workflow or branch, their ids, the branches of a state and the events are found by name, so that no " +
			"two may have the same. States of different branches may: each branch has names of its own.",
		Bad:  "- {name: Done, type: END, start: true}\n- {name: Done, type: END}\n",
		Good: "- {name: Wait, type: DELAY, start: true, time-delay: 5, next-state: Done}\n- {name: Done, type: END}\n",
	},
	{
		Code: codeExclusive, Title: "parameters that exclude each other",
		Text: "A condition is one comparison (path, operator, value), or one of single, and, or, not. To have several, put one " +
			"into the other.",
		Bad: "- name: Which\n  type: SWITCH\n  start: true\n  choices:\n  - and: [{path: $.a, operator: EQ, value: \"1\"}]\n" +
			"    not: {path: $.b, operator: EQ, value: \"1\"}\n    next-state: Done\n  default: Done\n- {name: Done, type: END}\n",
		Good: "- name: Which\n  type: SWITCH\n  start: true\n  choices:\n  - and: [{path: $.a, operator: EQ, value: \"1\"}, {not: {path: $.b, operator: EQ, value: \"1\"}}]\n" +
			"    next-state: Done\n  default: Done\n- {name: Done, type: END}\n",
	},
	{
		Code: codeEmpty, Title: "something is empty that must not be",
		Text: "A name without letters names nothing, and a list without items gives a state nothing to do or wait for. Only " +
			"actions may be empty: the state then only filters.",
		Bad:  "- {name: Both, type: PARALLEL, start: true, branches: []}\n",
		Good: "- {name: Both, type: OPERATION, start: true, action-mode: SEQUENTIAL, actions: []}\n",
	},
	{
		Code: codeTwice, Title: "a parameter stands there in two spellings",
		Text: "next-state and nextState are one parameter. Keep one of them.",
		Bad:  "- {name: Wait, type: DELAY, start: true, time-delay: 5, next-state: Done, nextState: Done}\n- {name: Done, type: END}\n",
		Good: "- {name: Wait, type: DELAY, start: true, time-delay: 5, next-state: Done}\n- {name: Done, type: END}\n",
	},
	{
		Code: codeQuoteIt, Title: "a number where text is meant",
		Text: "Versions are text. Without quotes YAML reads 1.10 as a number; it is taken as it is spelled, but other programs " +
			"may read 1.1.",
		Bad:  "version: 1.10\n",
		Good: "version: \"1.10\"\n",
	},
}

// valueCodes explains SV120 to SV139: what stands in a value.
var valueCodes = []dialect.Explanation{
	{
		Code: codeExpression, Title: "a malformed path",
		Text: "Paths are JSONPath in Jayway's dialect. The place is where reading stopped.",
		Bad:  "- {name: Pick, type: OPERATION, start: true, InputPath: \"$.a[\", actions: []}\n",
		Good: "- {name: Pick, type: OPERATION, start: true, InputPath: \"$.a[0]\", actions: []}\n",
	},
	{
		Code: codeNotPath, Title: "not a path",
		Text: "The parameter takes a JSONPath, which begins with $. In this version there are no double braces.",
		Bad:  "- {name: Pick, type: OPERATION, start: true, InputPath: order, actions: []}\n",
		Good: "- {name: Pick, type: OPERATION, start: true, InputPath: $.order, actions: []}\n",
	},
	{
		Code: codeTime, Title: "not an amount of time",
		Text: "In kebab-case a time is a number of seconds, in camelCase an ISO 8601 duration such as PT15M; durations are taken " +
			"in both. A DELAY may also wait until an instant, as in 2026-03-01T12:00:00Z. Nothing is negative, and in the earliest " +
			"draft nothing is 0.",
		Bad:  "- {name: Wait, type: DELAY, start: true, time-delay: -5, next-state: Done}\n- {name: Done, type: END}\n",
		Good: "- {name: Wait, type: DELAY, start: true, time-delay: 5, next-state: Done}\n- {name: Done, type: END}\n",
	},
	{
		Code: codeRepeat, Title: "not a repeating interval",
		Text: "An interval that begins with R says how often and how far apart: R5/PT15M is 5 times, 15 minutes apart. maxRetry, " +
			"where it is given too, is a bound besides.",
		Bad:  "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: {match: SYS.Fail, retry-interval: R5}}]}\n",
		Good: "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: {match: SYS.Fail, retry-interval: R5/PT15M}}]}\n",
	},
	{
		Code: codeResultPath, Title: "a result path that is no place",
		Text: "A result path says where a value stands in a new document: $.order.total makes {order: {total: …}}. It is made of " +
			"plain names; what selects (filters, wildcards, indexes) names no place.",
		Bad:  "- {name: Put, type: OPERATION, start: true, ResultPath: \"$.items[0]\", actions: []}\n",
		Good: "- {name: Put, type: OPERATION, start: true, ResultPath: $.items, actions: []}\n",
	},
	{
		Code: codeNumber, Title: "not a whole number",
		Text: "The parameter counts something: it is a whole number from 0, with or without quotes.",
		Bad:  "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: {match: SYS.Fail, max-retry: few}}]}\n",
		Good: "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: {match: SYS.Fail, max-retry: 3}}]}\n",
	},
	{
		Code: codeEventExpr, Title: "a malformed event expression",
		Text: "An event expression joins names of events with and, or, not (or &&, ||, !) and parentheses. not binds more " +
			"than and, and that more than or. A name with blanks or signs stands in quotes.",
		Bad:  "trigger-defs: [{name: A, source: s, type: a}]\nstates:\n- name: Hear\n  type: EVENT\n  start: true\n  events: [{event-expression: A or, actions: []}]\n",
		Good: "trigger-defs: [{name: A, source: s, type: a}]\nstates:\n- name: Hear\n  type: EVENT\n  start: true\n  events: [{event-expression: A, actions: []}]\n",
	},
	{
		Code: codeNot, Title: "not without an end or a beginning",
		Text: "not A holds when A did not come, and that is known only when a timeout is over. A workflow that begins with the " +
			"state needs an event besides, or nothing would start it.",
		Bad: "trigger-defs: [{name: A, source: s, type: a}]\nstates:\n- {name: Wait, type: DELAY, start: true, time-delay: 1, next-state: Hear}\n" +
			"- {name: Hear, type: EVENT, events: [{event-expression: not A, actions: []}]}\n",
		Good: "trigger-defs: [{name: A, source: s, type: a}]\nstates:\n- {name: Wait, type: DELAY, start: true, time-delay: 1, next-state: Hear}\n" +
			"- {name: Hear, type: EVENT, events: [{event-expression: not A, timeout: 60, actions: []}]}\n",
	},
	{
		Code: codeTwoFilters, Title: "a filter stands in two places, and differs",
		Text: "A path may stand on the state, event or action itself or in its filter, and in any spelling. Two that say the same " +
			"are one; two that differ leave open which is meant.",
		Bad:  "- {name: Pick, type: OPERATION, start: true, InputPath: $.a, filter: {input-path: $.b}, actions: []}\n",
		Good: "- {name: Pick, type: OPERATION, start: true, filter: {input-path: $.b}, actions: []}\n",
	},
	{
		Code: codeTooMany, Title: "more than is allowed",
		Text: "Expressions over events and conditions are bounded; the message names the limit. A workflow that begins with an " +
			"expression can begin with at most 64 different sets of events.",
		Bad: "trigger-defs: [{name: A, source: s, type: a}]\nstates:\n- name: Hear\n  type: EVENT\n  start: true\n" +
			"  events: [{event-expression: (A or A or A) and (A or A or A) and (A or A or A) and (A or A or A), actions: []}]\n",
		Good: "trigger-defs: [{name: A, source: s, type: a}]\nstates:\n- name: Hear\n  type: EVENT\n  start: true\n" +
			"  events: [{event-expression: A, actions: []}]\n",
	},
	{
		Code: codeSeconds, Title: "not a whole number of seconds",
		Text: "Where a time is a bare number, the drafts in kebab-case say that it is an integer: of seconds. Other programs would " +
			"refuse a fraction, or cut it off. An ISO 8601 duration may have one.",
		Bad:  "- {name: Wait, type: DELAY, start: true, time-delay: 1.5, next-state: Done}\n- {name: Done, type: END}\n",
		Good: "- {name: Wait, type: DELAY, start: true, time-delay: PT1.5S, next-state: Done}\n- {name: Done, type: END}\n",
	},
}
