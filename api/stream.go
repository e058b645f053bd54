package api

import "time"

// Names of the server-sent events of a stream.
const (
	StreamReady   = "ready"  // the stream begins, also after a reconnect
	StreamChanged = "change" // an instance changed; the data is a StreamChange
	StreamReset   = "reset"  // something is missing: read again what you show
)

// StreamChange is the data of a change in the stream.
type StreamChange struct {
	Instance   string         `json:"instance"`
	Definition string         `json:"definition"`
	Status     Status         `json:"status"`
	Time       time.Time      `json:"time"`
	Records    []StreamRecord `json:"records"`
}

// StreamRecord is a record without its data, which the history has.
type StreamRecord struct {
	Time    time.Time `json:"time"`
	Type    string    `json:"type"`
	Node    string    `json:"node,omitempty"`
	Depth   int       `json:"depth,omitempty"`
	Name    string    `json:"name,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Error   string    `json:"error,omitempty"` // the fault's name
	Text    string    `json:"text,omitempty"`
	Status  Status    `json:"status,omitempty"`
}
