// Package sqlite keeps namespaces in one SQLite file, without cgo. What is acknowledged
// has reached the disk.
//
// # One writer
//
// All writes go through one goroutine with one connection. It takes what waits as one
// transaction and one sync of the log, so that many at a time cost little more than one;
// who is alone waits for nobody. Queries have connections of their own, which see
// what is committed.
//
// # Memory
//
// Who has something to do, and when the next one is to be woken, is kept in memory
// (space.go) and changes after commits only. It is as large as the work, not as what
// waits; at start it is read from the file.
//
// # Events
//
// A filter fixes the values of some attributes; which ones is its shape, of which there
// are few. Events and subscriptions are filed under type and a hash of the values of a
// shape, so that an event costs a search per shape, however many wait (match.go).
//
// # Files
//
// open.go opens files; migrate.go brings their schema (schema/) to this version's;
// writer.go gathers writes, tx.go is a transaction, recover.go reads what is kept in
// memory. commit.go and commands.go write steps; events.go and view.go route; work.go
// lists what is to be done; queries.go and list.go read; definitions.go; retention.go
// forgets; check.go looks for damage.
package sqlite
