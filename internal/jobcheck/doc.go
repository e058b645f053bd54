// Package jobcheck judges what clients saw of one job while many of them changed it at a
// time and servers died: is there an order of all updates and reads, within the times at
// which they were under way, that a single job could have gone through? (RELIABILITY S7)
//
// A [Log] collects operations. Every update carries a message of its own, by which it is
// known again in the job's history. Of an update without an answer the history tells
// whether it took effect; then that was before the server it was sent to was gone.
package jobcheck
