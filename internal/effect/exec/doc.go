// Package exec runs a program: a command of the catalogue or of a task. The caller chooses its environment and what it
// reads; what it writes, how long it runs and the memory of its processes are bounded.
//
// A [Process] is talked to while it runs.
//
// All processes of a command are one process group, which is killed as a whole when the command is over, when its time
// is up, when its context ends, and when this process dies, even by SIGKILL: its leader is a shell that does nothing but
// wait for that. On Linux processes that left the group are found by a mark in their environment and killed too, except
// when this process dies. A program that clears its environment and leaves its group is beyond that.
package exec
