// Package openapi calls functions whose operation is document#operationId: an
// operation of an OpenAPI 2.0, 3.0 or 3.1 document.
//
// [Pin] runs when a definition is deployed. It opens every document that functions
// refer to, with the documents that those refer to in turn, and stores their texts in
// the program; what cannot be found is a warning ([Codes]). [Invoker] makes calls from
// what was pinned and opens nothing: a running instance never sees another document.
//
// Read the files in the order of the data: document.go (texts and $ref), operation.go,
// swagger.go, path.go and server.go (what an operation is), schema.go, schemas.go and
// translate.go (OpenAPI's schemas as JSON Schema, each made once for a document), then for a
// call arguments.go, style.go, body.go, given.go, answer.go and invoke.go.
//
// # Reading is our own
//
// Documents are read with package dialect, as definitions are: YAML and JSON within
// limits, and no second YAML library in the program. The rest is expr values: an
// operation needs a few fields of a document, and JSON Schema needs the schemas as they
// were written, which a typed model would lose.
package openapi
