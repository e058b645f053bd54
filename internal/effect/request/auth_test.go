package request

import (
	"fmt"
	nethttp "net/http"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestAuth: credentials ride beside the arguments, which make the same request as without them.
func TestAuth(t *testing.T) {
	s := newService(t, http.Options{}, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "%s %s %s", r.Method, r.RequestURI, r.Header.Get("Authorization"))
	})
	r := ir.Request{Protocol: ir.RequestHTTP, Method: "get", URI: "SERVER/orders/{id}", Auth: true}
	for args, want := range map[string]string{
		`{"arguments":{"id":7,"page":2},"authentication":{"bearer":{"token":"abc"}}}`:           "GET /orders/7?page=2 Bearer abc",
		`{"arguments":{"id":"a b"},"authentication":{"basic":{"username":"u","password":"p"}}}`: "GET /orders/a%20b Basic dTpw",
		`{"arguments":{"id":"../admin"},"authentication":{"bearer":{"token":"abc"}}}`:           "the path of the address would have the step",
		`{"arguments":{},"authentication":{"bearer":{"token":"abc"}}}`:                          `the argument "id" is missing`,
		`{"arguments":{"id":7}}`:                                "it has no credentials",
		`{"arguments":{"id":7},"authentication":{"bearer":{}}}`: "token",
		`{"arguments":{"id":7,"headers":{"Authorization":"x"}},"authentication":{"bearer":{"token":"abc"}}}`: "GET /orders/7 Bearer abc",
	} {
		if got := told(s.calls(false, r, args)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	r.URI = "http://{host}/"
	if got := told(s.calls(true, r, `{"arguments":{"host":"x"},"authentication":{"bearer":{"token":"abc"}}}`)); !strings.Contains(got, "host that arguments choose") {
		t.Error(got)
	}
}

// told is what a call gave, or why it failed.
func told(o effect.Outcome) string {
	if o.Failure != nil {
		return o.Failure.Detail
	}
	return o.Value.Text()
}
