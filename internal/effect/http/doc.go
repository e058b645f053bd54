// Package http calls services over HTTP, and fetches documents, under an outbound
// policy.
//
// # Operations
//
// A function's operation may be a plain URL, which is a convention of Lockstep's
// own (effect/openapi calls what a document describes, with this package's client):
//
//	operation: https://shop.example/charge         # POST, arguments as JSON body
//	operation: https://shop.example/charge#PUT     # PUT or PATCH: likewise
//	operation: https://shop.example/orders#GET     # GET, HEAD or DELETE: arguments as query parameters
//
// Scheme, host and path come from the definition alone; data never chooses them.
//
// # Answers
//
// A JSON answer is its value, text/* and XML are a string, an empty answer is no
// value. A status of 300 and above is a failure; its name comes from the body where
// that tells one (problem+json or {name|error, code, message}). 101 is refused: nobody
// asked for another protocol. No body is read beyond its context, whatever the status.
//
// # Policy
//
// The address that is dialled is checked, not the name: after DNS, for every
// redirect. Loopback, private, link-local, metadata and other special ranges need an
// entry in Options.Allow. Proxy settings of the environment are ignored. Everything
// that comes back is bounded by [Limits].
package http
