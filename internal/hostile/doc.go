// Package hostile holds a test of one server that several tenants share, one of whom wants to
// stop the others: an author, a device and a client without a credential attack it at the same
// time, on each durable store. Meanwhile no request of the other tenant is refused, each of its
// timers fires, each of its events arrives, and the memory of the server stays within a bound.
//
// server_test.go starts the real program (internal/nodetest), tenant_test.go is the tenant who only
// wants to work, author_test.go, device_test.go and anonymous_test.go are the three attackers.
// `go test -v ./hostile -hostile.rounds=100` is the long run; -v prints the latencies of the tenant.
package hostile
