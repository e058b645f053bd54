// Package wfx serves an engine's jobs over the API of Siemens wfx 0.6: the same paths below /api/wfx/v1,
// bodies, status codes and errors, so that its clients work unchanged. openapi.yaml is the contract.
//
// # Reading it
//
// routes.go is the table of all operations. A request passes serve.go (method, cross-origin headers,
// authorization, the response filter), and then its handler: workflows.go, jobs.go, change.go (status,
// definition, tags) and events.go. values.go and hash.go make responses, read.go and params.go read requests,
// errors.go makes refusals.
//
// # Two sides
//
// The listener decides the actor: on the south it is a device (CLIENT), on the north an operator (WFX).
// Devices may be restricted to their own jobs; those of others do not exist for them.
//
// # What is better than in wfx
//
// Changes of one job are serialised, each checked against the current state; no writer has to retry.
// Streams resume where they broke off. Filters have a budget. Integers keep all digits.
package wfx
