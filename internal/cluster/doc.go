// Package cluster tests several servers on one PostgreSQL database: processes of the real program,
// killed, stopped and cut off from their database under load. Afterwards everything acknowledged must
// exist, nothing may have happened twice, and calls may have been repeated only under the same key.
//
// servers_test.go starts the processes (internal/nodetest), load_test.go sends starts and events and
// counts them afterwards (internal/callcheck), faults_test.go injects the faults, jobs_test.go tests
// jobs, burst_test.go sends many events of the same orders concurrently, also to one server over each
// store. `go test -v ./internal/cluster -cluster.time=2m -cluster.restarts=10` is the long run; -v
// shows what was done and found.
package cluster
