package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/lockstep-workflows/lockstep/api"
)

// GetStats counts instances by definition and status.
func (c *Client) GetStats(ctx context.Context) (api.Stats, error) {
	return call[api.Stats](ctx, c, get("/api/v1/stats"))
}

// GetHours reads what happened in each of the last hours, the current one included; hours 0: 24. With a definition it counts
// only the instances of that one.
func (c *Client) GetHours(ctx context.Context, hours int, definition string) (api.Hours, error) {
	return call[api.Hours](ctx, c, get("/api/v1/stats/hours").with("hours", number(hours)).with("definition", definition))
}

// ListNodes lists the servers that share the store.
func (c *Client) ListNodes(ctx context.Context) (api.Nodes, error) {
	return call[api.Nodes](ctx, c, get("/api/v1/nodes"))
}

// AuditQuery selects entries of the audit log.
type AuditQuery struct {
	Paging
	Who, Operation, Target string // only these; empty: all
}

// ListAudit lists who changed what, newest first.
func (c *Client) ListAudit(ctx context.Context, q AuditQuery) (api.Page[api.AuditEntry], error) {
	r := q.add(get("/api/v1/audit")).with("who", q.Who).with("operation", q.Operation).with("target", q.Target)
	return call[api.Page[api.AuditEntry]](ctx, c, r)
}

// ListTokens lists the tokens that the server accepts.
func (c *Client) ListTokens(ctx context.Context) ([]api.Token, error) {
	list, err := call[api.Page[api.Token]](ctx, c, get("/api/v1/tokens"))
	return list.Items, err
}

// ListRevocations lists the revoked tokens and certificates.
func (c *Client) ListRevocations(ctx context.Context) ([]api.Revocation, error) {
	list, err := call[api.Page[api.Revocation]](ctx, c, get("/api/v1/revocations"))
	return list.Items, err
}

// Revoke refuses a token or a certificate from now on, on every server that shares the store.
func (c *Client) Revoke(ctx context.Context, r api.RevokeRequest) (api.Revocation, error) {
	return call[api.Revocation](ctx, c, request{method: http.MethodPost, path: "/api/v1/revocations", repeatable: true}.withJSON(r))
}

// Restore takes a revocation back, for a reason that may be empty.
func (c *Client) Restore(ctx context.Context, id, reason string) error {
	query := url.Values{}
	if reason != "" {
		query.Set("reason", reason)
	}
	_, _, err := c.text(ctx, request{method: http.MethodDelete, path: "/api/v1/revocations/" + url.PathEscape(id), query: query, repeatable: true})
	return err
}

// GetSession reads whether the server needs a token, and to whom the token of this client belongs.
func (c *Client) GetSession(ctx context.Context) (api.Session, error) {
	return call[api.Session](ctx, c, get("/api/v1/session"))
}

// OpenSession asks for a cookie, which an HTTP client with a jar keeps. It is for pages;
// a program gives its token to New.
func (c *Client) OpenSession(ctx context.Context, token string) (api.Session, error) {
	r := request{method: http.MethodPost, path: "/api/v1/session"}.withJSON(api.SessionRequest{Token: token})
	return call[api.Session](ctx, c, r)
}

// CloseSession deletes the cookie.
func (c *Client) CloseSession(ctx context.Context) error {
	_, _, err := c.text(ctx, request{method: http.MethodDelete, path: "/api/v1/session", repeatable: true})
	return err
}

// Playground runs a definition under virtual time. The server keeps nothing of it.
func (c *Client) Playground(ctx context.Context, p api.PlayRequest) (api.PlayResult, error) {
	r := request{method: http.MethodPost, path: "/api/v1/playground", repeatable: true}.withJSON(p)
	return call[api.PlayResult](ctx, c, r)
}

// GetSchema reads a JSON Schema for editors, such as 0.5.json.
func (c *Client) GetSchema(ctx context.Context, file string) ([]byte, error) {
	text, _, err := c.text(ctx, get(pathOf("schemas", file)))
	return text, err
}

// Healthz reports whether the process is up.
func (c *Client) Healthz(ctx context.Context) error {
	_, _, err := c.text(ctx, get("/healthz"))
	return err
}

// Readyz reports whether the server can serve requests.
func (c *Client) Readyz(ctx context.Context) error {
	_, _, err := c.text(ctx, get("/readyz"))
	return err
}

// Metrics reads the metrics in Prometheus' text format.
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
func (c *Client) GetProblem(ctx context.Context, code string) (api.ProblemKind, error) {
	return call[api.ProblemKind](ctx, c, get(pathOf("problems", code)))
}

// Paging says which part of a list to read. If Limit is 0 the server chooses it.
type Paging struct {
	Limit int
	After string
}

func (p Paging) add(r request) request {
	return r.with("limit", number(p.Limit)).with("after", p.After)
}

// All reads a list page by page, as far as the caller iterates:
//
//	for in, err := range client.All(func(after string) (api.Page[api.Instance], error) {
//		return c.ListInstances(ctx, client.InstanceQuery{Paging: client.Paging{After: after}})
//	}) {
func All[T any](page func(after string) (api.Page[T], error)) iter.Seq2[T, error] {
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
