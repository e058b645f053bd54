package http

import (
	"net/url"
	"strings"

	"github.com/lockstep-workflows/lockstep/effect"
)

// Bounds of what is kept of an exchange ("exchange-address", "exchange-headers").
const (
	maxExchangeAddress = 512
	maxExchangeHeaders = 1024 // bytes of names and values
)

// told are the headers of a failed answer that are kept: those that say why it failed, when to come again
// and how to find the request in a log. Others may hold credentials.
var told = []string{
	"Content-Type", "Retry-After", "Location", "Server", "Via", "Www-Authenticate",
	"Request-Id", "X-Request-Id", "X-Correlation-Id", "X-Trace-Id", "X-Amzn-Requestid", "X-Ms-Request-Id", "Cf-Ray", "Traceparent",
	"Ratelimit", "Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset",
}

// exchanged is what the history keeps of a request and its answer. The path of a request with secrets may
// hold one of them.
func exchanged(r *Request, a *Answer) effect.Exchange {
	address := r.URL.Scheme + "://" + r.URL.Host + r.URL.EscapedPath()
	if r.Secret {
		address = r.URL.Scheme + "://" + r.URL.Host + "/…"
	}
	out := effect.Exchange{Method: r.Method, Address: clip(address, maxExchangeAddress), Status: a.Status}
	if a.Status < 400 {
		return out
	}
	left := maxExchangeHeaders
	for _, name := range told {
		value := a.Header.Get(name)
		if name == "Location" {
			value = location(value)
		}
		if value == "" || len(name)+len(value) > left {
			continue
		}
		left -= len(name) + len(value)
		out.Headers = append(out.Headers, effect.Header{Name: name, Value: value})
	}
	return out
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
