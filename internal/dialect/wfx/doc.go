// Package wfx is the front-end for the workflows of wfx: state machines that
// devices and operators advance together. An instance of one is a job.
//
// A workflow goes through three steps, each a set of files:
//
//   - parse*.go reads the document into the model (document.go) and reports everything
//     that can be checked one value at a time: kinds, required keys, lengths.
//   - check*.go resolves names and reports what needs the whole document: duplicate and
//     unknown names, immediate transitions, the shape of the graph.
//   - compile.go emits the program. It runs only if there is no error.
//
// model.go is the workflow as plain values, and json.go writes it as wfx's API shows
// it. codes.go lists the diagnostics, codes.md explains them. schema.json is for editors: it
// describes every key that parse*.go reads, in the order of a formatted workflow.
//
// As an extension of wfx, a state may have a timeout. wfx ignores the key, and an operator can
// also move a job to the state that it leads to, so that only the timing differs there.
package wfx
