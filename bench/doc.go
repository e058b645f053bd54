// Command bench measures the engine on a durable store beside that store alone.
//
// Each load runs with 1, 16 and 128 instances in flight, in a closed loop. Then the
// store does the same commits without an engine, from as many goroutines: the ratio of
// the two is what the engine costs, and the only figure that means something on another
// machine. The loads are:
//
//	W1      one function step (in-process, constant result), durable before the next
//	W1/HTTP the same, started over HTTP by a request that waits for its end
//	W10     ten such steps in sequence
//	P10     ten pure states, which are one commit
//	events  an instance that waits for a correlated event, which is sent to it
//	timers  an instance that sleeps for a millisecond
//
// Usage: go run ./bench [-store memory|sqlite|postgres|postgres://…] [-time 2s] [-loads W1,W10] [-inflight 1,16,128]
//
// Instead of the table, -foreach N, -waiting N, -recover N and -jobs N measure one large thing each,
// on SQLite. README.md says how to read all of it.
//
// -pairs compares what a task costs in two loads (pairs.go), such as W10 in 0.5 and in Open Workflow 1.0.
//
// -http measures W1 in the process and over HTTP in turns (overhttp.go), with clients in another process (lean.go).
//
// With -store postgres, -nodes 1,2,3 runs loads on so many processes of the real program, and
// -snapshot 10m runs W1 for so long without and with a transaction beside it that keeps an old snapshot.
//
// options.go is the command line, main.go the table: loads.go what is run, floor.go the store alone, measure.go the
// loop, stores.go the stores. scales.go is the rest: foreach.go; fill.go makes instances
// that wait, waiting.go measures among them, in processes of their own (child.go);
// jobs.go measures lists of jobs. nodes.go runs several nodes, over HTTP (http.go); watch.go looks at their
// database meanwhile and cpu.go at the processors. snapshot.go is about old snapshots.
package main
