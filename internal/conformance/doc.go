// Package conformance tests, section by section, that definitions behave as the specification and
// our decisions (docs/semantics.md) say.
//
// A case is an archive <dialect>/<section>-<case>.txtar. Its comment cites the
// section and the rule. Its files are the definition (workflow.yaml or .json, and
// whatever that refers to) and either
//
//   - scenario.yaml, a scenario file that must pass, or
//   - validate.txt, the exact diagnostics of the definition, one per line as
//     "line:column severity CODE", followed by a part of the message or the hint if
//     that is what the case is about.
//
// dialect.txt may name the front-end that must recognize the definition; without it, any
// front-end of the folder's family may.
//
// The package contains only tests. worked_test.go also runs the examples published with the
// specification, if a copy of them lies beside the repository.
package conformance
