package event

import (
	"context"
	"errors"
)

// This file is the seam between a server and the ways in which events reach it and leave
// it. Each way is a package below this one, such as event/nats; whoever starts the server
// chooses among them by the scheme of a URL, and nothing else knows them.
//
// To add one (Kafka, AMQP, …), write a package that
//
//  1. reads and writes messages with [Parse], [FromBinary], [Event.Value] and
//     [Event.Binary], under the limit event-bytes;
//  2. has a [Source], which keeps the promises of [Source.Run];
//  3. has a function that is a [Sink], which sends under a key made of source and id
//     where the receiver can recognise one;
//  4. turns a URL into the settings of both, with errors that name the parameter, and
//     takes secrets from files, never from the URL;
//  5. is tested against a real broker: killed between commit and acknowledgement,
//     restarted in the middle, with messages that are no events.

// Ingest takes an event. When it returns nil the event is stored, or was stored before:
// its source may acknowledge it. An error that [Refused] recognises is final; after
// others the event is to be offered again.
type Ingest func(ctx context.Context, e Event) error

// Sink takes an event that a workflow produced. nil means that it is taken for good. An
// error that [Refused] recognises is final; after others the same event comes again.
type Sink func(ctx context.Context, e Event) error

// Source brings events from elsewhere.
type Source interface {
	// Run brings events until ctx ends, and returns nil then.
	//
	//   - An event is acknowledged after ingest has returned nil, never before. It may be
	//     brought again, as it was; ingest recognises it.
	//   - What is not an event, and what ingest refuses, is logged, counted and never
	//     brought again.
	//   - After other errors of ingest the event is brought again, later and later.
	//   - The number of events under way is bounded: while ingest is slow, events wait
	//     where they come from.
	//   - A broker that is not there, or refuses, is logged and retried, without end.
	//   - When ctx ends, what is under way is finished, and the rest goes back.
	Run(ctx context.Context, ingest Ingest) error

	// Figures count what came of events since the source began.
	Figures() SourceFigures

	// String names the source for people, without secrets.
	String() string
}

// SourceFigures count what came of events of a source.
type SourceFigures struct {
	Taken       int64 // stored, or known before
	Refused     int64 // never to be taken: dropped
	Failed      int64 // attempts that will be made again
	Redelivered int64 // of these, events that were delivered before
}

// RefusedError says that an event will never be taken.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

func (e *RefusedError) Unwrap() error { return e.Err }

// Refused is true: there is no use in offering the event again.
func (e *RefusedError) Refused() bool { return true }

// Refused reports whether an error says that there is no use in offering an event again.
func Refused(err error) bool {
	var refused interface{ Refused() bool }
	return errors.As(err, &refused) && refused.Refused()
}
