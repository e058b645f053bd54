package client

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Job is a job as the wfx API shows it.
type Job struct {
	ClientID   string      `json:"clientId,omitempty"`
	Definition Data        `json:"definition,omitempty"`
	History    []JobChange `json:"history,omitempty"` // newest first; only where it was asked for
	ID         string      `json:"id"`
	Mtime      time.Time   `json:"mtime,omitzero"`
	Status     *JobStatus  `json:"status,omitempty"`
	Stime      time.Time   `json:"stime,omitzero"`
	Tags       []string    `json:"tags"`
	Workflow   *Workflow   `json:"workflow,omitempty"`
}

// State is the state that the job is in.
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

// JobStatus is what was last said of a job. A status that is sent replaces all of it.
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

// Workflow is the definition of jobs.
type Workflow struct {
	Description string       `json:"description,omitempty"`
	Groups      []StateGroup `json:"groups,omitempty"`
	Name        string       `json:"name"`
	States      []JobState   `json:"states,omitempty"`
	Transitions []Transition `json:"transitions,omitempty"`
}

// StateGroup has states that are asked for together.
type StateGroup struct {
	Description string   `json:"description,omitempty"`
	Name        string   `json:"name"`
	States      []string `json:"states"`
}

// JobState is a state of a workflow.
type JobState struct {
	Description string        `json:"description,omitempty"`
	Name        string        `json:"name"`
	Timeout     *StateTimeout `json:"timeout,omitempty"`
}

// StateTimeout leads on from a state that lasts too long.
type StateTimeout struct {
	After string `json:"after"` // an ISO 8601 duration
	To    string `json:"to"`
}

// Who may make a transition.
const (
	ActorClient   = "CLIENT" // the device
	ActorOperator = "WFX"
)

// Transition is a way from one state to another.
type Transition struct {
	Action      string `json:"action,omitempty"` // IMMEDIATE: nobody is waited for
	Description string `json:"description,omitempty"`
	Eligible    string `json:"eligible"`
	From        string `json:"from"`
	To          string `json:"to"`
}

// Moves are the states that an actor can lead to from one, other than itself.
func (w *Workflow) Moves(from, actor string) []string {
	var out []string
	for _, t := range w.Transitions {
		if t.From == from && t.To != from && t.Eligible == actor && t.Action != "IMMEDIATE" {
			out = append(out, t.To)
		}
	}
	return out
}

// Final reports whether no transition leads on from a state.
func (w *Workflow) Final(state string) bool {
	for _, t := range w.Transitions {
		if t.From == state && t.To != state {
			return false
		}
	}
	return true
}

// Group is the name of the group that a state is in, if any.
func (w *Workflow) Group(state string) string {
	for _, g := range w.Groups {
		for _, s := range g.States {
			if s == state {
				return g.Name
			}
		}
	}
	return ""
}

// JobQuery selects jobs. Within Groups and Tags one must hold; all else must hold together.
type JobQuery struct {
	ClientID, State, Workflow string
	Groups, Tags              []string

	// Bounds of the times of creation and of the last change; wfx itself does not know them.
	CreatedFrom, CreatedTo, ChangedFrom, ChangedTo time.Time

	Limit      int // 0: the server's choice, 10; negative: all
	Offset     int
	Descending bool // newest first
	Total      bool // also count
}

// Values are the parameters of a query as they are sent.
func (q JobQuery) Values() url.Values {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("clientId", q.ClientID)
	set("state", q.State)
	set("workflow", q.Workflow)
	set("group", strings.Join(q.Groups, ","))
	set("tag", strings.Join(q.Tags, ","))
	for name, at := range map[string]time.Time{"stimeFrom": q.CreatedFrom, "stimeTo": q.CreatedTo, "mtimeFrom": q.ChangedFrom, "mtimeTo": q.ChangedTo} {
		if !at.IsZero() {
			v.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	page(v, q.Limit, q.Offset, q.Descending, q.Total)
	return v
}

func page(v url.Values, limit, offset int, descending, total bool) {
	if limit != 0 {
		v.Set("limit", strconv.Itoa(limit))
	}
	if offset != 0 {
		v.Set("offset", strconv.Itoa(offset))
	}
	if descending {
		v.Set("sort", "desc")
	}
	if total {
		v.Set("pagination", "true")
	}
}

// JobPage is a part of a list of the wfx API.
type JobPage[T any] struct {
	Content    []T       `json:"content"`
	Pagination *JobTotal `json:"pagination,omitempty"` // where it was asked for
}

// JobTotal tells where in a list its part is.
type JobTotal struct {
	Limit  int   `json:"limit"`
	Offset int   `json:"offset"`
	Total  int64 `json:"total"`
}
