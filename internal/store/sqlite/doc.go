// Package sqlite keeps namespaces in one SQLite file, without cgo. What is acknowledged
// has reached the disk.
//
// # One writer
//
// All writes go through one goroutine with one connection. It writes all waiting requests in one
// transaction with one sync of the log, so that many concurrent writes cost little more than one; a
// single write does not wait. Queries use other connections, which see what is committed.
//
// # Memory
//
// The instances that have work to do, the next wake time and the open subscriptions are kept in memory
// (space.go, waits.go), which changes only after commits. It grows with the pending work, and by about 36 bytes
// for each subscription that is open; instances that wait for anything else are not in it. At start it is read
// from the file.
//
// # States
//
// The pages of a small state are in the row of its instance, as one value: most commits write one row
// of instances, one of history and the calls that they make or answer. A state that grew beyond 1 KiB has its
// pages in tables from then on (pages.go).
//
// # Events
//
// A filter fixes the values of some attributes; which ones is its shape, of which there
// are few. Events and subscriptions are filed under type and a hash of the values of a
// shape, so that an event costs a search per shape, however many wait (match.go). Events are filed in the file,
// open subscriptions in memory: no index of the file has to change when one opens and when it closes.
//
// # Jobs
//
// A lane is a state of a workflow; there are few, and all are in memory with how many jobs
// are in each. Jobs are filed under their lane, and so are their labels and clients: a list
// of some states merges the lanes in question, in the order of Seqs, and reads what it
// returns however many there are. A job that moves writes these rows anew, one that stays
// in its state does not (lanes.go).
//
// # Files
//
// open.go opens files; lock.go keeps other processes out; files.go sees whether they are still
// there, wal.go what a damaged log held; migrate.go brings their schema (schema/) to this version's;
// writer.go gathers writes, tx.go is a transaction, recover.go reads what is kept in
// memory. commit.go, commands.go and pages.go write steps; events.go and view.go route; work.go
// lists what is to be done; queries.go, list.go and lanes.go read; definitions.go; retention.go
// forgets; check.go and check_instances.go look for damage.
package sqlite
