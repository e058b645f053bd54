// Package schedule is `lockstep schedule`: when the definitions of a server start by themselves.
//
//	schedule.go  ls and describe
//	decide.go    pause, resume and set
//	start.go     trigger and backfill
package schedule
