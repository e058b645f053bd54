// Package grpc makes the calls of kind grpc: unary methods, and methods that answer with a stream. No code is
// generated; the messages are described by a document that was pinned when the definition was deployed.
//
// # Documents
//
// A document is a .proto file, or the descriptor set that protoc writes with --descriptor_set_out
// (--include_imports), as it is or as base64. What a file imports is looked for in its folder, then in
// the folders above; google/protobuf/*.proto are built in. The compiler and the decoder are given nothing
// before its size and its depth are known (limits.go): neither of them has limits of its own.
//
// # Messages
//
// Arguments and answers are in the JSON mapping of Protocol Buffers: names are in lowerCamelCase (arguments
// may have those of the .proto file), 64-bit integers are text, bytes are base64, enums are names. An answer
// has every field without presence, also one with its default value, so that an expression finds what the
// .proto file promises; fields with presence (messages, optional) are there only if they are set. Fields
// that the document does not know are dropped. The answer of a stream is the array of its messages.
//
// # Connections
//
// A connection is encrypted with TLS, on port 443, unless the definition says otherwise: the host
// http://NAME or grpc://NAME is plaintext (on port 80), and so is a host of this machine (localhost, 127.0.0.1, ::1) with
// a port other than 443. The address that it resolves to decides nothing. Credentials are never sent in
// plaintext to another machine. Connections are dialled under the outbound policy and shared by calls; nothing is
// looked up but the name's addresses, nothing is retried by the library. The key of the call is the metadata
// idempotency-key.
//
// # Failures
//
// Name is communication. Of a status Code is its name, such as NOT_FOUND, Status the usual HTTP status,
// Detail its message and Data {code, details}. Where there is none, Code is that of package http:
// outbound-refused, response-too-large, invalid-response, invalid-arguments. A call that is not answered in time is
// DEADLINE_EXCEEDED, one without a connection UNAVAILABLE, as gRPC has it.
//
// Read pin.go (what is checked when a definition is deployed), source.go and schema.go (documents), arguments.go and
// answer.go (messages), target.go and pool.go (connections), invoke.go (calls), status.go (failures).
package grpc
