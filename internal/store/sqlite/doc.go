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
// The instances that have work to do, and the next wake time, are kept in memory (space.go), which
// changes only after commits. Its size grows with the pending work, not with the instances that
// wait. At start it is read from the file.
//
// # Events
//
// A filter fixes the values of some attributes; which ones is its shape, of which there
// are few. Events and subscriptions are filed under type and a hash of the values of a
// shape, so that an event costs a search per shape, however many wait (match.go).
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
// memory. commit.go and commands.go write steps; events.go and view.go route; work.go
// lists what is to be done; queries.go, list.go and lanes.go read; definitions.go; retention.go
// forgets; check.go and check_instances.go look for damage.
package sqlite
