// Package sw01 is the front-end for the 0.1 family of Serverless Workflow: the
// earliest draft (E), the draft in kebab-case with END states (K), and the draft in camelCase (C).
//
// The three are one language in three spellings. Parsing takes every spelling of
// a key in every form, so that what follows knows only one; where a form *means*
// something else, the code asks for it by name (form.go). Messages use the author's
// own spelling.
//
// A definition goes through three steps, each a set of files:
//
//   - parse*.go reads the document into the model (model.go) and reports all that
//     can be said of one value by itself: kinds, required parameters, expressions.
//   - check*.go resolves references and reports what only the whole can tell.
//   - compile*.go emits the program. It runs only where there is no error.
//
// compile_state.go tells how a state becomes nodes, compile_action.go how a call is
// filtered, timed and tried again, compile_event.go how a state waits for a boolean
// expression over events. status.go tells how an instance ended in the words of 0.1.
// codes.go lists the diagnostics, codes.md explains them; schema.json is for editors.
package sw01
