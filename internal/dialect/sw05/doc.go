// Package sw05 is the front-end for Serverless Workflow 0.5, the version whose
// expressions are JSONPath in double braces.
//
// A definition goes through three steps, each a set of files:
//
//   - parse*.go reads the document into the model (model.go) and reports all that
//     can be said of one value by itself: kinds, required parameters, expressions.
//   - check*.go resolves references and reports what only the whole can tell:
//     dangling names, unreachable states, the rules of compensation, lint.
//   - compile*.go emits the program. It runs only where there is no error.
//
// compile_state.go tells how a state becomes nodes; compile_filter.go holds the
// three rules by which paths shape data. codes.go lists the diagnostics, codes.md explains them.
// schema.json is for editors: it describes every key that parse*.go reads, in the
// order in which a formatted definition has them.
package sw05
