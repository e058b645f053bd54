// Package callcheck checks what servers did in a fault-injection test: everything acknowledged is
// there, nothing happened twice, and repeated calls have the same idempotency key.
//
// Instances call a service (calls.go) with arguments that name the instance and the step. After the
// test a Ledger (ledger.go) compares what was acknowledged with every instance and its history.
package callcheck
