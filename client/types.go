package client

import (
	"encoding/json"
	"slices"
	"time"
)

// Data is any JSON value.
type Data = json.RawMessage

// Place is where something stands in a definition.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Diagnostic is something that is wrong in a definition, or may be.
type Diagnostic struct {
	File     string `json:"file,omitempty"` // another document that the definition refers to
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// Definition is one version of a definition.
type Definition struct {
	ID          string       `json:"id"`
	Version     string       `json:"version"`
	Name        string       `json:"name,omitempty"`
	Dialect     string       `json:"dialect"`
	Digest      string       `json:"digest"`
	Deployed    time.Time    `json:"deployed,omitzero"` // zero of a dry run
	Current     bool         `json:"current"`           // events and schedules start this version
	Diagnostics []Diagnostic `json:"diagnostics"`       // warnings; an error: it is set aside
}

// SetAside reports whether the server cannot load the definition: it exceeds a limit that it did
// not exceed, or that did not exist, when it was deployed.
func (d Definition) SetAside() bool {
	return slices.ContainsFunc(d.Diagnostics, func(x Diagnostic) bool { return x.Severity == "error" })
}

// DefinitionRef names the content that an instance runs.
type DefinitionRef struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// Page is a part of a list. Next is empty at its end; else it is the After of the next page.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Paging says which part of a list to read. The server chooses Limit where it is 0.
type Paging struct {
	Limit int
	After string
}

func (p Paging) add(r request) request {
	return r.with("limit", number(p.Limit)).with("after", p.After)
}

// Fault is an error inside a workflow.
type Fault struct {
	Name   string   `json:"name"`
	Code   string   `json:"code,omitempty"`
	Status string   `json:"status,omitempty"`
	Title  string   `json:"title,omitempty"`
	Type   string   `json:"type,omitempty"`
	Detail string   `json:"detail,omitempty"`
	Node   string   `json:"node,omitempty"` // the state where it arose
	Place  *Place   `json:"place,omitempty"`
	Data   Data     `json:"data,omitempty"`
	Args   Data     `json:"args,omitempty"`
	State  Data     `json:"state,omitempty"`
	Cut    []string `json:"cut,omitempty"` // which of data, args and state are beginnings
	Trail  []Trail  `json:"trail,omitempty"`
}

// Trail is a workflow that a fault climbed through.
type Trail struct {
	Workflow string `json:"workflow"`
	Node     string `json:"node,omitempty"`
	Place    *Place `json:"place,omitempty"`
}

// Status of an instance.
type Status string

// The statuses.
const (
	Running    Status = "running"
	Waiting    Status = "waiting"
	Paused     Status = "paused"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Cancelled  Status = "cancelled"
	Terminated Status = "terminated"
)

// Final reports whether an instance of this status is over.
func (s Status) Final() bool {
	switch s {
	case Completed, Failed, Cancelled, Terminated:
		return true
	}
	return false
}

// Instance is one run of a definition.
type Instance struct {
	ID         string         `json:"id"`
	Definition DefinitionRef  `json:"definition"`
	Status     Status         `json:"status"`
	State      string         `json:"state,omitempty"`  // that it is in; the first of several
	States     []string       `json:"states,omitempty"` // all of them, outermost first
	Created    time.Time      `json:"created"`
	Updated    time.Time      `json:"updated"`
	Ended      time.Time      `json:"ended,omitzero"`
	Wake       time.Time      `json:"wake,omitzero"` // when its earliest timer is due
	Rev        int64          `json:"rev"`
	Output     Data           `json:"output,omitempty"`
	Error      *Fault         `json:"error,omitempty"`
	Tags       map[string]any `json:"tags"`
	Parent     string         `json:"parent,omitempty"`
	RestartOf  string         `json:"restartOf,omitempty"`
	Reason     string         `json:"reason,omitempty"`     // why it paused by itself: too-expensive
	Quarantine string         `json:"quarantine,omitempty"` // why it is set aside
	Allowed    []string       `json:"allowed"`              // what can be done with it now
	Job        *InstanceJob   `json:"job,omitempty"`        // of one that is a job
}

// InstanceJob is what a job has beside other instances. [Jobs] has more of it.
type InstanceJob struct {
	Client  string `json:"client"`
	State   string `json:"state"`
	Group   string `json:"group,omitempty"` // of the state
	Allowed []Move `json:"allowed"`         // the ways out of the state
}

// Move is a way out of a state, and who may take it.
type Move struct {
	Actor string `json:"actor"`
	State string `json:"state"`
}

// Over reports whether an instance will not go on by itself any more.
func (in Instance) Over() bool { return in.Status.Final() || in.Quarantine != "" }

// Count is how many there are; at least so many where it is not exact.
type Count struct {
	Count int64 `json:"count"`
	Exact bool  `json:"exact"`
}

// Record is one line of an instance's history.
type Record struct {
	Seq     int64     `json:"seq"` // counts from 1
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Node    string    `json:"node,omitempty"`
	Place   *Place    `json:"place,omitempty"`
	Depth   int       `json:"depth,omitempty"`
	Frame   int       `json:"frame,omitempty"`
	Name    string    `json:"name,omitempty"` // of a function, event, workflow, actor or verb
	Ticket  string    `json:"ticket,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	At      time.Time `json:"at,omitzero"` // when what is waited for is due
	Data    Data      `json:"data,omitempty"`
	Error   *Fault    `json:"error,omitempty"`
	Text    string    `json:"text,omitempty"`
	Status  Status    `json:"status,omitempty"`
}

// Wait is one thing that an instance waits for.
type Wait struct {
	Ticket    string    `json:"ticket"`
	Kind      string    `json:"kind"`
	Node      string    `json:"node,omitempty"`
	At        time.Time `json:"at,omitzero"`
	Function  string    `json:"function,omitempty"`
	Arguments Data      `json:"arguments,omitempty"`
	Attempt   int       `json:"attempt,omitempty"`
	Parked    bool      `json:"parked,omitempty"` // it must be answered by hand
	Child     string    `json:"child,omitempty"`
	Client    string    `json:"client,omitempty"` // of a job that is waited for: whose it is
	State     string    `json:"state,omitempty"`  // of a job that is waited for
	Event     string    `json:"event,omitempty"`  // its name in the definition
	Match     *Match    `json:"match,omitempty"`
	Actor     string    `json:"actor,omitempty"`  // of an offer: who may choose
	Choice    string    `json:"choice,omitempty"` // of an offer: what; of a job a state
}

// Match is what an event must have.
type Match struct {
	Source     string      `json:"source,omitempty"`
	Type       string      `json:"type,omitempty"`
	Attributes []Attribute `json:"attributes,omitempty"`
}

// Attribute is one that an event must have.
type Attribute struct {
	Name       string  `json:"name"`
	Value      *string `json:"value,omitempty"`      // nil: any, which is then fixed
	Impossible bool    `json:"impossible,omitempty"` // the value that it must equal does not exist
}

// Why tells why an instance does not go on.
type Why struct {
	Instance   string     `json:"instance"`
	Status     Status     `json:"status"`
	States     []string   `json:"states,omitempty"`
	Summary    string     `json:"summary"`
	Waits      []Wait     `json:"waits"`
	NearMisses []NearMiss `json:"nearMisses"`
	NextWake   time.Time  `json:"nextWake,omitzero"`
	Error      *Fault     `json:"error,omitempty"`
	Reason     string     `json:"reason,omitempty"` // why it paused by itself: too-expensive
	Quarantine string     `json:"quarantine,omitempty"`
}

// NearMiss is a kept event that an instance did not get, and what differed.
type NearMiss struct {
	Name  string `json:"name"` // of the event that the instance waits for
	Why   string `json:"why"`
	Event struct {
		ID       string    `json:"id"`
		Source   string    `json:"source"`
		Type     string    `json:"type"`
		Received time.Time `json:"received"`
	} `json:"event"`
}

// Call is a function call without an answer.
type Call struct {
	Instance  string `json:"instance"`
	Ticket    string `json:"ticket"`
	Function  string `json:"function"`
	Operation string `json:"operation,omitempty"`
	Node      string `json:"node,omitempty"`
	Arguments Data   `json:"arguments"`
	Attempt   int    `json:"attempt"`
	Parked    bool   `json:"parked"` // it must be answered by hand
}

// CallError is the error that a call is answered with.
type CallError struct {
	Name   string `json:"name"`
	Code   string `json:"code,omitempty"`
	Status string `json:"status,omitempty"`
	Title  string `json:"title,omitempty"`
	Type   string `json:"type,omitempty"`
	Detail string `json:"detail,omitempty"`
	Data   Data   `json:"data,omitempty"`
}

// EventsAccepted tells what became of events.
type EventsAccepted struct {
	Accepted   int           `json:"accepted"`
	Duplicates int           `json:"duplicates"`
	Matched    int           `json:"matched"`
	Refused    int           `json:"refused"` // another event has their source and id
	Events     []EventResult `json:"events"`
}

// EventResult tells what became of one.
type EventResult struct {
	Source  string   `json:"source"`
	ID      string   `json:"id"`
	Result  string   `json:"result"`            // accepted, duplicate or refused
	Matched []string `json:"matched,omitempty"` // instances that get it
	Started []string `json:"started,omitempty"` // instances that it started
	Why     []string `json:"why,omitempty"`     // why nobody got it: it is kept
}

// KeptEvent is an event that the server has.
type KeptEvent struct {
	Event    Data      `json:"event"` // a CloudEvent
	Received time.Time `json:"received"`
	Until    time.Time `json:"until"`
	Taken    bool      `json:"taken"`
	Producer string    `json:"producer,omitempty"`
	For      []string  `json:"for,omitempty"`
	Used     []string  `json:"used,omitempty"`
	Why      []string  `json:"why,omitempty"`
}

// Stats counts instances.
type Stats struct {
	Total       int64             `json:"total"`
	Statuses    map[string]int64  `json:"statuses"`
	Definitions []DefinitionStats `json:"definitions"`
}

// DefinitionStats counts the instances of one definition.
type DefinitionStats struct {
	ID       string           `json:"id"`
	Total    int64            `json:"total"`
	Statuses map[string]int64 `json:"statuses"`
}

// ProblemKind says what the code of a problem means.
type ProblemKind struct {
	Code    string `json:"code"`
	Status  int    `json:"status"`
	Title   string `json:"title"`
	Meaning string `json:"meaning"`
}
