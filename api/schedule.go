package api

import "time"

// Decision says who paused or retired something, when and why.
type Decision struct {
	At     time.Time `json:"at"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// States of a schedule.
const (
	ScheduleActive           = "active"
	SchedulePaused           = "paused"
	ScheduleDefinitionPaused = "definition-paused"
	ScheduleRetired          = "retired" // with its definition
	ScheduleOver             = "over"    // it has no fire time any more
)

// Schedule is when the current version of a definition starts by itself. One of Cron, Every and After is set.
type Schedule struct {
	Definition string    `json:"definition"`
	Version    string    `json:"version"`
	State      string    `json:"state"`
	Paused     *Decision `json:"paused,omitempty"` // the decision that the state is about

	Cron  string `json:"cron,omitempty"`
	Every string `json:"every,omitempty"` // an ISO 8601 duration, as the next one
	After string `json:"after,omitempty"` // the end of the instance before
	From  string `json:"from,omitempty"`  // no fire time is before it
	Until string `json:"until,omitempty"` // nor at it or later
	Zone  string `json:"zone"`

	Overlap       string `json:"overlap"`                 // allow, skip or queue
	CatchUp       string `json:"catchUp"`                 // latest, all or none
	CatchUpWindow string `json:"catchUpWindow,omitempty"` // an ISO 8601 duration; "": no limit
	Set           Rules  `json:"set"`                     // what operators set of these; the rest is the definition's, or the server's

	Next  []time.Time `json:"next"`  // the first one only in a list
	Fires []Fire      `json:"fires"` // the last fire times, newest first; in a list the last one
}

// Rules say how a schedule fires. "": the server decides.
type Rules struct {
	Overlap       string `json:"overlap,omitempty"`
	CatchUp       string `json:"catchUp,omitempty"`
	CatchUpWindow string `json:"catchUpWindow,omitempty"`
}

// RulesRequest changes the rules of a schedule. nil: as it is; "": the server decides.
type RulesRequest struct {
	Overlap       *string `json:"overlap,omitempty"`
	CatchUp       *string `json:"catchUp,omitempty"`
	CatchUpWindow *string `json:"catchUpWindow,omitempty"`
	Reason        string  `json:"reason,omitempty"`
}

// Fire is a fire time that has passed, or several of them that have the same outcome.
type Fire struct {
	At       time.Time `json:"at"`
	Until    time.Time `json:"until,omitzero"`     // not zero: the fire times from At until then, without it
	Outcome  string    `json:"outcome"`            // started, triggered, queued, skipped, missed or paused
	Instance string    `json:"instance,omitempty"` // not where events started it
	Status   Status    `json:"status,omitempty"`   // of the instance, once it is over
}

// DecisionRequest is the body of a decision about a definition or a schedule.
type DecisionRequest struct {
	Reason string `json:"reason,omitempty"`
}

// Triggered is a start by an operator.
type Triggered struct {
	Definition string `json:"definition"`
	Instance   string `json:"instance,omitempty"` // not where the schedule sends events
}

// BackfillRequest starts the fire times of a range.
type BackfillRequest struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"` // without it
	DryRun bool      `json:"dryRun,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// Backfill is the outcome of a backfill.
type Backfill struct {
	DryRun   bool             `json:"dryRun"`
	Started  int              `json:"started"`  // in a dry run: would be started
	Existing int              `json:"existing"` // had an instance already
	Fires    []BackfilledFire `json:"fires"`
}

// BackfilledFire is one fire time of a backfill.
type BackfilledFire struct {
	At       time.Time `json:"at"`
	Instance string    `json:"instance,omitempty"`
	Existing bool      `json:"existing,omitempty"`
}
