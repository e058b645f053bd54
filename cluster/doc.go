// Package cluster holds tests of several servers on one PostgreSQL database: processes of
// the real program, killed, stopped and cut off from their database under load. What was
// acknowledged is there, nothing happened twice, and calls came again only under the same key.
//
// servers_test.go starts the processes, load_test.go sends starts and events and counts afterwards,
// faults_test.go does harm meanwhile, jobs_test.go is about jobs.
package cluster
