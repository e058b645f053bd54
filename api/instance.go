package api

import "time"

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

// Final reports whether an instance with this status has ended.
func (s Status) Final() bool {
	switch s {
	case Completed, Failed, Cancelled, Terminated:
		return true
	}
	return false
}

// Interventions, as they are listed in Allowed and named in paths.
const (
	VerbRetry     = "retry"
	VerbSkip      = "skip"
	VerbPause     = "pause"
	VerbResume    = "resume"
	VerbCancel    = "cancel"
	VerbTerminate = "terminate"
	VerbRestart   = "restart"
	VerbDelete    = "delete"
)

// Instance is one run of a definition.
type Instance struct {
	ID         string        `json:"id"`
	Name       string        `json:"name,omitempty"` // as people call it
	Key        string        `json:"key,omitempty"`  // the Idempotency-Key of its start
	Definition DefinitionRef `json:"definition"`
	Status     Status        `json:"status"`
	State      string        `json:"state,omitempty"`  // the current state; the first of several
	States     []string      `json:"states,omitempty"` // all current states, outermost first
	Created    time.Time     `json:"created"`
	Updated    time.Time     `json:"updated"`
	Ended      time.Time     `json:"ended,omitzero"`
	Wake       time.Time     `json:"wake,omitzero"` // when its earliest timer is due
	Rev        int64         `json:"rev"`           // grows with every change
	Output     Data          `json:"output,omitempty"`
	Error      *Fault        `json:"error,omitempty"`
	Labels     Data          `json:"labels"` // an object: what it is found by
	Parent     string        `json:"parent,omitempty"`
	Children   int64         `json:"children,omitempty"` // how many instances it started
	RestartOf  string        `json:"restartOf,omitempty"`
	Reason     string        `json:"reason,omitempty"`     // why it paused by itself: too-expensive
	Quarantine string        `json:"quarantine,omitempty"` // why it is set aside
	Allowed    []string      `json:"allowed"`              // the verbs that are possible now
	Job        *InstanceJob  `json:"job,omitempty"`        // only if it is a job
	Progress   []Progress    `json:"progress,omitempty"`   // of each foreach that it runs or failed in
}

// Over reports whether the instance will not continue by itself.
func (in Instance) Over() bool { return in.Status.Final() || in.Quarantine != "" }

// Progress is how far a foreach is. Items that are neither done nor failed nor in flight have not begun,
// or were cancelled.
type Progress struct {
	State    string       `json:"state"`
	Total    int          `json:"total"`
	Done     int          `json:"done"`
	Failed   int          `json:"failed"`
	InFlight int          `json:"inFlight"`
	Failures []FailedItem `json:"failures,omitempty"` // the first ones by index; not in lists
}

// FailedItem is an item of a foreach that failed.
type FailedItem struct {
	Index int    `json:"index"` // from 0
	Item  Data   `json:"item,omitempty"`
	Cut   bool   `json:"cut,omitempty"` // Item is the beginning of its text
	Error *Fault `json:"error"`
}

// Statuses of an item of a foreach.
const (
	ItemPending   = "pending"
	ItemInFlight  = "inFlight"
	ItemDone      = "done"
	ItemFailed    = "failed"
	ItemCancelled = "cancelled"
)

// ForeachItem is an item of a foreach that an instance runs or failed in.
type ForeachItem struct {
	Index   int      `json:"index"` // from 0
	Status  string   `json:"status"`
	Item    Data     `json:"item,omitempty"`
	Cut     bool     `json:"cut,omitempty"` // Item is the beginning of its text
	Error   *Fault   `json:"error,omitempty"`
	Attempt int      `json:"attempt,omitempty"` // of an item in flight
	Tickets []string `json:"tickets,omitempty"` // what an item in flight waits for: the first ones
}

// InstanceJob is what a job has in addition to other instances. [Job] is the job as wfx shows it.
type InstanceJob struct {
	Client  string `json:"client"`
	State   string `json:"state"`
	Group   string `json:"group,omitempty"` // of the state
	Allowed []Move `json:"allowed"`         // the ways out of the state
}

// Move is a way out of a state, and the actor that may take it.
type Move struct {
	Actor string `json:"actor"`
	State string `json:"state"`
}

// Fault is an error inside a workflow.
type Fault struct {
	Name   string   `json:"name"`
	Code   string   `json:"code,omitempty"`
	Status string   `json:"status,omitempty"`
	Title  string   `json:"title,omitempty"`
	Type   string   `json:"type,omitempty"`
	Detail string   `json:"detail,omitempty"`
	Node   string   `json:"node,omitempty"` // the state in which it arose
	Place  *Place   `json:"place,omitempty"`
	Data   Data     `json:"data,omitempty"`
	Args   Data     `json:"args,omitempty"`
	State  Data     `json:"state,omitempty"`
	Cut    []string `json:"cut,omitempty"`   // which of data, args and state are truncated text
	Trail  []Trail  `json:"trail,omitempty"` // innermost first
	Item   *Item    `json:"item,omitempty"`  // of a foreach that it arose in, the innermost
}

// Item is the element of a foreach that a fault arose in.
type Item struct {
	Index int  `json:"index"` // from 0
	Value Data `json:"value,omitempty"`
	Cut   bool `json:"cut,omitempty"` // Value is the beginning of its text
}

// Error is the fault in one line.
func (f *Fault) Error() string {
	text := f.Name
	switch {
	case f.Code != "":
		text += " (" + f.Code + ")"
	case f.Status != "":
		text += " (" + f.Status + ")"
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

// Trail is a workflow that a fault passed through on its way up.
type Trail struct {
	Workflow string `json:"workflow"`
	Node     string `json:"node,omitempty"`
	Place    *Place `json:"place,omitempty"`
}

// ControlRequest is the body of an intervention in one instance. Data and FailedItems belong to retry,
// Output to skip and Compensate to cancel.
type ControlRequest struct {
	Reason     string `json:"reason,omitempty"` // kept in the history
	Data       Data   `json:"data,omitempty"`
	Output     Data   `json:"output,omitempty"`
	Compensate bool   `json:"compensate,omitempty"`

	FailedItems bool `json:"failedItems,omitempty"` // only the items of a foreach that did not complete
}

// RestartRequest is the body of a restart. Empty fields are as in the old instance.
type RestartRequest struct {
	Input   Data   `json:"input,omitempty"`
	Version string `json:"version,omitempty"`
}

// BulkRequest is one intervention in several instances, at most 1000.
type BulkRequest struct {
	Verb       string       `json:"verb"` // retry, skip, pause, resume, cancel, terminate or delete
	Instances  []BulkTarget `json:"instances"`
	Reason     string       `json:"reason,omitempty"`
	Compensate bool         `json:"compensate,omitempty"` // of cancel

	FailedItems bool `json:"failedItems,omitempty"` // of retry
	Output      Data `json:"output,omitempty"`      // of skip, which needs it
}

// StartsRequest asks for many instances of a definition.
type StartsRequest struct {
	Version string     `json:"version,omitempty"` // empty: the current one
	Starts  []OneStart `json:"starts"`
}

// OneStart is one of them.
type OneStart struct {
	Input  Data              `json:"input,omitempty"`
	Key    string            `json:"key,omitempty"` // an idempotency key
	ID     string            `json:"id,omitempty"`  // not together with Key
	Name   string            `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// StartResults is the answer to a StartsRequest, with an item for each start in the order of the request.
type StartResults struct {
	Started int           `json:"started"`
	Found   int           `json:"found"` // had started before
	Refused int           `json:"refused"`
	Items   []StartResult `json:"items"`
}

// StartResult is the result of one start: the instance, or the code of a problem.
type StartResult struct {
	ID     string `json:"id,omitempty"`
	Found  bool   `json:"found,omitempty"` // it had started before
	Code   Code   `json:"code,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// BulkTarget is one of the instances. If Rev is set and the instance has changed since, nothing
// happens to it.
type BulkTarget struct {
	ID  string `json:"id"`
	Rev int64  `json:"rev,omitempty"`
}

// BulkResults is the answer to a BulkRequest.
type BulkResults struct {
	Done    int          `json:"done"`
	Refused int          `json:"refused"`
	Items   []BulkResult `json:"items"`
}

// BulkResult is the result of one instance: its new status (none once deleted), or the code of a problem.
type BulkResult struct {
	ID     string `json:"id"`
	Status Status `json:"status,omitempty"`
	Code   Code   `json:"code,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Failures groups failed instances by definition, error and state.
type Failures struct {
	Items []FailureGroup `json:"items"`
	Exact bool           `json:"exact"` // all failed instances were counted
}

// FailureGroup counts the instances that failed with the same error in the same state.
type FailureGroup struct {
	Definition string    `json:"definition"`
	Error      string    `json:"error"`
	State      string    `json:"state,omitempty"`
	Count      int       `json:"count"`
	Newest     time.Time `json:"newest"`
	Instance   string    `json:"instance"` // the newest
	Detail     string    `json:"detail,omitempty"`
}

// JobsRequest asks for the same job for many clients.
type JobsRequest struct {
	Workflow   string   `json:"workflow"`
	Clients    []string `json:"clients"`
	Tags       []string `json:"tags,omitempty"`
	Definition Data     `json:"definition,omitempty"`
}

// JobsCreated is the answer to a JobsRequest, with an item for each client in the order of the
// request.
type JobsCreated struct {
	Created int         `json:"created"` // number of new jobs
	Failed  int         `json:"failed,omitempty"`
	Items   []ClientJob `json:"items"`
}

// ClientJob is the job of one client.
type ClientJob struct {
	Client string `json:"client"`
	ID     string `json:"id,omitempty"`
	Error  string `json:"error,omitempty"`
}
