// Command bench measures the engine on durable stores beside what their databases do without it.
//
// Each load runs on SQLite and on PostgreSQL with 1 and 128 instances in flight, in a closed loop. The rates as shares
// of floors, which the same run measures, are the figures that mean something on another machine; they are
// compared with targets. The loads are:
//
//	W1      one function step (in-process, constant result), durable before the next
//	W1/HTTP the same, started over HTTP by a request that waits for its end
//	W10     ten such steps in sequence
//	P10     ten pure states, which are one commit
//	events  an instance that waits for a correlated event, which is sent to it
//	timers  an instance that sleeps for a millisecond
//	J       a job over HTTP, with four updates of its status
//	… 1MiB  W1 and W10 with an input of 1 MiB
//	event/… an event to one of so many instances that wait
//
// Usage: go run ./bench [-store memory|sqlite|postgres|postgres://…] [-reps 3] [-time 1s] [-loads W1,W10] [-inflight 1,128] [-into docs/performance.md]
//
// Instead of the table, -foreach N, -waiting N, -recover N and -jobs N measure one large thing each,
// on SQLite. README.md says how to read all of it.
//
// -curves DIR draws how the cost of one thing grows with what there is (curves.go, curvesof.go), with package internal/plot.
//
// -pairs compares what a task costs in two loads (pairs.go), such as W10 in 0.5 and in Open Workflow 1.0.
//
// -http measures W1 in the process and over HTTP in turns (overhttp.go), with clients in another process (lean.go).
//
// With -store postgres, -nodes 1,2,3 runs loads on so many processes of the real program, and
// -snapshot 10m runs W1 for so long without and with a transaction beside it that keeps an old snapshot.
//
// options.go is the command line, table.go the table, targets.go its targets, sampling.go one measurement: loads.go
// what is run, floor.go the store alone, plain.go the rows of W1 without us, measure.go the
// loop, stores.go the stores. scales.go is the rest: foreach.go; fill.go makes instances
// that wait, waiting.go measures among them, in processes of their own (child.go);
// jobs.go measures lists of jobs. nodes.go runs several nodes, over HTTP (http.go); watch.go looks at their
// database meanwhile and cpu.go at the processors. snapshot.go is about old snapshots.
package main
