// Package hostile tests one server that two tenants share, one of which attacks the other: an
// author, a device and a client without a credential attack at the same time, on each durable store.
// Meanwhile no request of the other tenant may be refused, each of its timers must fire, each of its
// events must arrive, and the memory of the server must stay within a bound.
//
// server_test.go starts the real program (internal/nodetest), tenant_test.go is the tenant that is
// attacked, author_test.go, device_test.go and anonymous_test.go are the three attackers. In
// credentials_test.go attackers keep to what their credentials allow, on one server and on two, against quotas, broken
// tokens files and revocations.
// `go test -v ./internal/hostile -hostile.rounds=100` is the long run; -v prints the latencies of the
// tenant.
package hostile
