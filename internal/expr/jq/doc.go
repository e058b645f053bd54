// Package jq runs jq filters that strangers may write, such as the response filters of
// a request, without giving them the machine.
//
// The interpreter is gojq. It can be stopped between two instructions, but not inside a
// function of its own, and one call of those can take all memory there is. So a filter
// does not reach them directly. [Compile] parses it and rewrites its tree (guard.go):
// every operator and function whose cost depends on its arguments becomes a call of a
// wrapper, which pays for the work from the budget of the run before it lets the original
// do it (meter.go, natives.go). Definitions that jq has in its own language are written
// again in prelude.go, and pass through the same rewriting. What knows about the world is
// written in Go (own.go), and knows what the host said: the time of the run, and its zone.
// What is in none of these is refused, above all the environment and further inputs.
//
// An instruction costs a step, and so do some sixteen bytes, or a value, that a function
// looks at or makes; what a run can take of time is therefore bounded by its steps, and the
// same on every machine. What it makes is counted in bytes as well, with the stacks of the
// interpreter (memory.go).
package jq
