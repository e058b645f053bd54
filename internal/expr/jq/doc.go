// Package jq evaluates jq within a budget of work and memory, in two ways: filters from untrusted
// clients, such as the response filters of a request, which write any number of values as JSON
// (jq.go); and the expression languages of definitions, which give one [expr.Value] (language.go,
// template.go).
//
// The interpreter is gojq. It can be stopped between two instructions, but not inside a
// function of its own, and one call of those can take all memory there is. So a filter
// does not reach them directly. It is parsed, and its tree is rewritten (guard.go):
// every operator and function whose cost depends on its arguments becomes a call of a
// wrapper, which pays for the work from the budget of the run before it lets the original
// do it (meter.go, natives.go). Definitions that jq has in its own language are written
// again in prelude.go, and pass through the same rewriting. Functions that depend
// on the environment are written in Go (own.go) and see what the host gives them: the time of the
// run, and its zone. Everything else is refused, above all the environment and further inputs.
//
// An instruction costs a step, and so do some sixteen bytes, or a value, that a function
// looks at or makes; what a run can take of time is therefore bounded by its steps, and the
// same on every machine. What it makes is counted in bytes as well, with the stacks of the
// interpreter (memory.go).
//
// The interpreter works on maps and slices of Go. Expressions of the common forms do without it
// (direct.go), and for the others only what they can look at is converted (survey.go). The same
// survey tells front-ends which variables an expression uses (inspect.go).
package jq
