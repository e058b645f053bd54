// Package jobcheck checks the linearizability of one job that many clients changed concurrently while
// servers died: is there an order of all updates and reads, consistent with the times of the
// requests, that a single job could have gone through?
//
// A [Log] collects operations. Every update has a unique message that identifies it in the job's
// history. The history also says whether an update without an answer took effect; if it did, that
// happened before its server died.
package jobcheck
