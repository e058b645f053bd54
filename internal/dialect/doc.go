// Package dialect reads the documents users write and holds what all front-ends
// share.
//
//   - [Read] turns YAML or JSON into a tree of [Node] that knows its exact places
//     and loses nothing: key order, digits, spelling.
//   - A [Diagnostic] says what is wrong in a document and where; a [Reporter]
//     collects them, [Render] shows them with the source line, [Explain] explains their codes.
//   - A [Reader] reads objects strictly, with the same messages in every file: [Fields]
//     with places, [Members] for JSON without.
//   - A [FrontEnd] compiles one family of versions to a program; a [Registry] finds
//     the one that a document is written for.
//   - [Document.Syntax] is a YAML document as it is written, anchors and all, for
//     package format, which rewrites it.
//   - A [Bundle] is how a front-end reaches the files a document refers to.
//
// A front-end (dialect/sw05, …) sees only nodes: whether the document was YAML or
// JSON is settled here, and no other package imports a YAML library.
package dialect
