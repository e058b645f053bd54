// Package wfx is the front-end for the workflows of wfx (seed 002): state machines that
// devices and operators advance together. An instance of one is a job.
//
// A workflow goes through three steps, each a set of files:
//
//   - parse*.go reads the document into the model (document.go) and reports all that
//     can be said of one value by itself: kinds, required keys, lengths.
//   - check*.go resolves names and reports what only the whole can tell: names that
//     stand twice or nowhere, immediate transitions, the shape of the graph.
//   - compile.go emits the program. It runs only where there is no error.
//
// model.go is the workflow as plain values, and json.go writes it as wfx's API shows
// it. codes.go lists the diagnostics. schema.json is for editors: it describes every key
// that parse*.go reads, in the order in which a formatted workflow has them.
//
// Beyond wfx a state may have a time limit (timeout). wfx drops the key; the state it
// leads to can be reached by an operator too, so the workflow means the same there but
// for the clock.
package wfx
