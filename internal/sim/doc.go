// Package sim checks the kernel (front-ends, core and engine) against a second implementation:
// a generator makes definitions with inputs, answers of functions and events from a seed; a
// reference interpreter that shares no code with the kernel computes the outcome; the kernel
// must agree. Bugs planted into copies of the source show that this, with the other tests,
// would find real ones.
//
// README.md says how to run it, what is compared and what is not, and lists the planted bugs
// with the test that found each.
//
// Read case.go first, then dialects.go, then naive.go and generate.go; versions 0.6 to 0.9 are in dialect08.go, generate08.go
// and package naive08, Open Workflow 1.0 is in dialect10.go, generate10.go and package naive10.
package sim
