// Package ir is the program form that every dialect compiles to and the core
// runs: plain data, no behaviour beyond encoding and checking itself.
//
// A [Program] is a flat table of nodes. A node has one operation ([Op], a closed
// set of eleven) and a Next; Next 0 returns from the region the node runs in.
// A [Region] is whatever can fail, time out, be retried, cancelled or undone as
// one thing: a state with error handlers, a branch, an iteration, an action with
// a timeout. Region 0 is the whole workflow.
//
// While it runs, each frame has *data* (the state data of the specification), and
// may collect a *delta*: what its operations added, apart from what it was given.
// Branches and iterations hand their delta back, so that two branches never
// overwrite each other with stale copies of what they did not touch.
//
// A [Builder] adds to these tables while a front-end compiles.
//
// Everything that differs between versions of a specification is decided by the
// front-end that emits the nodes; this package and the core know of no versions.
package ir
