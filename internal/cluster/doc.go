// Package cluster holds tests of several servers on one PostgreSQL database: processes of
// the real program, killed, stopped and cut off from their database under load. What was
// acknowledged is there, nothing happened twice, and calls came again only under the same key.
//
// servers_test.go starts the processes (internal/nodetest), load_test.go sends starts and events and has them
// counted afterwards (internal/callcheck), faults_test.go does harm meanwhile, jobs_test.go is about jobs,
// burst_test.go sends many events of the same orders side by side, also to one server over each store.
// `go test -v ./cluster -cluster.time=2m -cluster.restarts=10` is the long run; -v shows what was done and found.
package cluster
