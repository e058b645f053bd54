package client

import (
	"context"
	"net/http"
	"time"
)

// Play is a definition to try out. Each document is text, in YAML or JSON.
type Play struct {
	Definition string    `json:"definition"`
	Dialect    string    `json:"dialect,omitempty"` // "": it is detected
	Input      string    `json:"input,omitempty"`
	Mocks      string    `json:"mocks,omitempty"`
	Events     string    `json:"events,omitempty"`
	Takes      string    `json:"takes,omitempty"` // of a job
	Client     string    `json:"client,omitempty"`
	Clock      time.Time `json:"clock,omitzero"` // when virtual time begins
	Until      time.Time `json:"until,omitzero"` // it does not pass beyond
	Steps      *int      `json:"steps,omitempty"`
	Run        *bool     `json:"run,omitempty"` // false: check and draw only
}

// Played is what came of it.
type Played struct {
	ID          string       `json:"id,omitempty"`
	Version     string       `json:"version,omitempty"`
	Dialect     string       `json:"dialect,omitempty"`
	Job         bool         `json:"job"`
	Diagnostics []Diagnostic `json:"diagnostics"`
	Graph       string       `json:"graph,omitempty"`
	Run         *PlayRun     `json:"run,omitempty"`
}

// PlayRun is what happened in a run.
type PlayRun struct {
	Status    string       `json:"status"`
	Message   string       `json:"message"`
	Clock     time.Time    `json:"clock"`
	Next      time.Time    `json:"next,omitzero"`
	Steps     int          `json:"steps"`
	Output    Data         `json:"output,omitempty"`
	Error     *Fault       `json:"error,omitempty"`
	Limit     string       `json:"limit,omitempty"`
	Stopped   []PlayStop   `json:"stopped"`
	Instances []Instance   `json:"instances"`
	Records   []PlayRecord `json:"records"`
	Waits     []Wait       `json:"waits"`
	Notes     []string     `json:"notes"`
}

// PlayStop is a state that would run next.
type PlayStop struct {
	Instance string `json:"instance"`
	Node     string `json:"node"`
	Place    *Place `json:"place,omitempty"`
	Data     Data   `json:"data,omitempty"`
}

// PlayRecord is a record of one of the instances.
type PlayRecord struct {
	Instance string `json:"instance"`
	Record   Record `json:"record"`
}

// Playground tries a definition out under virtual time. Nothing is kept.
func (c *Client) Playground(ctx context.Context, p Play) (Played, error) {
	r, err := request{method: http.MethodPost, path: "/api/v1/playground", repeatable: true}.withJSON(p)
	if err != nil {
		return Played{}, err
	}
	out, _, err := call[Played](ctx, c, r)
	return out, err
}
