package http

import (
	"context"
	"errors"
	nethttp "net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Only what is no credential follows a redirect to another host, and nothing does
// where the request holds a secret.
func TestRedirectToAnotherHost(t *testing.T) {
	var seen nethttp.Header
	other := server(t, func(_ nethttp.ResponseWriter, r *nethttp.Request) { seen = r.Header })
	away := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	srv := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		nethttp.Redirect(w, r, away, nethttp.StatusTemporaryRedirect)
	})
	u, _ := url.Parse(srv.URL)
	r := Request{
		Method: "POST", URL: u, Body: []byte("{}"), Key: "k1",
		Header: nethttp.Header{"X-Api-Key": {"a"}, "Authorization": {"b"}, "Cookie": {"c"}, "Content-Type": {"application/json"}},
	}
	c := client(t, Limits{})
	if _, err := c.Do(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if seen.Get("X-Api-Key")+seen.Get("Authorization")+seen.Get("Cookie") != "" || seen.Get("Idempotency-Key") != "k1" || seen.Get("Content-Type") != "application/json" {
		t.Errorf("%v", seen)
	}
	seen, r.Secret = nil, true
	var refused *Error
	if _, err := c.Do(context.Background(), r); !errors.As(err, &refused) || refused.Code != CodeRefused || seen != nil {
		t.Errorf("%v %v", err, seen)
	}
}

func TestRequestHasItsOwnTimeout(t *testing.T) {
	stop := make(chan struct{})
	srv := server(t, func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		select {
		case <-r.Context().Done():
		case <-stop:
		}
	})
	defer close(stop)
	u, _ := url.Parse(srv.URL)
	var late *Error
	_, err := client(t, Limits{}).Do(context.Background(), Request{Method: "GET", URL: u, Timeout: 30 * time.Millisecond})
	if !errors.As(err, &late) || late.Code != CodeTimeout || !strings.Contains(late.Msg, "30ms") {
		t.Errorf("%v", err)
	}
}
