// Package nats brings CloudEvents from NATS JetStream, and sends them there.
//
// Read it in this order: settings.go turns a URL into settings, connect.go makes a
// connection of them, message.go reads and writes one message (structured and binary
// mode of the NATS protocol binding of CloudEvents). A [Source] takes messages of a
// durable consumer (source.go), finds or makes that consumer (consumer.go) and hands
// events on side by side, in order where it matters (lanes.go). A [Sink] publishes
// (sink.go) to a subject that depends on the event (subject.go).
//
// What the broker has is never the truth: an event counts once it is in the store, and
// only then is its message acknowledged.
package nats
