package ir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// RequestKind is the kind of a built-in call that the function's definition describes, not its
// arguments: those are what the author wrote. Its document is a [Request].
const RequestKind = "request"

// The protocols of a request.
const (
	RequestHTTP    = "http"    // arguments fill the address, or are its query; body, headers and cookies are reserved names
	RequestREST    = "rest"    // arguments fill the address, or are the body or the query
	RequestGraphQL = "graphql" // a query or mutation of one field
	RequestOData   = "odata"   // a query of an entity set
)

// Request describes the HTTP request of a function's calls.
type Request struct {
	Protocol  string          `json:"protocol"`
	Method    string          `json:"method,omitempty"`    // of http and rest, in any case
	URI       string          `json:"uri"`                 // of http and rest with {name}
	Headers   json.RawMessage `json:"headers,omitempty"`   // of http, an object or null
	Cookies   json.RawMessage `json:"cookies,omitempty"`   // of http, an object or null
	Kind      string          `json:"operation,omitempty"` // of graphql: query or mutation
	Field     string          `json:"field,omitempty"`     // of graphql: what is queried
	EntitySet string          `json:"entitySet,omitempty"` // of odata
	// Auth says that the arguments of a call are {arguments, authentication}: the author's own, and the policy by which
	// the request is authenticated.
	Auth bool `json:"auth,omitempty"`
}

// Operation is the operation of the function: call:request:JSON. Guarded says that data may choose the scheme or
// the host of URI (see [Builtin]); without it calls of such a request are refused.
func (r Request) Operation(guarded bool) string {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // people read the & of an address
	if err := e.Encode(r); err != nil {
		panic(fmt.Sprintf("ir: headers and cookies of a request must be JSON: %v", err))
	}
	return Builtin{Kind: RequestKind, Guarded: guarded, Document: strings.TrimSpace(text.String())}.Operation()
}

// Request reads the document of a built-in call of the kind [RequestKind].
func (b Builtin) Request() (r Request, err error) {
	d := json.NewDecoder(strings.NewReader(b.Document))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil || !json.Valid([]byte(b.Document)) { // Decode takes what follows for another value
		return Request{}, fmt.Errorf("read the request of a function: %q is no description of one", b.Document)
	}
	return r, nil
}

// LogKind is the kind of a built-in call that writes a record to the log and has no result. Its document is
// the level; "": INFO.
const LogKind = "log"

// LogLevels are the levels of log calls, in any case.
var LogLevels = []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR"}

// IsLog reports whether an operation only writes to the log.
func IsLog(operation string) bool {
	b, ok := BuiltinOf(operation)
	return ok && b.Kind == LogKind
}
