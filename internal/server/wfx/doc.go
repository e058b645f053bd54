// Package wfx shows an engine's jobs the way Siemens wfx 0.6 shows its own: the same paths
// below /api/wfx/v1, bodies, status codes and errors, so that its clients work as they
// are. openapi.yaml is the contract.
//
// # Reading it
//
// routes.go is the table of everything that is served. A request passes serve.go (method,
// cross-origin headers, who may, the response filter), and then its handler: workflows.go,
// jobs.go, change.go (status, definition, tags) and events.go. values.go and hash.go are the
// shapes that go out, read.go and params.go what comes in, errors.go what is refused.
//
// # Two sides
//
// The listener decides who acts: on the south it is a device (CLIENT), on the north an
// operator (WFX). Devices may be held to their own jobs: what is another's is not there.
//
// # What is better than in wfx
//
// Changes of one job come one after the other, each judged against the state that it
// meets; no writer is told to try again. Streams go on where they broke off. Filters have
// a budget. Integers keep their digits.
package wfx
