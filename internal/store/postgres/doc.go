// Package postgres keeps namespaces in a PostgreSQL database that several processes share.
//
// # Transactions
//
// A write is one call of one function of the schema (schema/), which is one transaction:
// whoever stops or is cut off in the middle holds no lock. Commits that wait are written
// together, one statement for all of them (gather.go, commit.go); those that lose are told
// so, the others go on. What is rare (definitions, new shapes, a routing that lost too often) is a transaction of
// several statements, which the server ends when its client falls silent for a second (tx.go).
//
// Numbers are given out under a lock of the namespace, the last thing that a transaction
// takes: so they become visible in order, and no reader of the feed skips one that comes
// late. The Seq of an event is taken before it is routed; see Store.Ingest.
//
// # Routing
//
// A router looks at the database without a lock. What it looked at is noted as a
// sum, and compared under the lock before its routing is written; where it changed, the router
// looks again (view.go, route.go). So arrival and subscription never miss each other.
//
// # Connections
//
// Nothing belongs to a session: no prepared statement, no setting, no lock outlives a
// transaction, so that a pooler in transaction mode may stand between. When the connection
// is lost before the answer, the outcome is found out before anything is done again
// (outcome.go). A connection that is silent for a few seconds while something is asked is given
// up, and with it all that were made before (silence.go); a node that gets no answers stops to
// be heard of.
//
// # Nodes
//
// Processes that serve the same namespace share its work (node.go). Its instances are in parts by
// a hash of their ids, and a heartbeat, one call of one function, lets a node be heard of, which is what keeps its parts, takes free ones and gives back what is
// more than its share (lease.go). The epoch of a part grows whenever it changes hands. A call is stored with the
// epoch under which its node has it: whoever has the part under a later one finds it, however late it was
// committed. Hints (node_hint.go) only make nodes look earlier.
//
// # Rows
//
// Instances are updated in place. What is to be done (ready, wakes, inbox, calls) is in
// narrow tables of its own. Nothing is deleted from history and events: what is forgotten is garbage, which
// readers pass over, until whole tables of it are emptied (generations.go). Statements find rows by keys and have
// their plans pinned: tables grow faster than their statistics.
package postgres
