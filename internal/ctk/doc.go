// Package ctk runs feature files in the form of the conformance test kit of Open Workflow.
// The kit itself is no part of this repository: the tests run our own features in testdata,
// and those of the kit too where LOCKSTEP_CTK names the directory that holds them.
//
// The tests are all there is; where to read:
//
//	gherkin_test.go   a small reader of feature files
//	steps_test.go     the steps of the kit
//	runtime_test.go   what runs a workflow, and the interpreter of naive10
//	engine_test.go    the engine
//	http_test.go      calls over HTTP for the interpreter
//	services_test.go  stand-ins for the public services that the kit calls, with data of our own
//	ctk_test.go       all of it together
package ctk
