// Package core advances instances. It is pure: [Step] takes a program, the state
// of one instance, the time and one input, and returns the next state, the
// commands that must be carried out once that state is durable, and the records
// of what happened. The same arguments give the same bytes, on every machine.
//
// # What the host must do
//
//  1. Give inputs to one instance one at a time, in one order.
//  2. Make the state of a Result durable before carrying out any of its commands,
//     and carry each out at least once. A command's idempotency key is the
//     instance's id and the ticket.
//  3. Answer with [Reply] and the command's ticket. Duplicate and late answers are
//     harmless: an unknown ticket is stale and changes nothing.
//  4. Reply to the tickets that [State.Due] names once the time of [State.Wake] has come.
//  5. Give [Continue] when Result.More is set: the step ran out of fuel, not of work.
//  6. On a Go error from Step, drop the state it was given and keep the stored one:
//     an invariant is broken, and this one instance needs a person.
//
// # How it works
//
// An instance is a small tree of frames. A frame runs the nodes of one region and
// holds that region's data; while a child frame runs, its parent waits. The lowest
// runnable frame goes first. When no frame can run, the step is over. A fault is
// data: it climbs the frames until a Catch of a region matches.
//
// Read step.go (inputs and the loop), then ops.go (the one switch over
// operations), flow.go (how regions and instances end), then one file per concern:
// await.go, call.go, fan.go, fault.go, retry.go, compensate.go, sweep.go (cancelling),
// control.go, items.go (items of a foreach that fail), progress.go, offer.go (what actors choose), model.go (conventions about data);
// codec.go stores a state as pages.
package core
