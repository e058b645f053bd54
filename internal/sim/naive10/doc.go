// Package naive10 is the reference interpreter of Open Workflow 1.0. It is written from the
// specification alone, as the interpreters of the older versions in package sim are, and shares
// no code with the kernel but durations and cron, which have tests of their own.
//
// It reads the definition as a decoded JSON document each time it needs a word of it,
// recurses where the definition nests, and blocks where the definition waits. It checks
// nothing: definitions are valid. Speed is no concern.
//
// Where to read:
//
//	case.go        what goes in and what comes out
//	thread.go      virtual time, and blocking as plain recursion
//	world.go       instances, and how they start
//	task.go        lists, the steps of a task, directives, extensions
//	kinds.go       the kinds of tasks; call.go, try.go, listen.go the longer ones
//	strategy.go    which events a listen or a schedule takes
//	expression.go  jq, templates, schemas, durations, errors
package naive10
