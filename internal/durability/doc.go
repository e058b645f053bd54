// Package durability tests that a workflow survives the process that runs it.
//
// A server process over a SQLite file kills itself with SIGKILL at one of its durable writes, and
// another process takes over. mortal_test.go is the store that kills, server_test.go the process,
// service_test.go the service that the workflows call, order_test.go and journey_test.go the workflows, run_test.go drives one run through as many
// processes as it needs, and killed_test.go chooses where they die and checks the result.
package durability
