// Package postgres keeps namespaces in a PostgreSQL database that several processes share.
//
// # Transactions
//
// A write is one call of one function of the schema (schema/), and that call is one transaction: a
// client that stops or is cut off in the middle holds no lock. Commits that wait are written together,
// with one call for all of them (gather.go, commit.go); those that conflict fail, the others go on.
// Rare writes (definitions, new shapes, a routing that lost too often) are transactions of several
// statements, which the server ends when its client is silent for a second (tx.go).
//
// Sequence numbers are given out under a lock of the namespace, the last thing that a transaction
// takes: they become visible in order, and a reader of the feed never skips one that comes late. The
// Seq of an event is taken before it is routed; see Store.Ingest.
//
// # Arguments
//
// Functions get their arguments by name. The long lists, of commits and routings, are described by
// structs (args.go, commit_rows.go, route_rows.go): a field is an argument or, of several rows, an array.
//
// Why functions, and not a plain statement for each table in one pipeline? This is what a commit at one in
// flight (a step with a page, a record, an answered call and a new one) costs of the database's CPU, the
// median of three runs on a busy machine:
//
//	                        each time parsed   prepared
//	one call of a function       0.8 ms         0.6 ms
//	twelve plain statements      1.9 ms         0.35 ms
//	a bare UPDATE                0.2 ms         0.07 ms
//
// Whether a function's arguments are passed by name or by position makes no difference that shows. What a call
// costs besides is to parse it and the number of statements that the function runs. So the calls that every step sends
// are prepared where the sessions are the pool's own (prepared.go): their plans, unlike those of plain statements, do not
// follow the statistics, which mislead while tables grow. And a commit that is alone, which most are where
// little is in flight, is written by a function of its own (commit_one.go), which runs no statement without rows: a
// step is 8 of them.
//
// # Routing
//
// A router looks at the database without a lock. A sum of what it looked at is noted, and compared under
// the lock before its routing is written; where it changed, the router looks again (view.go, route.go).
// So an event that arrives and a subscription that begins never miss each other. An event may be written together
// with the step of the instance that gets it (commit_event.go): the same statement locks the row, then takes the event,
// then writes the step as any other.
//
// # Connections
//
// No setting and no lock outlives a transaction, and statements are prepared only where no pooler gives the session to
// others, so that a pooler in transaction mode may stand between. When the connection is lost before the answer, the
// outcome is looked up before anything is done again (outcome.go). A connection that is silent for a few
// seconds while an answer is due is closed, and with it all that were opened before (silence.go); a node
// that gets no answers stops renewing its lease.
//
// # Nodes
//
// Processes that serve the same namespace share its work (node.go). Instances belong to shards by a hash of
// their ids. A heartbeat, one call of one function, renews the lease of a node, takes free shards, and gives
// back what exceeds its share (lease.go). The epoch of a shard grows whenever the shard changes hands. A call
// is stored with the epoch under which its node holds the shard: a node that holds it under a later epoch
// finds the call, however late it was committed. Hints (node_hint.go) only make nodes look earlier.
//
// # Rows
//
// Instances are updated in place. Pending work (ready, wakes, inbox, calls) is in narrow tables of its own.
// Nothing is deleted from history and events: what is forgotten is garbage, which readers skip, until whole
// tables of it are truncated (generations.go). Statements find rows by keys and have their plans pinned:
// tables grow faster than their statistics.
package postgres
