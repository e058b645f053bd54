package wfx

import "github.com/lockstep-workflows/lockstep/internal/calendar"

// Who may take a transition.
const (
	Client   = "CLIENT" // the device
	Operator = "WFX"    // the northbound side: a person, a campaign
)

// What triggers a transition of the operator.
const (
	Immediate = "IMMEDIATE" // it happens at once
	Wait      = "WAIT"      // the operator takes it
)

// Workflow is a valid workflow.
type Workflow struct {
	Name, Description string
	Groups            []Group
	States            []State
	Transitions       []Transition
}

// Group is a named set of states. A state is in at most one.
type Group struct {
	Name, Description string
	States            []string
}

// State is a state of jobs.
type State struct {
	Name, Description string
	Timeout           *Timeout
}

// Timeout limits how long a job may be in a state, and says where it goes then.
type Timeout struct {
	After calendar.Duration
	Text  string // After, as written in the document
	To    string
}

// Transition is a way from one state to another.
type Transition struct {
	From, To    string
	Eligible    string // Client or Operator
	Action      string // Immediate, Wait, or "" if not given
	Description string
}
