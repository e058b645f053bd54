package client

import (
	"context"
	"iter"
)

// GetStats counts instances by definition and status.
func (c *Client) GetStats(ctx context.Context) (Stats, error) {
	s, _, err := call[Stats](ctx, c, get("/api/v1/stats"))
	return s, err
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
