// Package durability proves that a workflow survives the process that runs it.
//
// A server in a process of its own, over a SQLite file, kills itself with SIGKILL at one
// of its durable writes; another one takes its place. mortal_test.go is the store that
// kills, server_test.go that process, service_test.go what the workflow calls,
// run_test.go drives one run through as many processes as it takes, and
// killed_test.go says where they die and what must hold afterwards.
package durability
