package http

import (
	"context"
	"fmt"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
)

// redirect judges the next request of a chain. Its address is judged when it is dialled.
func (c *Client) redirect(next *nethttp.Request, via []*nethttp.Request) error {
	last, rules := via[len(via)-1], rulesOf(next.Context())
	switch {
	case rules.redirects == RedirectNever:
		return nethttp.ErrUseLastResponse
	case len(via) > c.limits.Redirects:
		return &Error{Code: CodeRedirects, Msg: fmt.Sprintf("more than %d redirects (limit redirects)", c.limits.Redirects)}
	case next.URL.Scheme != "http" && next.URL.Scheme != "https":
		return &Error{Code: CodeRefused, Msg: fmt.Sprintf("a redirect to the scheme %q is refused", next.URL.Scheme)}
	case last.URL.Scheme == "https" && next.URL.Scheme == "http":
		return &Error{Code: CodeRefused, Msg: "a redirect from https to http is refused"}
	case next.URL.User != nil:
		return &Error{Code: CodeRefused, Msg: "a redirect with a user name or password is refused"}
	case next.Method != via[0].Method && rules.redirects == RedirectSame:
		return &Error{Code: CodeInvalid, Msg: fmt.Sprintf("the answer redirects a %s as a %s, which would lose the arguments", via[0].Method, next.Method)}
	}
	next.Header.Del("Referer") // it would reveal the arguments of a GET
	if next.URL.Host == via[0].URL.Host {
		return nil
	}
	if rules.secret {
		return &Error{Code: CodeRefused, Msg: "a redirect to another host is refused: the call holds a secret"}
	}
	// Any other header may be a credential.
	for name := range next.Header {
		if !slices.Contains(crossing, name) {
			next.Header.Del(name)
		}
	}
	return nil
}

// crossing are the headers that may follow a redirect to another host.
var crossing = []string{"Accept", "Content-Type", "Content-Length", "Idempotency-Key", "Traceparent", "Tracestate", "User-Agent"}

// Redirects says which redirects are followed.
type Redirects uint8

// The rules of redirects.
const (
	RedirectSame  Redirects = iota // those that keep the method: others would lose the arguments
	RedirectNever                  // none: the answer is the one that redirects
	RedirectAll                    // all, also those that make a GET of another method
)

// rules hold for a request, and for those that redirects make of it.
type rules struct {
	redirects Redirects
	secret    bool // never to another host
	guarded   bool
	auth      *auth.Policy
	origin    string // what the credentials are for
}

type rulesKey struct{}

func (r rules) in(ctx context.Context) context.Context { return context.WithValue(ctx, rulesKey{}, r) }

func rulesOf(ctx context.Context) rules {
	r, _ := ctx.Value(rulesKey{}).(rules)
	return r
}

func origin(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// transport adds credentials to each request of a chain of redirects that goes where they belong.
type transport struct {
	base *nethttp.Transport
	auth *auth.Keeper
}

// RoundTrip makes one request.
func (t *transport) RoundTrip(r *nethttp.Request) (*nethttp.Response, error) {
	rules := rulesOf(r.Context())
	if rules.auth == nil || origin(r.URL) != rules.origin {
		return t.base.RoundTrip(r)
	}
	return t.auth.Send(rules.auth, rules.guarded, r, t.base.RoundTrip)
}

// CloseIdleConnections is what [nethttp.Client.CloseIdleConnections] calls.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// exchange makes the requests of authentications.
func (c *Client) exchange(ctx context.Context, r *nethttp.Request, guarded bool) (status int, body []byte, err error) {
	a, err := c.send(rules{redirects: RedirectNever, secret: true, guarded: guarded}.in(ctx), r, 0)
	return a.Status, a.Body, err
}
