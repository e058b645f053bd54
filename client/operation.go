package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// GetStats counts instances by definition and status.
func (c *Client) GetStats(ctx context.Context) (Stats, error) {
	s, _, err := call[Stats](ctx, c, get("/api/v1/stats"))
	return s, err
}

// Node is one of the servers that share a store.
type Node struct {
	ID      string    `json:"id,omitempty"`
	Name    string    `json:"name"`
	Address string    `json:"address,omitempty"`
	Version string    `json:"version,omitempty"`
	Since   time.Time `json:"since"`
	Seen    time.Time `json:"seen"`   // when it was heard of last
	Shards  int       `json:"shards"` // it does the work of so many parts of the instances
	Of      int       `json:"of"`
	Calls   int       `json:"calls"` // in flight
}

// ListNodes lists the servers that share the store.
func (c *Client) ListNodes(ctx context.Context) ([]Node, error) {
	list, _, err := call[struct {
		Items []Node `json:"items"`
	}](ctx, c, get("/api/v1/nodes"))
	return list.Items, err
}

// Session is who a page acts for.
type Session struct {
	Needed bool   `json:"needed"` // requests need a token
	Name   string `json:"name,omitempty"`
	Role   string `json:"role,omitempty"`
}

// GetSession reads whether the server needs a token, and whose this client has.
func (c *Client) GetSession(ctx context.Context) (Session, error) {
	s, _, err := call[Session](ctx, c, get("/api/v1/session"))
	return s, err
}

// OpenSession asks for a cookie, which an HTTP client with a jar keeps. It is for pages;
// a program gives its token to New.
func (c *Client) OpenSession(ctx context.Context, token string) (Session, error) {
	r, err := request{method: http.MethodPost, path: "/api/v1/session"}.withJSON(struct {
		Token string `json:"token"`
	}{token})
	if err != nil {
		return Session{}, err
	}
	s, _, err := call[Session](ctx, c, r)
	return s, err
}

// CloseSession takes the cookie back.
func (c *Client) CloseSession(ctx context.Context) error {
	_, _, err := c.text(ctx, request{method: http.MethodDelete, path: "/api/v1/session", repeatable: true})
	return err
}

// GetSchema reads a JSON Schema for editors, such as 0.5.json.
func (c *Client) GetSchema(ctx context.Context, file string) ([]byte, error) {
	text, _, err := c.text(ctx, get(pathOf("schemas", file)))
	return text, err
}

// Healthz reports whether the process lives.
func (c *Client) Healthz(ctx context.Context) error {
	_, _, err := c.text(ctx, get("/healthz"))
	return err
}

// Readyz reports whether requests can be served.
func (c *Client) Readyz(ctx context.Context) error {
	_, _, err := c.text(ctx, get("/readyz"))
	return err
}

// Metrics reads the figures in Prometheus' text format.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) {
	text, _, err := c.text(ctx, get("/metrics"))
	return text, err
}

// OpenapiJSON reads the contract as JSON.
func (c *Client) OpenapiJSON(ctx context.Context) ([]byte, error) {
	text, _, err := c.text(ctx, get("/openapi.json"))
	return text, err
}

// OpenapiYAML reads the contract.
func (c *Client) OpenapiYAML(ctx context.Context) ([]byte, error) {
	text, _, err := c.text(ctx, get("/openapi.yaml"))
	return text, err
}

// GetProblem asks what the code of a problem means.
func (c *Client) GetProblem(ctx context.Context, code string) (ProblemKind, error) {
	p, _, err := call[ProblemKind](ctx, c, get(pathOf("problems", code)))
	return p, err
}

// All reads a list page by page, as far as it is looked at:
//
//	for in, err := range client.All(func(after string) (client.Page[client.Instance], error) {
//		return c.ListInstances(ctx, client.InstanceQuery{Paging: client.Paging{After: after}})
//	}) {
func All[T any](page func(after string) (Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for after := ""; ; {
			p, err := page(after)
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.Next == "" || p.Next == after {
				return
			}
			after = p.Next
		}
	}
}
