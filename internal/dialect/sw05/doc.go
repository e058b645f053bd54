// Package sw05 is the front-end for Serverless Workflow 0.5, the version whose
// expressions are JSONPath in double braces, and for the two forms before it: 0.1 as it was
// released in April 2020, and 0.2, the draft of that summer (form.go).
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
// Files that end with before05.go hold what the older forms have of their own; expression.go reads their
// expressions. All forms share the model, the checks and the compiler.
// schema.json, and schema_before05.json of the older forms, is for editors: it describes every key that parse*.go reads, in the
// order in which a formatted definition has them.
package sw05
