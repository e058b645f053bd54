// Package http reads and writes CloudEvents over HTTP: structured (the event is the
// body), batch (the body is a list of them) and binary (attributes are ce- headers, the
// body is the data), as in the HTTP protocol binding of CloudEvents 1.0.
//
// [Read] reads the events of a request; its error names the event and the attribute. Everything
// is bounded by [Limits]. [Write] is its reverse, and a [Sink] sends what it writes.
package http
