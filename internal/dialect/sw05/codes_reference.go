package sw05

import "github.com/lockstep-workflows/lockstep/internal/dialect"

// referenceCodes explains SW2xx: what refers to something else.
var referenceCodes = []dialect.Explanation{
	{
		Code: codeNoState, Title: "a transition to a state that does not exist",
		Text: "nextState is the name of a state, or its id. Names are compared exactly, upper and lower case included.",
		Bad: "- {name: Pack, type: inject, data: {}, transition: {nextState: Shipp}}\n" +
			"- {name: Ship, type: inject, data: {}, end: {kind: default}}\n",
		Good: "- {name: Pack, type: inject, data: {}, transition: {nextState: Ship}}\n" +
			"- {name: Ship, type: inject, data: {}, end: {kind: default}}\n",
	},
	{
		Code: codeNoFunction, Title: "a function that is not defined here",
		Text: "The name is not among the definition's functions. That is allowed: the server's function catalogue may have it. " +
			"If it does not, the call fails with FunctionNotFound.",
		Bad: "functions:\n- {name: charge, operation: bank.json#charge}\nstates:\n- name: Pay\n  type: operation\n  actions:\n" +
			"  - functionRef: {refName: chrage}\n  end: {kind: default}\n",
		Good: "functions:\n- {name: charge, operation: bank.json#charge}\nstates:\n- name: Pay\n  type: operation\n  actions:\n" +
			"  - functionRef: {refName: charge}\n  end: {kind: default}\n",
	},
	{
		Code: codeNoEvent, Title: "an event that is not defined",
		Text: "Events are referred to by name, and must be among the definition's events: their type and source say what to wait " +
			"for or to send.",
		Bad: "events:\n- {name: Paid, type: paid, source: shop}\nstates:\n- name: Wait\n  type: event\n  onEvents:\n" +
			"  - {eventRefs: [Payed], actions: []}\n  end: {kind: default}\n",
		Good: "events:\n- {name: Paid, type: paid, source: shop}\nstates:\n- name: Wait\n  type: event\n  onEvents:\n" +
			"  - {eventRefs: [Paid], actions: []}\n  end: {kind: default}\n",
	},
	{
		Code: codeNoRetry, Title: "a retry that is not defined",
		Text: "retryRef is the name of one of the definition's retries.",
		Bad: "retries:\n- {name: patient, delay: PT1M, maxAttempts: 3}\nstates:\n- name: Pay\n  type: subflow\n  workflowId: pay\n" +
			"  waitForCompletion: true\n  onErrors:\n  - {error: Declined, retryRef: patience, end: {kind: default}}\n  end: {kind: default}\n",
		Good: "retries:\n- {name: patient, delay: PT1M, maxAttempts: 3}\nstates:\n- name: Pay\n  type: subflow\n  workflowId: pay\n" +
			"  waitForCompletion: true\n  onErrors:\n  - {error: Declined, retryRef: patient, end: {kind: default}}\n  end: {kind: default}\n",
	},
	{
		Code: codeNoCompensator, Title: "compensated by a state that does not exist",
		Text: "compensatedBy is the name of the state that undoes this one, or its id.",
		Bad: "- {name: Pay, type: inject, data: {}, compensatedBy: Refnd, end: {kind: default}}\n" +
			"- {name: Refund, type: inject, data: {}, usedForCompensation: true}\n",
		Good: "- {name: Pay, type: inject, data: {}, compensatedBy: Refund, end: {kind: default}}\n" +
			"- {name: Refund, type: inject, data: {}, usedForCompensation: true}\n",
	},
	{
		Code: codeEventKind, Title: "an event of the wrong kind",
		Text: "An event is either consumed (the default) or produced by the workflow. What is waited for must be consumed; what is " +
			"sent with produceEvents or triggerEventRef must be produced.",
		Bad: "events:\n- {name: Shipped, type: shipped, source: shop}\nstates:\n- name: Ship\n  type: inject\n  data: {}\n" +
			"  end: {kind: event, produceEvents: [{eventRef: Shipped}]}\n",
		Good: "events:\n- {name: Shipped, type: shipped, kind: produced}\nstates:\n- name: Ship\n  type: inject\n  data: {}\n" +
			"  end: {kind: event, produceEvents: [{eventRef: Shipped}]}\n",
	},
	{
		Code: codeAmbiguous, Title: "a name of one state and the id of another",
		Text: "Transitions find a state by its name first, then by its id. Here both exist, for different states; the name counts. " +
			"Choose ids that are no names.",
		Bad: "- {name: Pack, type: inject, data: {}, transition: {nextState: Ship}}\n" +
			"- {name: Ship, type: inject, data: {}, end: {kind: default}}\n- {name: Other, id: Ship, type: inject, data: {}, end: {kind: default}}\n",
		Good: "- {name: Pack, type: inject, data: {}, transition: {nextState: Ship}}\n" +
			"- {name: Ship, type: inject, data: {}, end: {kind: default}}\n",
	},
	{
		Code: codeOwnWorkflow, Title: "a workflow that runs itself",
		Text: "workflowId names another workflow. Running itself would go on for ever.",
		Bad:  "id: order\nstates:\n- {name: Again, type: subflow, workflowId: order, waitForCompletion: true, end: {kind: default}}\n",
		Good: "id: order\nstates:\n- {name: Then, type: subflow, workflowId: invoice, waitForCompletion: true, end: {kind: default}}\n",
	},
	{
		Code: codeResource, Title: "a resource cannot be fetched",
		Text: "functions, events, retries and schemas may be given as the URI of a file. It is fetched when the definition is " +
			"loaded, and becomes part of it: a change there is a new definition. Relative names are beside the definition.",
		Bad:  "functions: function.json\n",
		Good: "functions: functions.json\n",
	},
	{
		Code: codeSchema, Title: "a schema is not valid",
		Text: "dataInputSchema and dataOutputSchema refer to a JSON Schema, which must be valid itself and refer to nothing outside. " +
			"Data that does not adhere is refused, or only warned of where the definition is deployed with --schemas=warn.",
		Bad:  "dataInputSchema: broken.schema.json\n",
		Good: "dataInputSchema: order.schema.json\n",
	},
	{
		Code: codeOperation, Title: "an operation without its id",
		Text: "operation is an OpenAPI document and the operationId of what is meant in it, separated by #.",
		Bad:  "functions:\n- {name: charge, operation: bank.json}\n",
		Good: "functions:\n- {name: charge, operation: bank.json#charge}\n",
	},
	{
		Code: codeJobName, Title: "no name of a job workflow",
		Text: "An operation job:NAME creates a job of the workflow NAME and waits until it is over. Names of job workflows are letters, " +
			"digits, dots and hyphens, at most 64.",
		Bad:  "functions:\n- {name: update, operation: 'job:firmware update'}\n",
		Good: "functions:\n- {name: update, operation: 'job:firmware.update'}\n",
	},
	{
		Code: codeJobArguments, Title: "arguments with which no job is created",
		Text: "A job belongs to a client, so the function needs the parameter client, a text. tags are a list of texts, and definition " +
			"is whatever the device needs to know.",
		Bad:  exampleJob + "  actions: [{functionRef: {refName: update, parameters: {tags: urgent}}}]\n",
		Good: exampleJob + "  actions: [{functionRef: {refName: update, parameters: {client: gateway-7, tags: [urgent]}}}]\n",
	},
	{
		Code: codeJobUnknown, Title: "an argument that jobs do not know",
		Text: "A job is created with client, tags and definition; anything else is ignored. What the device needs to know belongs into the " +
			"definition.",
		Bad:  exampleJob + "  actions: [{functionRef: {refName: update, parameters: {client: gateway-7, release: '2.5'}}}]\n",
		Good: exampleJob + "  actions: [{functionRef: {refName: update, parameters: {client: gateway-7, definition: {release: '2.5'}}}}]\n",
	},
}

// exampleJob is the beginning of a definition that creates jobs.
const exampleJob = "functions:\n- {name: update, operation: 'job:firmware.update'}\n" +
	"states:\n- name: Update\n  type: operation\n  start: {kind: default}\n  end: {kind: default}\n"
