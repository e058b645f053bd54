package http

import (
	"context"
	nethttp "net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
)

// TestExchangeIsNoted: what is kept of a request says where it went and why it failed, and nothing that
// may be a credential.
func TestExchangeIsNoted(t *testing.T) {
	s := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Request-Id", "r-1")
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
	note := func(address string, secret bool) *effect.Exchange {
		target, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		seen := new(effect.Exchanges)
		_, _ = c.Do(effect.WithExchanges(t.Context(), seen), Request{Method: "POST", URL: target, Secret: secret})
		return seen.Last()
	}
	fine := note(s.URL+"/fine?key=canary", false)
	if fine == nil || fine.Method != "POST" || fine.Address != s.URL+"/fine" || fine.Status != 201 || len(fine.Headers) != 0 {
		t.Errorf("a success: %+v", fine)
	}
	bad := note(s.URL+"/bad?key=canary", false)
	if bad == nil || bad.Status != 422 {
		t.Fatalf("a failure: %+v", bad)
	}
	got := map[string]string{}
	for _, h := range bad.Headers {
		got[h.Name] = h.Value
	}
	if len(got) != 3 || got["Content-Type"] != "application/json" || got["X-Request-Id"] != "r-1" || got["Location"] != "https://elsewhere.example/login" {
		t.Errorf("the headers that are kept: %v", got)
	}
	if secret := note(s.URL+"/bad/canary", true); secret.Address != s.URL+"/…" {
		t.Errorf("the address of a request with secrets: %q", secret.Address)
	}
	if long := note(s.URL+"/"+strings.Repeat("a", 2000), false); len(long.Address) > maxExchangeAddress+len("…") {
		t.Errorf("an address of %d bytes", len(long.Address))
	}
	if none := note("http://127.0.0.1:1/", false); none == nil || none.Status != 0 {
		t.Errorf("without an answer: %+v", none)
	}
	effect.NoteExchange(context.Background(), effect.Exchange{}) // nobody wants to know
}
