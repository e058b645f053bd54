// Package naive08 is the reference interpreter of Serverless Workflow 0.6 to 0.9. It is written
// from the specification's four texts and the decisions about them, as the interpreters of the other versions are,
// and shares no code with the kernel but durations, which have tests of their own.
//
// It reads the definition as a decoded JSON document each time it needs a word of it,
// recurses where the definition nests, and blocks where the definition waits. It checks
// nothing: definitions are valid. Speed is no concern.
//
// Where to read:
//
//	case.go        what goes in and what comes out, and why an outcome may be open
//	thread.go      virtual time, and blocking as plain recursion
//	world.go       instances: how they run, end, time out and continue as others
//	state.go       states one after another, retries of states, exits, compensation
//	kinds.go       the kinds of states; fan.go parallel and foreach, event.go those with events
//	action.go      actions: calls and events; child.go sub-workflows, limit.go the times of everything
//	error.go       which errors are handled and retried, in each version
//	correlate.go   which events an instance takes; start.go those that start one
//	data.go        merging and filters
//	expression.go  jq, templates, functions of expressions; path.go the few JSONPaths that cases use
package naive08
