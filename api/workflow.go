package api

import "slices"

// Workflow is the definition of jobs.
type Workflow struct {
	Description string       `json:"description,omitempty"`
	Groups      []StateGroup `json:"groups,omitempty"`
	Name        string       `json:"name"`
	States      []JobState   `json:"states,omitempty"`
	Transitions []Transition `json:"transitions,omitempty"`
}

// StateGroup is a set of states that queries can name together.
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

// StateTimeout moves a job on that stays in a state for too long.
type StateTimeout struct {
	After string `json:"after"` // an ISO 8601 duration
	To    string `json:"to"`
}

// Actors: who may make a transition.
const (
	ActorClient   = "CLIENT" // the device
	ActorOperator = "WFX"
)

// Actions of a transition.
const (
	ActionImmediate = "IMMEDIATE" // the job takes it at once
	ActionWait      = "WAIT"      // the actor takes it
)

// Transition is a way from one state to another.
type Transition struct {
	Action      string `json:"action,omitempty"` // ActionImmediate or ActionWait, which is the default
	Description string `json:"description,omitempty"`
	Eligible    string `json:"eligible"`
	From        string `json:"from"`
	To          string `json:"to"`
}

// Moves lists the states to which an actor can move a job from one state, other than that state.
func (w *Workflow) Moves(from, actor string) []string {
	var out []string
	for _, t := range w.Transitions {
		if t.From == from && t.To != from && t.Eligible == actor && t.Action != ActionImmediate {
			out = append(out, t.To)
		}
	}
	return out
}

// Final reports whether no transition leaves a state.
func (w *Workflow) Final(state string) bool {
	for _, t := range w.Transitions {
		if t.From == state && t.To != state {
			return false
		}
	}
	return true
}

// Group is the name of the group of a state, or empty.
func (w *Workflow) Group(state string) string {
	for _, g := range w.Groups {
		if slices.Contains(g.States, state) {
			return g.Name
		}
	}
	return ""
}
