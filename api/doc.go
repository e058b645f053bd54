// Package api has the types of Lockstep's HTTP API, as they are on the wire: requests, answers and
// stream events of /api/v1, and those of the API of wfx under /api/wfx/v1. The server fills them, package
// client returns them, and the command line prints them.
//
// Two OpenAPI documents are the contract: server/openapi.yaml and server/wfx/openapi.yaml. A type
// bears the name of its schema, unless both documents use the name: Job is wfx's, and InstanceJob is
// the Job of /api/v1. The tests hold every type and every list of constants to the documents.
//
// The types are plain data. A value of a workflow is [Data], JSON text, so that no number loses
// digits on the way. An empty optional field is absent from the JSON text.
//
// The package is v0: fields and types may still be added, renamed or moved between two releases. The
// JSON text is stable, as the documents say.
//
// definition.go, instance.go, history.go, call.go, event.go and stream.go follow /api/v1;
// playground.go and server.go have the rest of it; problem.go has errors; job.go and workflow.go are
// the API of wfx.
package api

import "encoding/json"

// Data is any JSON value, as text.
type Data = json.RawMessage

// Page is a part of a list. Next is empty on the last page; otherwise it is the parameter after of
// the next one.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Count is a number of instances. If Exact is false there are at least Count.
type Count struct {
	Count int64 `json:"count"`
	Exact bool  `json:"exact"`
}

// Place is a position in a definition.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}
