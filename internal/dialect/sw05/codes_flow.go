package sw05

import "github.com/lockstep-workflows/lockstep/internal/dialect"

// flowCodes explains SW300 to SW329: the flow, and what is allowed but odd.
var flowCodes = []dialect.Explanation{
	{
		Code: codeNoStart, Title: "no start state",
		Text: "No state says start, so the first one is taken. Say which one is meant.",
		Bad:  "- {name: Pack, type: inject, data: {}, end: {kind: default}}\n",
		Good: "- {name: Pack, type: inject, data: {}, start: {kind: default}, end: {kind: default}}\n",
	},
	{
		Code: codeManyStarts, Title: "several start states",
		Text: "A workflow begins in one state. To do several things at once, begin with a parallel state.",
		Bad: "- {name: Pack, type: inject, data: {}, start: {kind: default}, transition: {nextState: Ship}}\n" +
			"- {name: Ship, type: inject, data: {}, start: {kind: default}, end: {kind: default}}\n",
		Good: "- {name: Pack, type: inject, data: {}, start: {kind: default}, transition: {nextState: Ship}}\n" +
			"- {name: Ship, type: inject, data: {}, end: {kind: default}}\n",
	},
	{
		Code: codeTwoWildcards, Title: "two error definitions for *",
		Text: "* takes all errors that no other definition of the state takes, so there can be one only.",
		Bad: "- name: Pay\n  type: subflow\n  workflowId: pay\n  waitForCompletion: true\n  onErrors:\n  - {error: '*', end: {kind: default}}\n" +
			"  - {error: '*', end: {kind: terminate}}\n  end: {kind: default}\n",
		Good: "- name: Pay\n  type: subflow\n  workflowId: pay\n  waitForCompletion: true\n  onErrors:\n  - {error: Declined, end: {kind: default}}\n" +
			"  - {error: '*', end: {kind: terminate}}\n  end: {kind: default}\n",
	},
	{
		Code: codeSameError, Title: "an error is handled twice",
		Text: "Two definitions name the same error with the same code. The first takes it, the other is never used.",
		Bad: "- name: Pay\n  type: subflow\n  workflowId: pay\n  waitForCompletion: true\n  onErrors:\n  - {error: Declined, end: {kind: default}}\n" +
			"  - {error: Declined, end: {kind: terminate}}\n  end: {kind: default}\n",
		Good: "- name: Pay\n  type: subflow\n  workflowId: pay\n  waitForCompletion: true\n  onErrors:\n  - {error: Declined, end: {kind: default}}\n" +
			"  - {error: Lost, end: {kind: terminate}}\n  end: {kind: default}\n",
	},
	{
		Code: codeWildcardCode, Title: "a code with *",
		Text: "An error definition for * takes every error, whatever its code. To handle one code, name the error.",
		Bad: "- name: Pay\n  type: subflow\n  workflowId: pay\n  waitForCompletion: true\n  onErrors:\n" +
			"  - {error: '*', code: '402', end: {kind: default}}\n  end: {kind: default}\n",
		Good: "- name: Pay\n  type: subflow\n  workflowId: pay\n  waitForCompletion: true\n  onErrors:\n" +
			"  - {error: Declined, code: '402', end: {kind: default}}\n  end: {kind: default}\n",
	},
	{
		Code: codeUnreachable, Title: "a state that is never reached",
		Text: "No transition, condition, error or compensation leads from the start to this state.",
		Bad: "- {name: Pack, type: inject, data: {}, start: {kind: default}, end: {kind: default}}\n" +
			"- {name: Ship, type: inject, data: {}, end: {kind: default}}\n",
		Good: "- {name: Pack, type: inject, data: {}, start: {kind: default}, transition: {nextState: Ship}}\n" +
			"- {name: Ship, type: inject, data: {}, end: {kind: default}}\n",
	},
	{
		Code: codeUnusedFunc, Title: "a function that is never called",
		Text: "No action refers to the function. In a file that several definitions refer to, that is not reported.",
		Bad:  "functions:\n- {name: charge, operation: bank.json#charge}\n",
		Good: "functions:\n- {name: charge, operation: bank.json#charge}\nstates:\n- name: Pay\n  type: operation\n  actions:\n" +
			"  - functionRef: {refName: charge}\n  end: {kind: default}\n",
	},
	{
		Code: codeUnusedEvent, Title: "an event that is never used",
		Text: "Nothing waits for the event or produces it.",
		Bad:  "events:\n- {name: Paid, type: paid, source: shop}\n",
		Good: "events:\n- {name: Paid, type: paid, source: shop}\nstates:\n- name: Wait\n  type: event\n  onEvents:\n" +
			"  - {eventRefs: [Paid], actions: []}\n  end: {kind: default}\n",
	},
	{
		Code: codeUnusedRetry, Title: "a retry that is never used",
		Text: "No error definition refers to the retry.",
		Bad:  "retries:\n- {name: patient, delay: PT1M, maxAttempts: 3}\n",
		Good: "retries:\n- {name: patient, delay: PT1M, maxAttempts: 3}\nstates:\n- name: Pay\n  type: subflow\n  workflowId: pay\n" +
			"  waitForCompletion: true\n  onErrors:\n  - {error: Declined, retryRef: patient, end: {kind: default}}\n  end: {kind: default}\n",
	},
	{
		Code: codeLiteral, Title: "a literal that cannot match",
		Text: "Nothing is converted when values are compared: the text 'true' is not the boolean true, and '18' is not 18.",
		Bad: "- name: Check\n  type: switch\n  dataConditions:\n  - {condition: \"{{ $.stock[?(@.available == 'true')] }}\", end: {kind: default}}\n" +
			"  default: {end: {kind: default}}\n",
		Good: "- name: Check\n  type: switch\n  dataConditions:\n  - {condition: \"{{ $.stock[?(@.available == true)] }}\", end: {kind: default}}\n" +
			"  default: {end: {kind: default}}\n",
	},
	{
		Code: codeBarePath, Title: "a path without braces",
		Text: "In parameters and data, text is text: only what stands in double braces is an expression.",
		Bad:  "- name: Greet\n  type: inject\n  data: {who: $.person.name}\n  end: {kind: default}\n",
		Good: "- name: Greet\n  type: inject\n  data: {who: \"{{ $.person.name }}\"}\n  end: {kind: default}\n",
	},
	{
		Code: codeRepeatedEvent, Title: "an event stands twice in one state",
		Text: "In an exclusive event state the first entry that names an event takes it. Where all events are needed, one event " +
			"serves both entries.",
		Bad: "events:\n- {name: Paid, type: paid, source: shop}\nstates:\n- name: Wait\n  type: event\n  onEvents:\n" +
			"  - {eventRefs: [Paid], actions: []}\n  - {eventRefs: [Paid], actions: []}\n  end: {kind: default}\n",
		Good: "events:\n- {name: Paid, type: paid, source: shop}\n- {name: Lost, type: lost, source: shop}\nstates:\n- name: Wait\n  type: event\n" +
			"  onEvents:\n  - {eventRefs: [Paid], actions: []}\n  - {eventRefs: [Lost], actions: []}\n  end: {kind: default}\n",
	},
	{
		Code: codeNothing, Title: "nothing is done",
		Text: "The state, branch or entry has no actions, or nothing to inject. That is allowed, and useful where a filter or a " +
			"transition is all that is needed.",
		Bad:  "- {name: Pack, type: operation, actions: [], end: {kind: default}}\n",
		Good: "- {name: Pack, type: inject, data: {packed: true}, end: {kind: default}}\n",
	},
	{
		Code: codeWait, Title: "waitForCompletion is not said",
		Text: "Without it the sub-workflow is started and nobody waits for it, so its output cannot be merged. The specification " +
			"requires the parameter, but leaves it out in its examples.",
		Bad:  "- {name: Pay, type: subflow, workflowId: pay, end: {kind: default}}\n",
		Good: "- {name: Pay, type: subflow, workflowId: pay, waitForCompletion: true, end: {kind: default}}\n",
	},
	{
		Code: codeDirectInvoke, Title: "directInvoke is not said",
		Text: "It decides whether instances can be started outside of the schedule. Without it they cannot.",
		Bad: "- name: Nightly\n  type: inject\n  data: {}\n  start: {kind: scheduled, schedule: {cron: 0 2 * * *}}\n" +
			"  end: {kind: default}\n",
		Good: "- name: Nightly\n  type: inject\n  data: {}\n  start: {kind: scheduled, schedule: {cron: 0 2 * * *, directInvoke: allow}}\n" +
			"  end: {kind: default}\n",
	},
	{
		Code: codeAnyEvent, Title: "an event that matches more than one might think",
		Text: "A consumed event is recognised by its type and source. One that is not given matches any.",
		Bad: "events:\n- {name: Paid, type: paid}\nstates:\n- name: Wait\n  type: event\n  onEvents:\n" +
			"  - {eventRefs: [Paid], actions: []}\n  end: {kind: default}\n",
		Good: "events:\n- {name: Paid, type: paid, source: shop}\nstates:\n- name: Wait\n  type: event\n  onEvents:\n" +
			"  - {eventRefs: [Paid], actions: []}\n  end: {kind: default}\n",
	},
	{
		Code: codeIgnored, Title: "a parameter has no effect here",
		Text: "The parameter belongs to another choice than the one made: n without completionType n_of_m, eventTimeout without " +
			"eventConditions, a schedule on a default start, timezone with an interval, correlation on a produced event, a timeout " +
			"on an event state that starts the workflow with any one event.",
		Bad: "- name: Both\n  type: parallel\n  completionType: and\n  n: 1\n  branches:\n  - {name: A, workflowId: a}\n" +
			"  - {name: B, workflowId: b}\n  end: {kind: default}\n",
		Good: "- name: Both\n  type: parallel\n  completionType: n_of_m\n  n: 1\n  branches:\n  - {name: A, workflowId: a}\n" +
			"  - {name: B, workflowId: b}\n  end: {kind: default}\n",
	},
	{
		Code: codeEndKind, Title: "events of an end that is not of kind event",
		Text: "The events are produced all the same; kind: event says so.",
		Bad: "events:\n- {name: Shipped, type: shipped, kind: produced}\nstates:\n- name: Ship\n  type: inject\n  data: {}\n" +
			"  end: {kind: default, produceEvents: [{eventRef: Shipped}]}\n",
		Good: "events:\n- {name: Shipped, type: shipped, kind: produced}\nstates:\n- name: Ship\n  type: inject\n  data: {}\n" +
			"  end: {kind: event, produceEvents: [{eventRef: Shipped}]}\n",
	},
	{
		Code: codeNoCorrelation, Title: "a callback event without correlation",
		Text: "The event that answers a callback must find its instance by a context attribute. Without correlation every instance " +
			"that waits takes it.",
		Bad: "events:\n- {name: Checked, type: checked, source: bank}\nstates:\n- name: Check\n  type: callback\n  action: {functionRef: {refName: check}}\n" +
			"  eventRef: Checked\n  timeout: PT1H\n  end: {kind: default}\n",
		Good: "events:\n- {name: Checked, type: checked, source: bank, correlation: [{contextAttributeName: orderid}]}\nstates:\n- name: Check\n" +
			"  type: callback\n  action: {functionRef: {refName: check}}\n  eventRef: Checked\n  timeout: PT1H\n  end: {kind: default}\n",
	},
}

const (
	payUndone = "- {name: Pay, type: inject, data: {}, compensatedBy: Refund, start: {kind: default}, transition: {nextState: Ship}}\n" +
		"- {name: Ship, type: inject, data: {}, end: {kind: default, compensateBefore: true}}\n"
	goodRefund = payUndone + "- {name: Refund, type: inject, data: {}, usedForCompensation: true}\n"
)

// compensationCodes explains SW330 to SW339: the rules for states that undo others.
var compensationCodes = []dialect.Explanation{
	{
		Code: codeCompIncoming, Title: "a transition into compensation",
		Text: "States for compensation are no part of the flow: they run when a transition or an end with compensateBefore undoes " +
			"what was completed. The state that compensatedBy names has no transitions into it at all; those it goes on to " +
			"are only reached from states for compensation.",
		Bad: "- {name: Pay, type: inject, data: {}, compensatedBy: Refund, transition: {nextState: Refund}}\n" +
			"- {name: Refund, type: inject, data: {}, usedForCompensation: true}\n",
		Good: goodRefund,
	},
	{
		Code: codeCompEvent, Title: "compensation by an event state",
		Text: "A state for compensation cannot wait for an event to begin: it runs as soon as it is its turn.",
		Bad: "events:\n- {name: Paid, type: paid, source: shop}\nstates:\n" + payUndone + "- name: Refund\n  type: event\n  usedForCompensation: true\n" +
			"  onEvents:\n  - {eventRefs: [Paid], actions: []}\n",
		Good: goodRefund,
	},
	{
		Code: codeCompStart, Title: "compensation as a start",
		Text: "A state for compensation cannot be the workflow's start.",
		Bad:  payUndone + "- {name: Refund, type: inject, data: {}, usedForCompensation: true, start: {kind: default}}\n",
		Good: goodRefund,
	},
	{
		Code: codeCompEnd, Title: "compensation as an end",
		Text: "A state for compensation does not end the workflow; without a transition the compensation of that state is complete " +
			"and the next one begins. Its onErrors may end the workflow.",
		Bad:  payUndone + "- {name: Refund, type: inject, data: {}, usedForCompensation: true, end: {kind: default}}\n",
		Good: goodRefund,
	},
	{
		Code: codeCompUnmarked, Title: "compensation that is not marked",
		Text: "The state that compensatedBy names must say usedForCompensation: true, so that a reader knows it is no part of the flow.",
		Bad:  payUndone + "- {name: Refund, type: inject, data: {}}\n",
		Good: goodRefund,
	},
	{
		Code: codeCompLeaves, Title: "compensation that goes on in the flow",
		Text: "A state for compensation can only go on to states that are for compensation too; afterwards the workflow goes on where " +
			"compensation was triggered.",
		Bad:  payUndone + "- {name: Refund, type: inject, data: {}, usedForCompensation: true, transition: {nextState: Ship}}\n",
		Good: payUndone + "- {name: Refund, type: inject, data: {}, usedForCompensation: true, transition: {nextState: Tell}}\n" + "- {name: Tell, type: inject, data: {}, usedForCompensation: true}\n",
	},
	{
		Code: codeCompRecursive, Title: "compensation that is compensated",
		Text: "A state for compensation cannot be undone itself: compensation is not recursive.",
		Bad: payUndone + "- {name: Refund, type: inject, data: {}, usedForCompensation: true, compensatedBy: Again}\n" +
			"- {name: Again, type: inject, data: {}, usedForCompensation: true}\n",
		Good: goodRefund,
	},
	{
		Code: codeCompTriggers, Title: "compensation that triggers compensation",
		Text: "compensateBefore belongs into the flow. While states are being undone it would begin anew.",
		Bad: payUndone + "- {name: Refund, type: inject, data: {}, usedForCompensation: true, transition: {nextState: Tell, compensateBefore: true}}\n" +
			"- {name: Tell, type: inject, data: {}, usedForCompensation: true}\n",
		Good: goodRefund,
	},
}
