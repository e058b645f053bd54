// Package server is the HTTP interface of an engine: /api/v1 as openapi.yaml describes it, which is the
// contract, and what operators need (/healthz, /readyz, /metrics).
//
// # Reading it
//
// routes.go is the table of all routes, with the roles that may use each. A request passes these
// stages in order (serve.go): trace and log, Host, the table, the token (auth.go), Origin, its
// parameters (params.go), admission (admission.go, with the package admit), its body (receive.go), and
// then its handler, which returns an error or has answered; recorder.go writes. errors.go turns every
// error into a problem of problem.go; no handler writes one itself. views.go fills the types of package
// api, which answer.go writes (instances with append.go). alarms.go ends the waiting of requests.
//
// There are two sides. listen.go and inherit.go open the listeners of each, if they are safe;
// devices.go identifies the devices of the south, and download.go has files for them.
//
// Handlers are by subject: definitions.go and deploy.go, instances.go, control.go, bulk.go, history.go,
// events.go, calls.go, jobs.go, stream.go with the package feed, stats.go, playground.go.
//
// wfx.go passes requests of wfx's clients to the package wfx, on both sides: the north has all of
// this, the south only that.
//
// # Rules
//
// Nothing is acknowledged before the store has it. Handlers hold no state of their own: what must be
// remembered (idempotency keys, positions in the stream) is in the store. Everything that a client
// could make large has a limit (limits.go).
package server
