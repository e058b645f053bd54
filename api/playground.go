package api

import "time"

// PlayRequest is a definition to try out. Each document is text, in YAML or JSON.
type PlayRequest struct {
	Definition string    `json:"definition"`
	Dialect    string    `json:"dialect,omitempty"` // empty: it is detected
	Input      string    `json:"input,omitempty"`
	Mocks      string    `json:"mocks,omitempty"`
	Events     string    `json:"events,omitempty"`
	Takes      string    `json:"takes,omitempty"` // of a job
	Client     string    `json:"client,omitempty"`
	Clock      time.Time `json:"clock,omitzero"` // when virtual time begins
	Until      time.Time `json:"until,omitzero"` // when it ends
	Steps      *int      `json:"steps,omitempty"`
	Run        *bool     `json:"run,omitempty"` // false: only check and draw the definition

	Files    map[string]string `json:"files,omitempty"`    // texts beside the definition, by path: sub-workflows and what definitions refer to
	Scenario string            `json:"scenario,omitempty"` // a name: the answer has the run as a scenario file
}

// PlayResult is the answer to a PlayRequest.
type PlayResult struct {
	ID          string       `json:"id,omitempty"`
	Version     string       `json:"version,omitempty"`
	Dialect     string       `json:"dialect,omitempty"`
	Job         bool         `json:"job"`
	Diagnostics []Diagnostic `json:"diagnostics"`
	Graph       string       `json:"graph,omitempty"`
	Files       []PlayFile   `json:"files,omitempty"` // the definitions among the files
	Run         *PlayRun     `json:"run,omitempty"`

	Scenario *PlayScenario `json:"scenario,omitempty"`
}

// PlayFile is a definition among the files of a PlayRequest.
type PlayFile struct {
	Path    string `json:"path"`
	ID      string `json:"id,omitempty"` // empty: it has errors
	Version string `json:"version,omitempty"`
	Dialect string `json:"dialect,omitempty"`
	Graph   string `json:"graph,omitempty"`
}

// PlayScenario is a run as a scenario file, which lies beside the definition and its files.
type PlayScenario struct {
	File       string `json:"file"`       // its name
	Definition string `json:"definition"` // the name of the definition's file
	Text       string `json:"text"`
}

// Statuses of a run, in addition to the final statuses of an instance.
const (
	PlayWaiting = "waiting" // nothing more can happen by itself
	PlayStopped = "stopped" // before a state: all steps are done
	PlayLater   = "later"   // the next thing happens after until
	PlayLimit   = "limit"   // it was cut off
	PlayNone    = "none"    // there is no instance
)

// PlayRun is what happened in a run.
type PlayRun struct {
	Status    string       `json:"status"`
	Message   string       `json:"message"`
	Clock     time.Time    `json:"clock"`
	Next      time.Time    `json:"next,omitzero"`
	Steps     int          `json:"steps"`
	Output    Data         `json:"output,omitempty"`
	Error     *Fault       `json:"error,omitempty"`
	Limit     string       `json:"limit,omitempty"`
	Stopped   []PlayStop   `json:"stopped"`
	Instances []Instance   `json:"instances"`
	Records   []PlayRecord `json:"records"`
	Waits     []Wait       `json:"waits"`
	Notes     []string     `json:"notes"`
}

// PlayStop is a state that would run next.
type PlayStop struct {
	Instance string `json:"instance"`
	Node     string `json:"node"`
	Place    *Place `json:"place,omitempty"`
	Data     Data   `json:"data,omitempty"`
}

// PlayRecord is a record with the instance that it belongs to.
type PlayRecord struct {
	Instance string `json:"instance"`
	Record   Record `json:"record"`
}
