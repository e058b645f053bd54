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
package event
