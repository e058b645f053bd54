// Package conformance proves, section by section, that definitions mean what the
// specification and our decisions say.
//
// A case is an archive <dialect>/<section>-<case>.txtar. Its comment cites the
// section and the rule. Its files are the definition (workflow.yaml or .json, and
// whatever that refers to) and either
//
//   - scenario.yaml, a scenario file that must pass, or
//   - validate.txt, the exact diagnostics of the definition, one a line as
//     "line:column severity CODE", and after it, where that is the point of the
//     case, a part of the message or the hint.
//
// dialect.txt may name the front-end that must take the definition; without it any
// of the folder's family may.
//
// The package holds only tests. worked_test.go also reproduces the examples
// published with the specification, where a copy of them lies beside the
// repository.
package conformance
