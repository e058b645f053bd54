package http

import (
	"context"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/effect/auth"
)

const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// TestExchangeIsNoted: what is kept of a request says where it went and what came back, and nothing that
// may be a credential.
func TestExchangeIsNoted(t *testing.T) {
	s := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Request-Id", "r-1")
		h.Set("X-Correlation-Id", "for-"+r.Header.Get("X-Correlation-Id"))
		h.Set("Set-Cookie", "session=canary")
		h.Set("X-Api-Token", "canary")
		h.Set("Location", "https://ada:canary@elsewhere.example/login?token=canary#access_token=canary")
		h.Set("Via", strings.Repeat("v", 2000))
		if strings.HasPrefix(r.URL.Path, "/fine") {
			w.WriteHeader(201)
		} else {
			w.WriteHeader(422)
		}
	})
	c := client(t, Limits{})
	c.holds = func(v expr.Value) bool { return strings.Contains(v.String(), "hunter2") }
	note := func(address string, r Request) *effect.Exchange {
		t.Helper()
		target, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		seen := new(effect.Exchanges)
		r.Method, r.URL = "POST", target
		ctx := effect.WithTraceparent(t.Context(), trace)
		_, _ = c.Do(effect.WithExchanges(ctx, seen), r)
		return seen.Last()
	}
	is := func(what string, got []effect.Header, want ...string) {
		t.Helper()
		var lines []string
		for _, h := range got {
			lines = append(lines, h.Name+": "+h.Value)
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%s: %q, not %q", what, lines, want)
		}
	}
	bearer := func(spread bool) *auth.Policy {
		p, err := auth.Parse(expr.Object(expr.Member{Key: "bearer", Value: expr.Object(expr.Member{Key: "token", Value: expr.String("canary")})}), nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Spread = spread
		return p
	}
	answered := []string{
		"Content-Type: application/json", "Content-Length: 0", "Location: https://elsewhere.example/login",
		"X-Request-Id: r-1", "X-Correlation-Id: for-", "Set-Cookie: ",
	}

	header := nethttp.Header{
		"Content-Type": {"text/plain"}, "Accept": {"a/b", "c/d"}, "Cookie": {"session=canary"}, "X-Api-Key": {"canary"}, "Proxy-Authorization": {"canary"},
		"If-Match": {"of-hunter2"}, "X-Hunter2": {"named"},
	}
	fine := note(s.URL+"/fine?key=canary", Request{Header: header, Auth: bearer(false), Key: "k"})
	if fine.Method != "POST" || fine.Address != s.URL+"/fine" || fine.Status != 201 {
		t.Errorf("a success: %+v", fine)
	}
	is("the answer of a success", fine.Headers, answered...)
	is("the request", fine.RequestHeaders, "Accept: a/b, c/d", "Authorization: ", "Content-Type: text/plain", "Cookie: ", "If-Match: ",
		"Proxy-Authorization: ", "Traceparent: "+trace, "X-Api-Key: ")
	bad := note(s.URL+"/bad?key=canary", Request{})
	if bad.Status != 422 {
		t.Errorf("a failure: %+v", bad)
	}
	is("the answer of a failure", bad.Headers, answered...)
	is("the request without headers", bad.RequestHeaders, "Traceparent: "+trace)

	echo := note(s.URL+"/fine", Request{Header: nethttp.Header{"X-Correlation-Id": {"hunter2"}}})
	is("an answer with a secret in it", echo.Headers[4:5], "X-Correlation-Id: ")
	spread := note(s.URL+"/fine/canary", Request{Header: nethttp.Header{"Accept": {"canary"}}, Auth: bearer(true)})
	if spread.Address != s.URL+"/…" {
		t.Errorf("the address of a request with credentials in its arguments: %q", spread.Address)
	}
	is("a request with credentials in its arguments", spread.RequestHeaders, "Accept: ", "Authorization: ", "Traceparent: ")
	if secret := note(s.URL+"/bad/canary", Request{Secret: true}); secret.Address != s.URL+"/…" {
		t.Errorf("the address of a request with secrets: %q", secret.Address)
	}
	if long := note(s.URL+"/"+strings.Repeat("a", 2000), Request{}); len(long.Address) > maxExchangeAddress+len("…") {
		t.Errorf("an address of %d bytes", len(long.Address))
	}
	none := note("http://127.0.0.1:1/", Request{Header: nethttp.Header{"Accept": {"a/b"}}, Auth: bearer(false)})
	if none.Status != 0 || none.Headers != nil {
		t.Errorf("without an answer: %+v", none)
	}
	is("a request without an answer", none.RequestHeaders, "Accept: a/b", "Authorization: ", "Traceparent: "+trace)
	many := nethttp.Header{"Accept": {strings.Repeat("a", maxExchangeHeaders)}}
	for _, a := range "abcdefghij" {
		many["X-"+strings.Repeat(string(a), 200)] = []string{"v"}
	}
	bytes := 0
	for _, h := range note("http://127.0.0.1:1/", Request{Header: many}).RequestHeaders {
		bytes += len(h.Name) + len(h.Value)
	}
	if bytes == 0 || bytes > maxExchangeHeaders {
		t.Errorf("headers of %d bytes", bytes)
	}
	effect.NoteExchange(context.Background(), effect.Exchange{}) // nobody wants to know
}
