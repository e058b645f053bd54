package api

import (
	"slices"
	"time"
)

// Definition is one version of a definition.
type Definition struct {
	ID          string       `json:"id"`
	Version     string       `json:"version"`
	Name        string       `json:"name,omitempty"`
	Dialect     string       `json:"dialect"`
	Digest      string       `json:"digest"`
	Deployed    time.Time    `json:"deployed,omitzero"`     // zero in the answer to a dry run
	Current     bool         `json:"current"`               // events and schedules start this version
	Scheduled   bool         `json:"scheduled,omitempty"`   // it is current, and its schedule starts instances
	Diagnostics []Diagnostic `json:"diagnostics"`           // warnings; an error says why the server cannot load it
	Paused      *Decision    `json:"paused,omitempty"`      // nothing of the definition starts or continues
	Retired     *Decision    `json:"retired,omitempty"`     // no instance of the definition is started any more
	Path        string       `json:"path,omitempty"`        // of the document in its bundle
	Bundle      string       `json:"bundle,omitempty"`      // digest of the bundle that it was last deployed with
	InputSchema Data         `json:"inputSchema,omitempty"` // JSON Schema of the input; only of a definition that is read alone
}

// SetAside reports whether the server cannot load the definition, because it exceeds a limit that
// was added or lowered after the deployment.
func (d Definition) SetAside() bool {
	return slices.ContainsFunc(d.Diagnostics, func(x Diagnostic) bool { return x.Severity == SeverityError })
}

// DefinitionRef names the content that an instance runs.
type DefinitionRef struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// Severities of a diagnostic.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Diagnostic is an error or a warning in a definition.
type Diagnostic struct {
	File     string `json:"file,omitempty"` // another document that the definition refers to
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// Function is something that a definition calls.
type Function struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`             // http, openapi, grpc and the like, job; catalogue: it is called by its name
	Target   string `json:"target,omitempty"` // where calls go, as written: an address, a host, a document, a program
	Places   int    `json:"places"`           // how many tasks or actions call it
	Callable bool   `json:"callable"`         // this server can call it
	Reason   string `json:"reason,omitempty"` // why not
}

// Heat counts the instances of a definition by state.
type Heat struct {
	States []StateHeat `json:"states"`
	Exact  bool        `json:"exact"` // false: only the newest instances were counted
}

// StateHeat counts the instances in one state.
type StateHeat struct {
	State  string `json:"state"`
	Group  string `json:"group,omitempty"` // of a job's state
	Now    int64  `json:"now"`             // instances in the state
	Failed int64  `json:"failed"`          // instances that failed in it
}
