package http

import (
	"maps"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

// Bounds of what is kept of an exchange ("exchange-address", "exchange-headers").
const (
	maxExchangeAddress = 512
	maxExchangeHeaders = 1024 // bytes of names and values
)

// plain are the headers whose values are kept: those that say what a message is, why a call failed, when to come
// again and how to find the request in a log. All others may hold credentials.
var plain = []string{
	"Content-Type", "Content-Length", "Retry-After", "Location", "Server", "Via", "Www-Authenticate", "Etag",
	"Request-Id", "X-Request-Id", "X-Correlation-Id", "X-Trace-Id", "X-Amzn-Requestid", "X-Ms-Request-Id", "Cf-Ray", "Traceparent",
	"Ratelimit", "Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset",
	"Accept", "Accept-Language", "Idempotency-Key", "If-Match", "If-None-Match", "Prefer", "User-Agent",
}

// answered are the headers of an answer that are kept; of those of a request each name is.
var answered = append(slices.Clone(plain), "Set-Cookie")

// exchanged is what the history keeps of a request, which was sent with more headers than it has itself, and of
// its answer. The path of a request with secrets may hold one of them.
func (c *Client) exchanged(r *Request, sent nethttp.Header, a *Answer) effect.Exchange {
	spread := r.Auth != nil && r.Auth.Spread
	address := r.URL.Scheme + "://" + r.URL.Host + r.URL.EscapedPath()
	if r.Secret || spread {
		address = r.URL.Scheme + "://" + r.URL.Host + "/…"
	}
	own := nethttp.Header{} // what every request has says nothing; the key of a call is in its record
	maps.Copy(own, r.Header)
	if trace := sent["Traceparent"]; trace != nil {
		own["Traceparent"] = trace
	}
	if r.Auth != nil {
		own["Authorization"] = nil
	}
	left := maxExchangeHeaders
	return effect.Exchange{
		Method: r.Method, Address: clip(address, maxExchangeAddress), Status: a.Status,
		Headers:        c.kept(a.Header, answered, false, &left),
		RequestHeaders: c.kept(own, slices.Sorted(maps.Keys(own)), spread, &left),
	}
}

// kept are the headers of these names, as far as there are bytes left. One that may hold a credential has no value.
func (c *Client) kept(h nethttp.Header, names []string, hide bool, left *int) (out []effect.Header) {
	for _, name := range names {
		if _, there := h[name]; !there || c.Holds(expr.String(strings.ToLower(name))) { // a name is written in another case than what it is made of
			continue
		}
		value := ""
		if !hide && slices.Contains(plain, name) {
			if value = plainly(h, name); value == "" {
				continue
			}
			if c.Holds(expr.String(value)) {
				value = ""
			}
		}
		if size := len(name) + len(value); size <= *left {
			*left -= size
			out = append(out, effect.Header{Name: name, Value: value})
		}
	}
	return out
}

func plainly(h nethttp.Header, name string) string {
	if name == "Location" {
		return location(h.Get(name))
	}
	return strings.Join(h[name], ", ")
}

// location is an address without what may be a credential: the user, the query and the fragment.
func location(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

// clip shortens a text.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
