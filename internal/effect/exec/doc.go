// Package exec runs a command for a function: arguments as JSON on its stdin, its
// stdout as the result. There is no shell, the environment is what the caller gives,
// and what comes out is bounded.
//
// Only effect/catalogue uses it, and only where the operator allows commands.
package exec
