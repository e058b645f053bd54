package sw05

import "github.com/lockstep-workflows/lockstep/internal/dialect"

// shapeCodes explains SW100 to SW119: kinds of values and what must be there.
var shapeCodes = []dialect.Explanation{
	{
		Code: codeNotObject, Title: "the definition is not an object",
		Text: "A definition is one object with id, name and states. This document is a list or a single value.",
		Bad:  "- id: order\n- id: refund\n",
		Good: "id: order\nname: Order\nstates:\n- {name: Done, type: inject, data: {ok: true}, end: {kind: default}}\n",
	},
	{
		Code: codeMissing, Title: "a required parameter is missing",
		Text: "The specification requires the parameter, and nothing sensible can be assumed in its place. Where it requires " +
			"something its own examples leave out, there is only a warning.",
		Bad:  "- name: Wait\n  type: delay\n  end: {kind: default}\n",
		Good: "- name: Wait\n  type: delay\n  timeDelay: PT5S\n  end: {kind: default}\n",
	},
	{
		Code: codeType, Title: "a value is of the wrong kind",
		Text: "The parameter takes another kind of value, for example an object where text stands. Later versions of the " +
			"specification shortened some parameters (transition: Ship, end: true); in 0.5 they are objects.",
		Bad:  "- name: Pack\n  type: inject\n  data: {packed: true}\n  end: true\n",
		Good: "- name: Pack\n  type: inject\n  data: {packed: true}\n  end: {kind: default}\n",
	},
	{
		Code: codeUnknownKey, Title: "an unknown parameter",
		Text: "Nothing reads this key, so it has no effect: most often it is misspelt, or belongs to another place or version. " +
			"Keys inside metadata, data and parameters are yours and never reported.",
		Bad:  "- name: Pack\n  type: inject\n  data: {packed: true}\n  ennd: {kind: default}\n  end: {kind: default}\n",
		Good: "- name: Pack\n  type: inject\n  data: {packed: true}\n  metadata: {owner: warehouse}\n  end: {kind: default}\n",
	},
	{
		Code: codeStateType, Title: "an unknown state type",
		Text: "A state is one of event, operation, switch, delay, parallel, subflow, inject, foreach and callback, in lower case.",
		Bad:  "- name: Ship\n  type: operaton\n  actions: []\n  end: {kind: default}\n",
		Good: "- name: Ship\n  type: operation\n  actions: []\n  end: {kind: default}\n",
	},
	{
		Code: codeChoice, Title: "a value that is not one of the choices",
		Text: "The parameter takes one of a few words; the message lists them. actionMode may be in any case, the others " +
			"are in lower case.",
		Bad:  "- name: Pack\n  type: inject\n  data: {packed: true}\n  end: {kind: normal}\n",
		Good: "- name: Pack\n  type: inject\n  data: {packed: true}\n  end: {kind: default}\n",
	},
	{
		Code: codeNoExit, Title: "neither a transition nor an end",
		Text: "Every state, condition and error definition says where it leads: to another state (transition) or to the end of " +
			"the workflow (end). Only a state that compensates others may have neither: its work is done then.",
		Bad:  "- name: Pack\n  type: inject\n  data: {packed: true}\n",
		Good: "- name: Pack\n  type: inject\n  data: {packed: true}\n  end: {kind: default}\n",
	},
	{
		Code: codeTwoExits, Title: "both a transition and an end",
		Text: "The workflow cannot both go on and be over. Remove one of the two.",
		Bad:  "- name: Pack\n  type: inject\n  data: {packed: true}\n  transition: {nextState: Pack}\n  end: {kind: default}\n",
		Good: "- name: Pack\n  type: inject\n  data: {packed: true}\n  end: {kind: default}\n",
	},
	{
		Code: codeDuplicate, Title: "a name is used twice",
		Text: "Names of states, functions, events and retries, and ids of states, are how the definition refers to them. Each " +
			"must be unique among its kind, also across a file of definitions that is referred to.",
		Bad:  "functions:\n- {name: charge, operation: bank.json#charge}\n- {name: charge, operation: bank.json#debit}\n",
		Good: "functions:\n- {name: charge, operation: bank.json#charge}\n- {name: debit, operation: bank.json#debit}\n",
	},
	{
		Code: codeExclusive, Title: "two parameters exclude each other",
		Text: "Only one of them can hold: name or names, functionRef or eventRef, actions or workflowId, dataConditions or " +
			"eventConditions, interval or cron.",
		Bad: "- name: Nightly\n  type: inject\n  data: {}\n  start:\n    kind: scheduled\n    schedule: {cron: 0 2 * * *, interval: P1Y, directInvoke: deny}\n" +
			"  end: {kind: default}\n",
		Good: "- name: Nightly\n  type: inject\n  data: {}\n  start:\n    kind: scheduled\n    schedule: {cron: 0 2 * * *, directInvoke: deny}\n" +
			"  end: {kind: default}\n",
	},
	{
		Code: codeEmpty, Title: "a value is empty",
		Text: "The list must have an item, or the text a character: an empty one names or does nothing.",
		Bad:  "states: []\n",
		Good: "states:\n- {name: Done, type: inject, data: {ok: true}, end: {kind: default}}\n",
	},
	{
		Code: codeOutOfPlace, Title: "a parameter that cannot stand here",
		Text: "A switch leaves through its conditions and its default. A transition or an end of its own would never be taken, " +
			"and a switch cannot be an end state.",
		Bad: "- name: Large\n  type: switch\n  dataConditions:\n  - {condition: \"{{ $.items[5] }}\", end: {kind: default}}\n" +
			"  default: {end: {kind: default}}\n  end: {kind: default}\n",
		Good: "- name: Large\n  type: switch\n  dataConditions:\n  - {condition: \"{{ $.items[5] }}\", end: {kind: default}}\n" +
			"  default: {end: {kind: default}}\n",
	},
	{
		Code: codeQuoteIt, Title: "a number where text is meant",
		Text: "Versions and error codes are text. YAML reads 1.10 without quotes as a number; it is taken as it is spelled, but " +
			"other tools may read 1.1.",
		Bad:  "version: 1.10\n",
		Good: "version: '1.10'\n",
	},
}

// valueCodes explains SW120 to SW139: expressions, times, numbers, filters.
var valueCodes = []dialect.Explanation{
	{
		Code: codeExpression, Title: "an expression does not parse",
		Text: "Expressions are JSONPath in double braces, as in {{ $.order.items[0] }} or {{ $.items[?(@.price > 10)] }}. " +
			"The place is inside the expression, at what could not be read. For the characters themselves write \\{{.",
		Bad:  "- name: Greet\n  type: inject\n  data: {text: \"Hello {{ $.person. }}\"}\n  end: {kind: default}\n",
		Good: "- name: Greet\n  type: inject\n  data: {text: \"Hello {{ $.person.name }}\"}\n  end: {kind: default}\n",
	},
	{
		Code: codeNotPath, Title: "an expression is needed",
		Text: "This parameter selects from data, so it is one expression and nothing else. Braces may be left out here: " +
			"{{ $.orders }} and $.orders mean the same.",
		Bad:  "- name: Pick\n  type: inject\n  data: {}\n  stateDataFilter: {dataOutputPath: orders}\n  end: {kind: default}\n",
		Good: "- name: Pick\n  type: inject\n  data: {}\n  stateDataFilter: {dataOutputPath: \"{{ $.orders }}\"}\n  end: {kind: default}\n",
	},
	{
		Code: codeDuration, Title: "a malformed duration",
		Text: "Durations are ISO 8601: P, then years Y, months M, weeks W and days D, then T and hours H, minutes M and seconds S. " +
			"PT15M is fifteen minutes, P15M fifteen months. An expression may stand in its place.",
		Bad:  "- name: Wait\n  type: delay\n  timeDelay: 5 minutes\n  end: {kind: default}\n",
		Good: "- name: Wait\n  type: delay\n  timeDelay: PT5M\n  end: {kind: default}\n",
	},
	{
		Code: codeCron, Title: "a malformed cron expression",
		Text: "Five fields are crontab (minute hour day month weekday), six or seven are Quartz (second first, year last, with ? L W #).",
		Bad: "- name: Nightly\n  type: inject\n  data: {}\n  start: {kind: scheduled, schedule: {cron: 0 25 * * *, directInvoke: deny}}\n" +
			"  end: {kind: default}\n",
		Good: "- name: Nightly\n  type: inject\n  data: {}\n  start: {kind: scheduled, schedule: {cron: 0 5 * * *, directInvoke: deny}}\n" +
			"  end: {kind: default}\n",
	},
	{
		Code: codeInterval, Title: "a malformed interval",
		Text: "An interval is when starts are allowed: start/end, start/duration, duration/end, or a duration from deployment on. " +
			"Instants bear their zone, as in 2020-03-20T13:00:00Z.",
		Bad: "- name: Bid\n  type: inject\n  data: {}\n  start: {kind: scheduled, schedule: {interval: 2020-03-20, directInvoke: deny}}\n" +
			"  end: {kind: default}\n",
		Good: "- name: Bid\n  type: inject\n  data: {}\n  start: {kind: scheduled, schedule: {interval: '2020-03-20T09:00:00Z/PT6H', directInvoke: deny}}\n" +
			"  end: {kind: default}\n",
	},
	{
		Code: codeZone, Title: "an unknown time zone",
		Text: "Time zones are named as in the tz database, by region and city. Abbreviations such as PST mean different things " +
			"in different places.",
		Bad: "- name: Nightly\n  type: inject\n  data: {}\n  start:\n    kind: scheduled\n" +
			"    schedule: {cron: 0 2 * * *, timezone: America/Los_Angles, directInvoke: deny}\n  end: {kind: default}\n",
		Good: "- name: Nightly\n  type: inject\n  data: {}\n  start:\n    kind: scheduled\n" +
			"    schedule: {cron: 0 2 * * *, timezone: America/Los_Angeles, directInvoke: deny}\n  end: {kind: default}\n",
	},
	{
		Code: codeNumber, Title: "a number out of range",
		Text: "Counts are whole numbers, also as text: maxAttempts and max from 0, n from 1. jitter as a number is a share of " +
			"the delay from 0.0 to 1.0; an absolute bound is a duration.",
		Bad:  "retries:\n- {name: patient, delay: PT1M, maxAttempts: 3, jitter: 30}\n",
		Good: "retries:\n- {name: patient, delay: PT1M, maxAttempts: 3, jitter: 0.3}\n",
	},
	{
		Code: codeTooMany, Title: "more branches needed than there are",
		Text: "With completionType n_of_m the state waits for n branches. It would wait for ever for more than there are.",
		Bad: "- name: Both\n  type: parallel\n  completionType: n_of_m\n  n: 3\n  branches:\n  - {name: A, workflowId: a}\n" +
			"  - {name: B, workflowId: b}\n  end: {kind: default}\n",
		Good: "- name: Both\n  type: parallel\n  completionType: n_of_m\n  n: 2\n  branches:\n  - {name: A, workflowId: a}\n" +
			"  - {name: B, workflowId: b}\n  end: {kind: default}\n",
	},
	{
		Code: codeCollection, Title: "results cannot be collected there",
		Text: "outputCollection names the array that results are added to, and the array is created where there is none. So it is " +
			"a path of property names, without indexes, filters or functions.",
		Bad: "- name: All\n  type: foreach\n  inputCollection: \"{{ $.orders }}\"\n  iterationParam: order\n" +
			"  outputCollection: \"{{ $.results[0] }}\"\n  workflowId: ship\n  end: {kind: default}\n",
		Good: "- name: All\n  type: foreach\n  inputCollection: \"{{ $.orders }}\"\n  iterationParam: order\n" +
			"  outputCollection: \"{{ $.results }}\"\n  workflowId: ship\n  end: {kind: default}\n",
	},
	{
		Code: codeTwoFilters, Title: "two event filters that differ",
		Text: "The specification spells the key of an event filter dataOutputPath in one place and dataInputPath in another. Both, " +
			"and inputPath, mean the same: give one.",
		Bad: "events:\n- {name: Paid, type: paid, source: shop}\nstates:\n- name: Wait\n  type: event\n  onEvents:\n  - eventRefs: [Paid]\n" +
			"    eventDataFilter: {dataOutputPath: \"{{ $.amount }}\", dataInputPath: \"{{ $.order }}\"}\n    actions: []\n  end: {kind: default}\n",
		Good: "events:\n- {name: Paid, type: paid, source: shop}\nstates:\n- name: Wait\n  type: event\n  onEvents:\n  - eventRefs: [Paid]\n" +
			"    eventDataFilter: {dataOutputPath: \"{{ $.amount }}\"}\n    actions: []\n  end: {kind: default}\n",
	},
	{
		Code: codeFilterShape, Title: "a filter gives the data another shape than expected",
		Text: "What a filter selects becomes data by two rules.\n" +
			"State filters (stateDataFilter, and dataInputPath of an action): a path to one property keeps its name, {{ $.customer }} " +
			"gives {\"customer\": …}, unless it is an array, which stands by itself; a longer path, {{ $.order.customer }}, gives " +
			"the bare value; a path that can match several values gives the list of matches.\n" +
			"Results of actions, events and what events carry are merged, so they always keep a name: {{ $.order.total }} adds " +
			"{\"total\": …}, and a path with several matches {\"total\": [ … ]}, except that a single object that matches is merged " +
			"as it is. {{ $ }} is all of it, as it is.\n" +
			"A path that selects nothing filters nothing.",
		Bad: "- name: Check\n  type: switch\n  stateDataFilter: {dataInputPath: \"{{ $.customer }}\"}\n  dataConditions:\n" +
			"  - {condition: \"{{ $.orders[0] }}\", end: {kind: default}}\n  default: {end: {kind: default}}\n",
		Good: "- name: Check\n  type: switch\n  stateDataFilter: {dataInputPath: \"{{ $.customer }}\"}\n  dataConditions:\n" +
			"  - {condition: \"{{ $.customer.orders[0] }}\", end: {kind: default}}\n  default: {end: {kind: default}}\n",
	},
	{
		Code: codeConstant, Title: "an expression where none can stand",
		Text: "This value is needed before an instance has data: what a definition is called, which events start it, which " +
			"workflow it refers to. name, version and description may hold expressions; they are shown on each instance.",
		Bad:  "id: \"order-{{ $.region }}\"\n",
		Good: "id: order\nname: \"Order in {{ $.region }}\"\n",
	},
	{
		Code: codeAttribute, Title: "a context attribute is not a simple value",
		Text: "Context attributes of a CloudEvent are text, numbers or booleans. Structured data belongs into the event's data.",
		Bad: "events:\n- {name: Shipped, type: shipped, kind: produced}\nstates:\n- name: Ship\n  type: inject\n  data: {}\n  end:\n    kind: event\n" +
			"    produceEvents: [{eventRef: Shipped, contextAttributes: {buyer: {id: 1}}}]\n",
		Good: "events:\n- {name: Shipped, type: shipped, kind: produced}\nstates:\n- name: Ship\n  type: inject\n  data: {}\n  end:\n    kind: event\n" +
			"    produceEvents: [{eventRef: Shipped, contextAttributes: {buyerid: \"{{ $.buyer.id }}\"}}]\n",
	},
}
