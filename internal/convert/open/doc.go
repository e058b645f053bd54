// Package open rewrites definitions of Serverless Workflow 0.1 to 0.9 as Open Workflow 1.0.
//
// A state becomes a task of the main list with its name, and a transition a `then`. Where a way out does more
// than lead on (it sends events, undoes what was done, or must be allowed), tasks behind the state's own do that.
//
// There are two ways to write most expressions. The plain one is what an author of 1.0 would write, and is the
// same where what it assumes of the data is true: `$input * .` merges an answer into the data, if no list
// meets a list. The exact one is the same for all data ([convert.Options].Exact). Whatever a plain expression
// assumes is noted, so that exact definitions have no such assumptions; a comparison runs both, and counts a
// case in which only the plain one differs as one that breaks an assumption.
//
// Where to read:
//
//	open.go      a definition of states; task.go tasks and their list; name.go names
//	state.go     the types of states; action.go actions; function.go what they call; loop.go foreach and parallel
//	event.go     events that are waited for; event_state.go states that do; correlate.go which events belong to an instance
//	exit.go      ways out; fault.go errors and retries; undo.go compensation
//	data.go      filters, results and templates as jq; jq.go of definitions whose expressions are that already
//	before05.go  what 0.1 as released and 0.2 have of their own; choice.go their conditions
//	early.go     definitions of the drafts of 0.1, whose data is replaced, not merged; early_….go their parts
package open
