// Package cluster runs several engines over one store on one thread, from one seed.
//
// A [Case] is data: definitions, what clients do and when, how endpoints answer, and the
// faults. [Run] plays it: every request to a node, and its own work, is a coroutine that stops at each call of the store, and
// one loop decides who goes on, what fails, who crashes and when the clock moves. So the same
// case gives the same trace, byte for byte.
//
// The store is a [Database], which does what the PostgreSQL store does to its users:
// routers look, others write, and they look again; leases lapse; the answer to a commit is lost.
// In some cases it is the real SQLite store of one node instead, which has no goroutine of its own
// then: its files fail, and a crash leaves only a part of what was not synced.
// Invariants are checked while the case runs, and at its end everything that can end must have.
//
//	case.go      what a case is, and from a seed to a case; draw.go more of that; print.go for people
//	database.go  the store, session.go a node's connection to it, lease.go who has which part
//	disk.go      the SQLite store, its files and the clock of its node
//	world.go     the loop; node.go one process, thread.go its coroutines; clients.go those who ask it for something
//	check.go     what must hold, events.go of events, schedules.go of schedules; replay.go inputs folded again;
//	             answers.go of calls and inboxes, keys.go of keys and restarts, gone.go of what is deleted, follow.go of histories and the feed;
//	             jobs.go what clients see of jobs, registry.go of a definition; operators.go those who intervene
//	             and who answer, and the sink; invariants.go counts how often each could have been broken
//	shrink.go    the smallest case that fails; diagram.go shows it
package cluster
