// Package exec runs a command for a function: the arguments are JSON on its stdin, its stdout is
// the result. There is no shell, the caller chooses the environment, and the output is bounded.
//
// A [Process] is talked to while it runs.
//
// Only effect/catalogue and effect/mcp use it, and only if the operator allows commands.
package exec
