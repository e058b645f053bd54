package client

import (
	"context"
	"net/http"
	"time"
)

// Bulk is one intervention in several instances: at most 1000.
type Bulk struct {
	Verb       string       `json:"verb"` // retry, pause, resume, cancel or terminate
	Instances  []BulkTarget `json:"instances"`
	Reason     string       `json:"reason,omitempty"`
	Compensate bool         `json:"compensate,omitempty"` // of cancel
}

// BulkTarget is an instance that is meant; with Rev it is left alone if it changed since.
type BulkTarget struct {
	ID  string `json:"id"`
	Rev int64  `json:"rev,omitempty"`
}

// BulkResults is what became of them.
type BulkResults struct {
	Done    int          `json:"done"`
	Refused int          `json:"refused"`
	Items   []BulkResult `json:"items"`
}

// BulkResult is what became of one: its status, or the code of a problem.
type BulkResult struct {
	ID     string `json:"id"`
	Status string `json:"status,omitempty"`
	Code   string `json:"code,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// ControlInstances does the same to many instances.
func (c *Client) ControlInstances(ctx context.Context, b Bulk) (BulkResults, error) {
	r, err := request{method: http.MethodPost, path: "/api/v1/instances/bulk"}.withJSON(b)
	if err != nil {
		return BulkResults{}, err
	}
	out, _, err := call[BulkResults](ctx, c, r)
	return out, err
}

// Failures groups failed instances.
type Failures struct {
	Items []FailureGroup `json:"items"`
	Exact bool           `json:"exact"` // all were counted
}

// FailureGroup is what failed in the same way at the same place.
type FailureGroup struct {
	Definition string    `json:"definition"`
	Error      string    `json:"error"`
	State      string    `json:"state,omitempty"`
	Count      int       `json:"count"`
	Newest     time.Time `json:"newest"`
	Instance   string    `json:"instance"` // the newest
	Detail     string    `json:"detail,omitempty"`
}

// ListFailures groups failed instances by definition, error and state.
func (c *Client) ListFailures(ctx context.Context) (Failures, error) {
	out, _, err := call[Failures](ctx, c, get("/api/v1/failures"))
	return out, err
}
