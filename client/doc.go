// Package client is the typed client of a Lockstep server: one method for each operation
// of server/openapi.yaml, which is the contract; a test compares the two.
//
//	c, err := client.New(client.Options{URL: "http://127.0.0.1:8081"})
//	in, err := c.StartInstance(ctx, "hello", client.Start{Input: json.RawMessage(`{"name":"Ada"}`), Wait: 20 * time.Second})
//
// What the server refuses is a [*Problem], a server that cannot be reached an
// [*UnreachableError]. Requests that can be repeated without a second effect are sent
// again when the answer does not come, or is that nobody knows (504): reads, deployments, events (the server knows them by
// source and id), and starts and restarts, which get an Idempotency-Key if the caller gives
// none. Any request is sent again where the server says that it did nothing: 429 and 503.
//
// [Jobs] is the client of the wfx API, with which devices and operators advance jobs; it also
// talks to wfx itself.
//
// client.go sends requests; definitions.go, instances.go, events.go and operation.go have the
// operations; stream.go follows what happens; types.go has what is sent and what comes back; jobs.go,
// jobs_events.go and jobs_types.go are those of the wfx API.
package client
