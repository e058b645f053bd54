// Package trial runs workflows in a temporary engine: over a store in memory, within limits and, by
// default, under virtual time, where thirty days pass in a millisecond. Scenarios, `lockstep run`,
// the playground, the comparison of conversions and the oracle all run this way.
//
// Begin with [New]. A [Run] has the engine that starts workflows; [Run.At] schedules input from
// outside, and [Run.Step] goes from one instant with work to the next.
package trial
