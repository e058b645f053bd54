package api

import "time"

// EventsAccepted is the answer to events that were sent.
type EventsAccepted struct {
	Accepted   int           `json:"accepted"`
	Duplicates int           `json:"duplicates"`
	Matched    int           `json:"matched"`
	Refused    int           `json:"refused"` // another event has their source and id
	Events     []EventResult `json:"events"`
}

// Results of an event.
const (
	EventAccepted  = "accepted"
	EventDuplicate = "duplicate"
	EventRefused   = "refused"
)

// EventResult is the result of one event.
type EventResult struct {
	Source  string   `json:"source"`
	ID      string   `json:"id"`
	Result  string   `json:"result"`
	Matched []string `json:"matched,omitempty"` // instances that get it
	Started []string `json:"started,omitempty"` // instances that it started
	Why     []string `json:"why,omitempty"`     // why no instance got it, or why it was refused
	Misses  []Miss   `json:"misses,omitempty"`  // those of Why that are near misses
}

// Miss is what kept an event from an instance that waits for one of its type, or from a definition that starts
// with one.
type Miss struct {
	Why        string `json:"why"` // the sentence, as among the reasons of the event
	Instance   string `json:"instance,omitempty"`
	Definition string `json:"definition,omitempty"`
	Name       string `json:"name"`    // of the event in the definition
	Differs    string `json:"differs"` // what differs, in words

	Attribute string `json:"attribute,omitempty"` // whose value differs; "": something else does
	Has       string `json:"has,omitempty"`
	Wants     string `json:"wants,omitempty"`
}

// KeptEvent is an event in the server's store.
type KeptEvent struct {
	Event    Data      `json:"event"` // a CloudEvent
	Received time.Time `json:"received"`
	Until    time.Time `json:"until"` // when it is deleted
	Taken    bool      `json:"taken"` // an instance has got it
	Producer string    `json:"producer,omitempty"`
	For      []string  `json:"for,omitempty"`    // instances to which it will be delivered
	Used     []string  `json:"used,omitempty"`   // definitions that started an instance with it
	Why      []string  `json:"why,omitempty"`    // what differed from the subscriptions
	Misses   []Miss    `json:"misses,omitempty"` // those of Why that are near misses
}
