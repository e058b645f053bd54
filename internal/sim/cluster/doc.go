// Package cluster runs several engines over one store on one thread, from one seed.
//
// A [Case] is data: definitions, what clients do and when, how endpoints answer, and the
// faults. [Run] plays it: every request to a node, and the node's own work, is a coroutine that
// stops at each call of the store. One loop decides which coroutine goes on, what fails, which
// node crashes and when the clock moves. So the same case gives the same trace, byte for byte.
//
// The store is a [Database], which shows its users what the PostgreSQL store shows them: routers
// read, others write, and the routers read again; leases lapse; the answer to a commit is lost.
// In some cases it is the real SQLite store of one node instead, without a goroutine of its own:
// its files fail, and a crash keeps only a part of what was not synced.
// Invariants are checked while the case runs; at its end everything that can end must have ended.
//
// All of it is in test files. Read them in this order (the names lack their ending _test.go):
//
//	case, draw, print          what a case is, and how a seed becomes one
//	database, session, lease   the store, a node's connection to it, the leases of shards
//	disk                       the SQLite store, its files and its node's clock
//	world, node, thread        the loop, one process, its coroutines
//	clients, operators         the callers of a node: clients, operators, receivers of events
//	check, replay, invariants  what must hold; replaying the inputs; how often each rule was exercised
//	answers, keys, gone, follow, events, schedules, rounds, jobs, registry
//	                           the invariants of each subject
//	shrink, diagram            the smallest case that fails, and a drawing of it
package cluster
