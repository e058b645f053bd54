// Package client is the typed client of a Lockstep server: one method for each operation of
// server/openapi.yaml, which is the contract; a test compares the two. The types of requests and
// answers are those of package api.
//
//	c, err := client.New(client.Options{URL: "http://127.0.0.1:8081"})
//	in, err := c.StartInstance(ctx, "hello", client.Start{Input: api.Data(`{"name":"Ada"}`), Wait: 20 * time.Second})
//
// An error that the server answers with is a [*Problem]; a server that does not answer is an
// [*UnreachableError]. The client retries requests that have no second effect when no answer comes,
// or when the outcome is unknown (504): reads, deployments, events (the server knows them by source
// and id), starts and restarts, which get an Idempotency-Key if the caller gives none. It retries any
// request that the server did not carry out: 429 and 503.
//
// [Jobs] is the client of the wfx API, with which devices and operators advance jobs; it also talks
// to wfx itself.
//
// client.go sends requests; definitions.go, instances.go, events.go and operation.go have the
// operations; stream.go follows changes; jobs.go, jobs_query.go and jobs_events.go are the client of
// the wfx API. The package is v0, like package api.
package client
