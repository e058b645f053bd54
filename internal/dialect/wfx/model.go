package wfx

import "github.com/lockstep-workflows/lockstep/internal/calendar"

// Who may take a transition.
const (
	Client   = "CLIENT" // the device
	Operator = "WFX"    // whoever is north of it: a person, a campaign
)

// What makes a transition of the operator happen.
const (
	Immediate = "IMMEDIATE" // at once
	Wait      = "WAIT"      // when somebody takes it
)

// Workflow is a workflow that holds all rules.
type Workflow struct {
	Name, Description string
	Groups            []Group
	States            []State
	Transitions       []Transition

	initial string
	groupOf map[string]string
}

// Group is a named set of states. A state is in at most one.
type Group struct {
	Name, Description string
	States            []string
}

// State is one that a job can be in.
type State struct {
	Name, Description string
	Timeout           *Timeout
}

// Timeout is how long a job may be in a state, and where it goes then.
type Timeout struct {
	After calendar.Duration
	Text  string // After as it is written
	To    string
}

// Transition is a way from one state to another.
type Transition struct {
	From, To    string
	Eligible    string // Client or Operator
	Action      string // Immediate, Wait, or "" where it is not said
	Description string
}

// Initial returns the state in which jobs begin.
func (w *Workflow) Initial() string { return w.initial }

// GroupOf returns the group of a state, "" where it has none.
func (w *Workflow) GroupOf(state string) string { return w.groupOf[state] }
