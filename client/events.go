package client

import (
	"context"
	"net/http"

	"github.com/lockstep-workflows/lockstep/api"
)

// SendEvents sends CloudEvents as JSON objects, one or several. They are durable when it returns.
func (c *Client) SendEvents(ctx context.Context, events ...api.Data) (api.EventsAccepted, error) {
	media, body := "application/cloudevents-batch+json", batch(events)
	if len(events) == 1 {
		media, body = "application/cloudevents+json", events[0]
	}
	r := request{method: http.MethodPost, path: "/api/v1/events", body: body, repeatable: true}
	return call[api.EventsAccepted](ctx, c, r.withHeader("Content-Type", media))
}

// batch is an array of events, each as it was given.
func batch(events []api.Data) []byte {
	out := []byte("[")
	for i, e := range events {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}

// EventQuery selects kept events.
type EventQuery struct {
	Paging
	Unmatched bool // only events that no instance got
	Outside   bool // only events that no instance produced
	Near      bool // only events that no instance got although one nearly waits for them
	Type      string
}

// ListEvents lists the events that are kept, newest first.
func (c *Client) ListEvents(ctx context.Context, q EventQuery) (api.Page[api.KeptEvent], error) {
	r := q.add(get("/api/v1/events")).with("unmatched", flag(q.Unmatched)).with("outside", flag(q.Outside)).with("near", flag(q.Near)).with("type", q.Type)
	return call[api.Page[api.KeptEvent]](ctx, c, r)
}
