// Package http calls services over HTTP, and fetches documents, under an outbound
// policy.
//
// # Operations
//
// A function's operation may be a plain URL, which is a convention of Lockstep (effect/openapi
// calls operations of OpenAPI documents, with this package's client):
//
//	operation: https://shop.example/charge         # POST, arguments as JSON body
//	operation: https://shop.example/charge#PUT     # PUT or PATCH: likewise
//	operation: https://shop.example/orders#GET     # GET, HEAD or DELETE: arguments as query parameters
//
// Scheme, host and path come from the definition alone; data never chooses them.
//
// # Described calls
//
// The arguments of a call whose operation is that of an [ir.Builtin] of kind http are the object
// `with` of Open Workflow 1.0: {method, endpoint, headers, body, query, output, redirect}. Data may
// choose its address only if it is guarded: then the address must be on the operator's allow-list,
// public or not.
//
// The Name of such a call's failure is the last part of the standard error type: communication for
// every problem of the call, authentication where a token cannot be got, authorization where a
// secret does not exist ([effect.Communication] and so on). Type is empty: how a type is spelled is
// the dialect's to say. Status is the HTTP status where there is one, Title and Detail are those of
// a problem in the body, Code says what went wrong on the way (the codes of [Error]), Data is the
// body. effect/openapi does the same.
//
// # Answers
//
// A JSON answer is its value, text/* and XML are a string, an empty answer is no value. A
// status of 300 and above is a failure; its name comes from the body if that has one
// (problem+json or {name|error, code, message}). 101 is refused: no other protocol was
// requested. Reading a body stops when its context ends, whatever the status.
//
// # Policy
//
// The policy checks the address that is dialled, not the name: after DNS, and for every
// redirect. Loopback, private, link-local, metadata and other special ranges need an entry in
// Options.Allow. Proxy settings of the environment are ignored. Answers are bounded by [Limits].
package http
