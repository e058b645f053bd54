// Package sw10 is the front-end for Open Workflow 1.0, which was called Serverless Workflow 1.0:
// versions 1.0.0 to 1.0.3 of the language, whose expressions are jq.
//
// A definition goes through these steps, each a set of files:
//
//   - parse*.go reads the document into the model (model.go) and reports all that
//     can be said of one value by itself: kinds, required keys, expressions, the variables
//     that an expression may use where it stands.
//   - check*.go resolves references and reports what only the whole can tell: names
//     that do not exist, tasks that are never reached, catches that never match.
//
// jq.go is all that knows the grammar of jq. codes.go lists the diagnostics, codes.md explains
// them. schema.json is for editors: it describes every key that parse*.go reads, in the order in
// which a formatted definition has them.
package sw10
