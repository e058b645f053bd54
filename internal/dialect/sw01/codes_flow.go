package sw01

import "github.com/lockstep-workflows/lockstep/internal/dialect"

// Parts of the examples.
const (
	exampleDone   = "- {name: Done, type: END}\n"
	exampleEvents = "trigger-defs: [{name: A, source: s, type: a, correlation-token: order}, {name: B, source: s, type: b, correlation-token: order}]\nstates:\n"
)

// referenceCodes explains SV200 to SV299: what refers to something else.
var referenceCodes = []dialect.Explanation{
	{
		Code: codeNoState, Title: "no such state",
		Text: "The state that is named does not exist in this workflow or branch. Names are compared letter by letter; nothing " +
			"is corrected.",
		Bad:  "- {name: Wait, type: DELAY, start: true, time-delay: 5, next-state: DONE}\n" + exampleDone,
		Good: "- {name: Wait, type: DELAY, start: true, time-delay: 5, next-state: Done}\n" + exampleDone,
	},
	{
		Code: codeNoFunction, Title: "the catalogue has no such function",
		Text: "Definitions of this version name functions and define none: they come from the catalogue (--functions). The one " +
			"that was given does not have this function; to call it is the fault FunctionNotFound.",
		Bad:  "- {name: Call, type: OPERATION, start: true, actions: [{function: chrage}]}\n",
		Good: "- {name: Call, type: OPERATION, start: true, actions: [{function: charge}]}\n",
	},
	{
		Code: codeNoEvent, Title: "no such event",
		Text: "An event expression names an event that trigger-defs does not define.",
		Bad:  exampleEvents + "- {name: Hear, type: EVENT, start: true, events: [{event-expression: A or C, actions: []}]}\n",
		Good: exampleEvents + "- {name: Hear, type: EVENT, start: true, events: [{event-expression: A or B, actions: []}]}\n",
	},
	{
		Code: codeCrossing, Title: "a transition into or out of a branch",
		Text: "The states of a branch lead only to states of the same branch, and no state outside leads into it. Where a branch " +
			"ends, its PARALLEL state goes on.",
		Bad: "- name: Both\n  type: PARALLEL\n  start: true\n  branches:\n  - {name: left, wait-for-completion: true, states: [{name: In, type: DELAY, start: true, time-delay: 1, next-state: Done}]}\n  next-state: Done\n" +
			exampleDone,
		Good: "- name: Both\n  type: PARALLEL\n  start: true\n  branches:\n  - {name: left, wait-for-completion: true, states: [{name: In, type: DELAY, start: true, time-delay: 1}]}\n  next-state: Done\n" +
			exampleDone,
	},
	{
		Code: codeAmbiguous, Title: "a name that is also an id",
		Text: "A transition names a state by its name or by its id. This text is the name of one and the id of another; the " +
			"name counts.",
		Bad:  "startsAt: One\nstates:\n- {name: One, type: DELAY, timeDelay: PT1S, nextState: b}\n- {name: b, type: DELAY, timeDelay: PT1S, nextState: Three}\n- {id: b, name: Three, type: DELAY, timeDelay: PT1S, end: true}\n",
		Good: "startsAt: One\nstates:\n- {name: One, type: DELAY, timeDelay: PT1S, nextState: b}\n- {id: b, name: Three, type: DELAY, timeDelay: PT1S, end: true}\n",
	},
	{
		Code: codeOwnWorkflow, Title: "a workflow that runs itself",
		Text: "The sub-workflow is the workflow that the state stands in: it would start itself for ever.",
		Bad:  "id: example\nstates:\n- {name: Sub, type: SUBFLOW, start: true, workflowId: example, waitForCompletion: true, end: true}\n",
		Good: "id: example\nstates:\n- {name: Sub, type: SUBFLOW, start: true, workflowId: other, waitForCompletion: true, end: true}\n",
	},
	{
		Code: codeJobName, Title: "no name of a job workflow",
		Text: "A function of the type job:NAME creates a job of the workflow NAME and waits until it is over. Names of job workflows are " +
			"letters, digits, dots and hyphens, at most 64.",
		Bad:  "- {name: Call, type: OPERATION, start: true, actions: [{function: {name: update, type: 'job:firmware update'}}]}\n",
		Good: "- {name: Call, type: OPERATION, start: true, actions: [{function: {name: update, type: 'job:firmware.update'}}]}\n",
	},
	{
		Code: codeJobArguments, Title: "arguments with which no job is created",
		Text: "A job belongs to a client, so the function needs the parameter client, a text. tags are a list of texts, and definition " +
			"is whatever the device needs to know. Without parameters, they are looked for in the data.",
		Bad:  "- {name: Call, type: OPERATION, start: true, actions: [{function: {name: update, type: 'job:firmware.update', parameters: {tags: urgent}}}]}\n",
		Good: "- {name: Call, type: OPERATION, start: true, actions: [{function: {name: update, type: 'job:firmware.update', parameters: {client: $.device, tags: [urgent]}}}]}\n",
	},
	{
		Code: codeJobUnknown, Title: "an argument that jobs do not know",
		Text: "A job is created with client, tags and definition; anything else is ignored. What the device needs to know belongs into the " +
			"definition.",
		Bad:  "- {name: Call, type: OPERATION, start: true, actions: [{function: {name: update, type: 'job:firmware.update', parameters: {client: a, release: b}}}]}\n",
		Good: "- {name: Call, type: OPERATION, start: true, actions: [{function: {name: update, type: 'job:firmware.update', parameters: {client: a, definition: {release: b}}}}]}\n",
	},
}

// flowCodes explains SV300 to SV399: the flow, and what is allowed but odd.
var flowCodes = []dialect.Explanation{
	{
		Code: codeNoStart, Title: "no state is marked as start",
		Text: "Nothing says where the workflow or the branch begins; it begins with its first state. In kebab-case one state has " +
			"start: true, in camelCase startsAt names it.",
		Bad:  exampleDone,
		Good: "- {name: Done, type: END, start: true}\n",
	},
	{
		Code: codeManyStarts, Title: "several states are marked as start",
		Text: "A workflow, and each branch, begins with one state. Wait for several events in one EVENT state instead.",
		Bad:  "- {name: One, type: END, start: true}\n- {name: Two, type: END, start: true}\n",
		Good: "- {name: One, type: END, start: true}\n",
	},
	{
		Code: codeTwoExits, Title: "an end with a next state",
		Text: "A state with end: true, and an END state, is the last; the next state that it names is never entered.",
		Bad:  "- {name: Wait, type: DELAY, start: true, time-delay: 5, end: true, next-state: Wait}\n",
		Good: "- {name: Wait, type: DELAY, start: true, time-delay: 5, end: true}\n",
	},
	{
		Code: codeSameMatch, Title: "a retry or a choice that is never used",
		Text: "The first retry that matches wins, and the first choice that holds. An earlier one takes all that this one is for.",
		Bad:  "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: [{match: \"*\", max-retry: 1}, {match: SYS.Timeout, max-retry: 9}]}]}\n",
		Good: "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: [{match: SYS.Timeout, max-retry: 9}, {match: \"*\", max-retry: 1}]}]}\n",
	},
	{
		Code: codeUnreachable, Title: "an unreachable state",
		Text: "No way leads to the state from the start, so that it is never entered.",
		Bad:  "- {name: Wait, type: DELAY, start: true, time-delay: 5}\n" + exampleDone,
		Good: "- {name: Wait, type: DELAY, start: true, time-delay: 5, next-state: Done}\n" + exampleDone,
	},
	{
		Code: codeUnusedEvent, Title: "an event that is never used",
		Text: "No event expression names the event.",
		Bad:  exampleEvents + "- {name: Hear, type: EVENT, start: true, events: [{event-expression: A, actions: []}]}\n",
		Good: exampleEvents + "- {name: Hear, type: EVENT, start: true, events: [{event-expression: A or B, actions: []}]}\n",
	},
	{
		Code: codeLiteral, Title: "a value that makes no sense there",
		Text: "The comparison never holds, or always does the same, with this value: true is neither more nor less than anything, " +
			"and Exists takes true or false.",
		Bad: "- {name: Which, type: SWITCH, start: true, choices: [{path: $.a, operator: LT, value: true, next-state: Done}], default: Done}\n" +
			exampleDone,
		Good: "- {name: Which, type: SWITCH, start: true, choices: [{path: $.a, operator: EQ, value: true, next-state: Done}], default: Done}\n" +
			exampleDone,
	},
	{
		Code: codeRepeatedEvent, Title: "an event stands in two entries",
		Text: "The first event that satisfies an entry is taken by it. Where another entry is satisfied by the same event alone, it " +
			"never wins by that.",
		Bad:  exampleEvents + "- {name: Hear, type: EVENT, start: true, events: [{event-expression: A, actions: []}, {event-expression: A or B, actions: []}]}\n",
		Good: exampleEvents + "- {name: Hear, type: EVENT, start: true, events: [{event-expression: A, actions: []}, {event-expression: B, actions: []}]}\n",
	},
	{
		Code: codeNoDefault, Title: "a SWITCH without a default",
		Text: "Where no choice matches the data, the workflow fails with SYS.Fail.",
		Bad: "- {name: Which, type: SWITCH, start: true, choices: [{path: $.a, operator: EQ, value: \"1\", next-state: Done}]}\n" +
			exampleDone,
		Good: "- {name: Which, type: SWITCH, start: true, choices: [{path: $.a, operator: EQ, value: \"1\", next-state: Done}], default: Done}\n" +
			exampleDone,
	},
	{
		Code: codeNoName, Title: "a definition without a name",
		Text: "Definitions are known by their id (camelCase) or their name (kebab-case). This one goes by the name of its file, " +
			"and becomes another when that is renamed. The earliest draft has no names.",
		Bad:  "startsAt: One\nstates:\n- {name: One, type: DELAY, timeDelay: PT1S, end: true}\n",
		Good: "id: one\nstartsAt: One\nstates:\n- {name: One, type: DELAY, timeDelay: PT1S, end: true}\n",
	},
	{
		Code: codeWait, Title: "nothing says whether to wait",
		Text: "Without wait-for-completion nobody waits for a branch or a sub-workflow: that is the default of the specification, " +
			"and rarely meant. In the earliest draft, which has no such parameter, branches are waited for.",
		Bad:  "- {name: Sub, type: SUBFLOW, start: true, workflowId: other, end: true}\n",
		Good: "- {name: Sub, type: SUBFLOW, start: true, workflowId: other, waitForCompletion: true, end: true}\n",
	},
	{
		Code: codeNoRetries, Title: "an interval without retries",
		Text: "The retry says how long to wait between attempts, but not how often to try. The default of max-retry is 0: " +
			"nothing is tried again.",
		Bad:  "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: {match: SYS.Fail, retry-interval: 5}}]}\n",
		Good: "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: {match: SYS.Fail, retry-interval: 5, max-retry: 3}}]}\n",
	},
	{
		Code: codeAnyEvent, Title: "an event without source or type",
		Text: "An event is told by its source and its type (in the earliest draft: by eventID, which is the type or the id). One " +
			"that is missing matches any.",
		Bad:  "trigger-defs: [{name: A, type: a}]\nstates:\n- {name: Hear, type: EVENT, start: true, events: [{event-expression: A, actions: []}]}\n",
		Good: "trigger-defs: [{name: A, source: s, type: a}]\nstates:\n- {name: Hear, type: EVENT, start: true, events: [{event-expression: A, actions: []}]}\n",
	},
	{
		Code: codeIgnored, Title: "something that has no effect here",
		Text: "The parameter is known, but does nothing at this place. The message says why.",
		Bad: "- {name: Which, type: SWITCH, start: true, choices: [{path: $.a, operator: EQ, value: \"1\", next-state: Done}], default: Done, next-state: Done}\n" +
			exampleDone,
		Good: "- {name: Which, type: SWITCH, start: true, choices: [{path: $.a, operator: EQ, value: \"1\", next-state: Done}], default: Done}\n" +
			exampleDone,
	},
	{
		Code: codeNoCorrelation, Title: "events that nothing keeps apart",
		Text: "A workflow with several events needs a correlation token in each: a place in the event whose value says which " +
			"instance it belongs to. Without one, an event goes to every instance that waits for it.",
		Bad:  "trigger-defs: [{name: A, source: s, type: a, correlation-token: order}, {name: B, source: s, type: b}]\nstates:\n- {name: Hear, type: EVENT, start: true, events: [{event-expression: A or B, actions: []}]}\n",
		Good: exampleEvents + "- {name: Hear, type: EVENT, start: true, events: [{event-expression: A or B, actions: []}]}\n",
	},
	{
		Code: codeNoCategory, Title: "no such SYS name",
		Text: "Names that begin with SYS. are those of the specification: SYS.Timeout, SYS.Fail, SYS.MatchAny, SYS.Permission, " +
			"SYS.InvalidParameter and SYS.FilterError, in this case. Another one is only for a function that itself gives an error (or a result) of that name.",
		Bad:  "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: {match: SYS.TimeOut, max-retry: 3}}]}\n",
		Good: "- {name: Call, type: OPERATION, start: true, actions: [{function: f, retry: {match: SYS.Timeout, max-retry: 3}}]}\n",
	},
}
