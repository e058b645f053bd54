// Package event reads, writes and matches CloudEvents 1.0.
//
// An [Event] is the form everything else works with. Its JSON form is the
// structured one of the CloudEvents JSON format: attributes, extensions and data
// side by side in one object. [Parse] and [FromValue] read it and say which
// attribute is wrong; [Event.Value] writes it, and is also what expressions of a
// workflow see.
//
// A [Filter] says which events someone waits for: source and type exactly, and
// correlation keys. [Filter.Match] tells in words what differs, so that a near miss
// can be explained to people.
//
// The SDK of CloudEvents is used by tests only, to compare with. It keeps data as bytes and
// attributes as Go values, brings its own HTTP client and server, and says that an event is
// invalid rather than where. Here an event is an [expr.Value] from the body of a request to
// the data of a workflow, and every limit and every message is ours.
package event
