package wfx

import (
	"fmt"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// shapeCodes explains WFX100 to WFX199: the shape of one value.
var shapeCodes = []dialect.Explanation{
	{
		Code: codeNotObject, Title: "the workflow is not an object",
		Text: "A workflow is an object with a name, a list of states and a list of transitions.",
		Bad:  "- name: wash\n",
		Good: "name: wash\n",
	},
	{
		Code: codeMissing, Title: "something that must be there is not",
		Text: "A workflow has a name, states and transitions; a state a name; a group a name and states; a transition from, to " +
			"and eligible; a time limit after and to.",
		Bad:  "transitions:\n- {from: DIRTY, to: CLEAN}\n",
		Good: "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n",
	},
	{
		Code: codeType, Title: "a value of the wrong kind",
		Text: "The value is a number where text is needed, an object where a list is needed, and so on. The message says which. " +
			"Text that looks like a number, or like true or false, needs quotes.",
		Bad:  "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: 3}\n",
		Good: "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: '3'}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n- {from: DIRTY, to: '3', eligible: WFX}\n",
	},
	{
		Code: codeUnknownKey, Title: "a key that workflows do not have",
		Text: "The key means nothing here and is dropped, as wfx does; most likely it is misspelt.",
		Bad:  "states:\n- {name: DIRTY, desciption: to be washed}\n- {name: CLEAN}\n",
		Good: "states:\n- {name: DIRTY, description: to be washed}\n- {name: CLEAN}\n",
	},
	{
		Code: codeChoice, Title: "a word that is none of those allowed",
		Text: "A transition is for CLIENT, the device, or for WFX, the operator; the action of one for WFX is IMMEDIATE or WAIT. " +
			"The words are in capital letters.",
		Bad:  "transitions:\n- {from: DIRTY, to: CLEAN, eligible: client}\n",
		Good: "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n",
	},
	{
		Code: codeEmpty, Title: "a name or a list is empty",
		Text: "Names have at least one character; states, transitions and the states of a group have at least one item.",
		Bad:  "groups:\n- {name: OPEN, states: []}\n",
		Good: "groups:\n- {name: OPEN, states: [DIRTY]}\n",
	},
	{
		Code: codeName, Title: "a name that cannot be",
		Text: "The name of a workflow stands in addresses: it consists of letters from a to z, large or small, digits, dots and hyphens.",
		Bad:  "name: wash the dishes\n",
		Good: "name: wash-the-dishes\n",
	},
	{
		Code: codeTooLong, Title: "a text is too long",
		Text: fmt.Sprintf("The name of a workflow has at most %d characters (limit workflow-name), its description at most %d (limit workflow-description).",
			MaxName, MaxDescription),
		Bad:  "name: " + strings.Repeat("w", MaxName+1) + "\n",
		Good: "name: " + strings.Repeat("w", MaxName) + "\n",
	},
	{
		Code: codeTooMany, Title: "a list is too long",
		Text: fmt.Sprintf("A workflow has at most %d states, %d groups and %d transitions (limits workflow-states, workflow-groups, workflow-transitions).",
			MaxStates, MaxGroups, MaxTransitions),
		Bad:  "groups:\n- {name: G1, states: [DIRTY]}\n# ... and 1,024 more\n",
		Good: "groups:\n- {name: G1, states: [DIRTY]}\n# ... and 1,023 more\n",
	},
	{
		Code: codeDuration, Title: "not a duration",
		Text: "How long a job may stay in a state is an ISO 8601 duration longer than nothing: PT30S, PT15M, PT1H, P2D.",
		Bad:  "states:\n- {name: DIRTY, timeout: {after: 15 minutes, to: CLEAN}}\n- {name: CLEAN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX}\n",
		Good: "states:\n- {name: DIRTY, timeout: {after: PT15M, to: CLEAN}}\n- {name: CLEAN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX}\n",
	},
}

// nameCodes explains WFX200 to WFX299: names and transitions.
var nameCodes = []dialect.Explanation{
	{
		Code: codeSameState, Title: "two states of one name",
		Text: "Transitions, groups and queries find a state by its name.",
		Bad:  "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: DIRTY}\n",
		Good: "states:\n- {name: DIRTY}\n- {name: CLEAN}\n",
	},
	{
		Code: codeNoState, Title: "no such state",
		Text: "A transition or a time limit names a state that is not defined.",
		Bad:  "transitions:\n- {from: DIRTY, to: CLAEN, eligible: CLIENT}\n",
		Good: "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n",
	},
	{
		Code: codeSameTransition, Title: "a transition stands twice",
		Text: "Two transitions must differ in from, to or eligible.",
		Bad:  "transitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX}\n- {from: DIRTY, to: CLEAN, eligible: WFX, action: WAIT}\n",
		Good: "transitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX}\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n",
	},
	{
		Code: codeSameGroup, Title: "two groups of one name",
		Text: "Queries find a group by its name.",
		Bad:  "groups:\n- {name: OPEN, states: [DIRTY]}\n- {name: OPEN, states: [CLEAN]}\n",
		Good: "groups:\n- {name: OPEN, states: [DIRTY]}\n- {name: CLOSED, states: [CLEAN]}\n",
	},
	{
		Code: codeGroupState, Title: "a group names a state that is not there",
		Text: "A group lists states of the same workflow by their names.",
		Bad:  "groups:\n- {name: OPEN, states: [DIRTY, SOAKING]}\n",
		Good: "groups:\n- {name: OPEN, states: [DIRTY]}\n",
	},
	{
		Code: codeTwoGroups, Title: "a state is in two groups",
		Text: "A state belongs to one group at most: a job is in one place at a time.",
		Bad:  "groups:\n- {name: OPEN, states: [DIRTY]}\n- {name: CLOSED, states: [DIRTY, CLEAN]}\n",
		Good: "groups:\n- {name: OPEN, states: [DIRTY]}\n- {name: CLOSED, states: [CLEAN]}\n",
	},
	{
		Code: codeTwoImmediate, Title: "two IMMEDIATE transitions leave one state",
		Text: "An IMMEDIATE transition happens as soon as its state is entered, so only one of them could ever happen.",
		Bad: "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: BROKEN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX, action: IMMEDIATE}\n" +
			"- {from: DIRTY, to: BROKEN, eligible: WFX, action: IMMEDIATE}\n",
		Good: "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: BROKEN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX}\n" +
			"- {from: DIRTY, to: BROKEN, eligible: WFX}\n",
	},
	{
		Code: codeNeverTaken, Title: "a transition that can never happen",
		Text: "An IMMEDIATE transition leaves its state at once: no other transition from there is ever taken.",
		Bad: "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: BROKEN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX, action: IMMEDIATE}\n" +
			"- {from: DIRTY, to: BROKEN, eligible: CLIENT}\n",
		Good: "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: BROKEN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX, action: IMMEDIATE}\n" +
			"- {from: CLEAN, to: BROKEN, eligible: CLIENT}\n",
	},
	{
		Code: codeImmediateClient, Title: "IMMEDIATE for a client",
		Text: "An IMMEDIATE transition is made by the server for the operator. A client takes its transitions itself, when it is ready; they have no action.",
		Bad:  "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT, action: IMMEDIATE}\n",
		Good: "transitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX, action: IMMEDIATE}\n",
	},
	{
		Code: codeImmediateSelf, Title: "IMMEDIATE back to the same state",
		Text: "A state that is left at once for itself is never left.",
		Bad: "states:\n- {name: DIRTY}\n- {name: CLEAN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n" +
			"- {from: CLEAN, to: CLEAN, eligible: WFX, action: IMMEDIATE}\n",
		Good: "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n- {from: CLEAN, to: CLEAN, eligible: WFX}\n",
	},
	{
		Code: codeTimeoutTarget, Title: "a time limit leads where no operator could",
		Text: "A time limit makes a move that the operator may make too: there is a transition for WFX from the state to its target, without " +
			"IMMEDIATE. So the workflow stays one for wfx, where an operator does what the clock does here.",
		Bad:  "states:\n- {name: DIRTY, timeout: {after: PT1H, to: CLEAN}}\n- {name: CLEAN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n",
		Good: "states:\n- {name: DIRTY, timeout: {after: PT1H, to: CLEAN}}\n- {name: CLEAN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: WFX}\n",
	},
}

// graphCodes explains WFX300 to WFX399: the graph, and what is allowed but odd.
var graphCodes = []dialect.Explanation{
	{
		Code: codeNoInitial, Title: "no initial state",
		Text: "Jobs begin in the state that no transition leads to, but for its own to itself. Here there is none, so the transitions go in a circle.",
		Bad:  "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n- {from: CLEAN, to: DIRTY, eligible: CLIENT}\n",
		Good: "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n",
	},
	{
		Code: codeTwoInitial, Title: "several initial states",
		Text: "Jobs begin in the state that no transition leads to, so there must be exactly one. A state that nothing leads to is either a second " +
			"beginning or was forgotten.",
		Bad:  "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: BROKEN}\n",
		Good: "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: BROKEN}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n- {from: DIRTY, to: BROKEN, eligible: CLIENT}\n",
	},
	{
		Code: codeUnreachable, Title: "a state that is never reached",
		Text: "No transition leads from the initial state to this one: those that lead to it go in a circle.",
		Bad: "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: SOAKING}\n- {name: RINSING}\ntransitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n" +
			"- {from: SOAKING, to: RINSING, eligible: CLIENT}\n- {from: RINSING, to: SOAKING, eligible: CLIENT}\n",
		Good: "states:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: SOAKING}\n- {name: RINSING}\ntransitions:\n- {from: DIRTY, to: SOAKING, eligible: CLIENT}\n" +
			"- {from: SOAKING, to: RINSING, eligible: CLIENT}\n- {from: RINSING, to: CLEAN, eligible: CLIENT}\n",
	},
	{
		Code: codeCycle, Title: "the transitions go in a circle",
		Text: "A job only goes forward, so that it ends. Trying again is a new job. Progress within a state needs no transition: every state can be " +
			"reported again by both actors.",
		Bad: "states:\n- {name: NEW}\n- {name: DIRTY}\n- {name: CLEAN}\ntransitions:\n- {from: NEW, to: DIRTY, eligible: WFX}\n" +
			"- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n- {from: CLEAN, to: DIRTY, eligible: CLIENT}\n",
		Good: "states:\n- {name: NEW}\n- {name: DIRTY}\n- {name: CLEAN}\ntransitions:\n- {from: NEW, to: DIRTY, eligible: WFX}\n" +
			"- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n",
	},
	{
		Code: codeClientAction, Title: "an action for a client",
		Text: "Actions tell what the server does with transitions for WFX. Those of a client have none: it takes them when it is ready.",
		Bad:  "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT, action: WAIT}\n",
		Good: "transitions:\n- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n",
	},
	{
		Code: codeLooseFinal, Title: "a final state outside of every group",
		Text: "Some final states are in groups and this one is not, so that queries and boards by group do not show its jobs. Add it to a group.",
		Bad: "groups:\n- {name: CLOSED, states: [CLEAN]}\nstates:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: BROKEN}\ntransitions:\n" +
			"- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n- {from: DIRTY, to: BROKEN, eligible: CLIENT}\n",
		Good: "groups:\n- {name: CLOSED, states: [CLEAN, BROKEN]}\nstates:\n- {name: DIRTY}\n- {name: CLEAN}\n- {name: BROKEN}\ntransitions:\n" +
			"- {from: DIRTY, to: CLEAN, eligible: CLIENT}\n- {from: DIRTY, to: BROKEN, eligible: CLIENT}\n",
	},
}
