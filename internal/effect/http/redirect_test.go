package http

import (
	"context"
	"errors"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
)

func loopbackClient(t *testing.T, allow ...string) *Client {
	t.Helper()
	c, err := New(Options{Allow: allow, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A redirect that turns a POST into a GET would drop the arguments and look like success.
func TestRedirectDoesNotLoseArguments(t *testing.T) {
	mux := nethttp.NewServeMux()
	mux.HandleFunc("/end", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"method":"` + r.Method + `"}`))
	})
	mux.Handle("/found", nethttp.RedirectHandler("/end", nethttp.StatusFound))
	mux.Handle("/same", nethttp.RedirectHandler("/end", nethttp.StatusTemporaryRedirect))
	server := httptest.NewServer(mux)
	defer server.Close()
	c := loopbackClient(t, "127.0.0.1")
	call := func(path string) effect.Outcome {
		return c.Invoke(context.Background(), effect.Call{Key: "k", Function: "f", Operation: server.URL + path, Args: expr.EmptyObject})
	}
	if out := call("/found"); out.Failure == nil || out.Failure.Code != CodeInvalid || !strings.Contains(out.Failure.Detail, "lose the arguments") {
		t.Errorf("302 on a POST: %+v", out)
	}
	if out := call("/same"); out.Failure != nil || out.Value.String() != `{"method":"POST"}` {
		t.Errorf("307 on a POST: %+v", out)
	}
}

func TestRedirectWithCredentialsIsRefused(t *testing.T) {
	var server *httptest.Server
	server = httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("credentials from a redirect were sent")
		}
		nethttp.Redirect(w, r, strings.Replace(server.URL, "http://", "http://u:p@", 1)+"/x", nethttp.StatusTemporaryRedirect)
	}))
	defer server.Close()
	c := loopbackClient(t, "127.0.0.1")
	_, err := c.Fetch(context.Background(), server.URL)
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != CodeRefused {
		t.Errorf("got %v", err)
	}
}

func TestFetchNeverTellsAPassword(t *testing.T) {
	c := loopbackClient(t)
	_, err := c.Fetch(context.Background(), "http://user:secret@127.0.0.1/x")
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

func TestPolicyKnowsMappedAndProviderAddresses(t *testing.T) {
	p, err := newPolicy([]string{"::ffff:10.0.0.0/104", "::ffff:192.168.1.1", "[::ffff:192.168.2.1]:80"})
	if err != nil {
		t.Fatal(err)
	}
	for address, allowed := range map[string]bool{
		"10.1.2.3:80": true, "[::ffff:10.1.2.3]:80": true, "192.168.1.1:443": true, "192.168.2.1:80": true,
		"192.168.2.1:81": false, "11.0.0.1:80": true, "172.16.0.1:80": false, "168.63.129.16:80": false,
	} {
		if err := p.check(address, address); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
}
