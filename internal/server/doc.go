// Package server is the HTTP interface of an engine: /api/v1 as openapi.yaml describes
// it, which is the contract, and what those need who run it (/healthz, /readyz,
// /metrics).
//
// # Reading it
//
// routes.go is the table of everything that is served, with who may do it. A request
// passes, in this order (serve.go): trace and log, Host, the table, the token (auth.go),
// Origin, its parameters (params.go), what it may hold (admission.go, with the package
// admit), its body (receive.go), and then its handler, which returns an error or has
// answered; recorder.go writes. errors.go makes every error a problem of problem.go; no
// handler writes one itself. views.go are the shapes that go out.
//
// There are two sides. listen.go and inherit.go open the listeners of each, if they are
// safe; devices.go says who comes by the south, and download.go has files for them.
//
// Handlers are by subject: definitions.go and deploy.go, instances.go, control.go,
// history.go, events.go, calls.go, jobs.go, stream.go with the package feed, stats.go.
//
// wfx.go lets requests of wfx's clients through to the package wfx, on both sides: the
// north has all of this, the south only that.
//
// # Rules
//
// Nothing is acknowledged before the store has it. Handlers hold no state of their own:
// what must be remembered (idempotency keys, positions in the stream) is the store's.
// Everything that a client could make large has a limit (limits.go).
package server
