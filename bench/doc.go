// Command bench measures the engine on a durable store beside that store alone.
//
// Each load runs with 1, 16 and 128 instances in flight, in a closed loop. Then the
// store does the same commits without an engine, from as many goroutines: the ratio of
// the two is what the engine costs, and the only figure that means something on another
// machine. The loads are those of the design's PERFORMANCE.md:
//
//	W1      one function step (in-process, constant result), durable before the next
//	W10     ten such steps in sequence
//	P10     ten pure states, which are one commit
//	events  an instance that waits for a correlated event, which is sent to it
//	timers  an instance that sleeps for a millisecond
//
// Usage: go run ./bench [-store memory|sqlite] [-time 2s] [-loads W1,W10] [-inflight 1,16,128]
package main
