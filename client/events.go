package client

import (
	"bytes"
	"context"
	"net/http"
)

// SendEvents sends CloudEvents as JSON objects: one, or several at once. All of them are
// durable when it returns.
func (c *Client) SendEvents(ctx context.Context, events ...Data) (EventsAccepted, error) {
	media, body := "application/cloudevents-batch+json", append(append([]byte("["), bytes.Join(raw(events), []byte(","))...), ']')
	if len(events) == 1 {
		media, body = "application/cloudevents+json", events[0]
	}
	r := request{method: http.MethodPost, path: "/api/v1/events", body: body, repeatable: true}
	out, _, err := call[EventsAccepted](ctx, c, r.withHeader("Content-Type", media))
	return out, err
}

func raw(events []Data) [][]byte {
	out := make([][]byte, len(events))
	for i, e := range events {
		out[i] = e
	}
	return out
}

// EventQuery selects kept events.
type EventQuery struct {
	Paging
	Unmatched bool // only those that nobody took
	Type      string
}

// ListEvents lists the events that are kept, newest first.
func (c *Client) ListEvents(ctx context.Context, q EventQuery) (Page[KeptEvent], error) {
	r := q.add(get("/api/v1/events")).with("unmatched", flag(q.Unmatched)).with("type", q.Type)
	page, _, err := call[Page[KeptEvent]](ctx, c, r)
	return page, err
}
