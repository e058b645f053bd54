package api

import "time"

// Job is a job as the API of wfx shows it.
type Job struct {
	ClientID   string      `json:"clientId,omitempty"`
	Definition Data        `json:"definition,omitempty"`
	History    []JobChange `json:"history,omitempty"` // newest first; only if it was asked for
	ID         string      `json:"id"`
	Mtime      time.Time   `json:"mtime,omitzero"`
	Status     *JobStatus  `json:"status,omitempty"`
	Stime      time.Time   `json:"stime,omitzero"`
	Tags       []string    `json:"tags"`
	Workflow   *Workflow   `json:"workflow,omitempty"`
}

// State is the current state of the job.
func (j Job) State() string {
	if j.Status == nil {
		return ""
	}
	return j.Status.State
}

// WorkflowName is the name of the job's workflow.
func (j Job) WorkflowName() string {
	if j.Workflow == nil {
		return ""
	}
	return j.Workflow.Name
}

// JobStatus is the last status that an actor sent. A new status replaces all of it.
type JobStatus struct {
	ClientID       string `json:"clientId,omitempty"`
	Context        Data   `json:"context,omitempty"` // an object of the sender
	DefinitionHash string `json:"definitionHash,omitempty"`
	Message        string `json:"message,omitempty"`
	Progress       *int   `json:"progress,omitempty"` // in percent
	State          string `json:"state"`
}

// JobChange is what a change replaced: a status or a definition.
type JobChange struct {
	Definition Data       `json:"definition,omitempty"`
	Mtime      time.Time  `json:"mtime"`
	Status     *JobStatus `json:"status,omitempty"`
}

// JobRequest asks for a job.
type JobRequest struct {
	ClientID   string   `json:"clientId"`
	Definition Data     `json:"definition,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Workflow   string   `json:"workflow"`
}

// JobPage is a part of a list.
type JobPage[T any] struct {
	Content    []T         `json:"content"`
	Pagination *Pagination `json:"pagination,omitempty"` // only if it was asked for
}

// Pagination is the part of a list that a page has.
type Pagination struct {
	Limit  int   `json:"limit"`
	Offset int   `json:"offset"`
	Total  int64 `json:"total"`
}

// Actions of a job event.
const (
	JobCreated           = "CREATE"
	JobDeleted           = "DELETE"
	JobStatusUpdated     = "UPDATE_STATUS"
	JobDefinitionUpdated = "UPDATE_DEFINITION"
	JobTagsAdded         = "ADD_TAGS"
	JobTagsDeleted       = "DELETE_TAGS"
)

// JobEvent is a change of a job. Its job has only what the action changed.
type JobEvent struct {
	Action string    `json:"action"`
	Ctime  time.Time `json:"ctime"`
	Job    Job       `json:"job"`
	Tags   []string  `json:"tags"`
}

// Codes of errors of the API of wfx.
const (
	CodeJobInvalidRequest Code = "wfx.invalidRequest"
	CodeJobNotFound       Code = "wfx.jobNotFound"
	CodeJobModified       Code = "wfx.jobModifiedConcurrently"
	CodeJobFilter         Code = "wfx.invalidResponseFilter"
	CodeWorkflowNotFound  Code = "wfx.workflowNotFound"
	CodeWorkflowNotUnique Code = "wfx.workflowNotUnique"
	CodeWorkflowInvalid   Code = "wfx.workflowInvalid"
	CodeWorkflowInUse     Code = "wfx.workflowInUse" // Lockstep's own: wfx answers with status 500
)

// ErrorResponse is an error in an answer of the API of wfx.
type ErrorResponse struct {
	Errors []JobError `json:"errors"`
}

// JobError is one of the errors.
type JobError struct {
	Code    Code   `json:"code"`
	Logref  string `json:"logref"` // a fixed reference for each code
	Message string `json:"message"`
}
