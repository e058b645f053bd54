// Package scenario reads the test files that authors write beside their
// definitions (*_test.yaml) and runs them under virtual time.
//
// A file names a workflow and lists scenarios: the input, how functions answer,
// which events arrive when, and the expected outcome. Each scenario is a run of package
// trial: thirty days take no time, and two runs never differ.
//
// Where to read, in the order the data flows:
//
//	file.go      what a file says, as plain data
//	decode.go    from the document to that data, every mistake with its place;
//	decode_job.go what actors of jobs send
//	schema.json  the same for editors, and the order of keys
//	mocks.go     how functions answer; events.go which events arrive
//	compile.go   the definitions the file names
//	run.go       all scenarios of a file; world.go one of them, and its time;
//	job.go       jobs, and what their actors send
//	watch.go     the store that notes what happens; observe.go reports it
//	check.go     what was expected against it; diff.go shows the difference
//	place.go     where in a definition a fault arose
//	coverage.go  which states and transitions the scenarios reached
//	text.go, tap.go, junit.go, json.go   a report for people and machines
//	standalone.go  mocks and events in files of their own, for `lockstep run`
//
// The rules of the format are in the documentation of scenario files; where two
// things happen at one virtual instant, the engine's own wake-ups come before the
// scenario's events, and those come in the order they are listed.
package scenario
