// Package sim makes sure of the kernel by doing everything twice: a generator makes
// definitions with inputs, answers of functions and events from a seed; a reference
// interpreter that shares no code with the kernel says what must come of them; the
// kernel must agree. Bugs that are planted into copies of the kernel's source show
// that this, with the other tests, would find real ones.
//
// README.md says how to run it, what is compared, what is left alone and why, and
// lists the planted bugs with what found each.
//
// Read case.go first, then dialects.go, then naive.go and generate.go.
package sim
