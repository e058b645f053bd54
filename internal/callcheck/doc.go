// Package callcheck judges what servers did under load while they were harmed: whether what was
// acknowledged is there, whether anything happened twice, and whether calls came again under the
// same key only.
//
// Instances call a service (calls.go) with arguments that say what they were made for, n, and which
// step calls. Afterwards a Ledger (ledger.go) gets everything that was acknowledged and every instance
// with its history, and compares.
package callcheck
