package http

import (
	"context"
	nethttp "net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
)

// What an address says in its query reaches the service as it is written, and what
// cannot stand in a request line is escaped.
func TestConstantQueryIsLostOrReordered(t *testing.T) {
	line := ""
	srv := server(t, func(_ nethttp.ResponseWriter, r *nethttp.Request) { line = r.RequestURI })
	c := client(t, Limits{})
	for address, want := range map[string]string{
		"/p?b=2&a=1;c=3": "/p?b=2&a=1;c=3",
		"/p?flag":        "/p?flag",
		"/p?q=%zz":       "/p?q=%zz",
		"/p?b=1&a=2&":    "/p?b=1&a=2&",
		"/p?q=a+b%20c":   "/p?q=a+b%20c",
		"/p?q=a b":       "/p?q=a%20b",
		"/p?q=ü\"<>":     "/p?q=%C3%BC%22%3C%3E",
		"/p":             "/p",
	} {
		for method, more := range map[string]string{"GET": "z=1", "POST": ""} {
			out := c.Invoke(context.Background(), effect.Call{Operation: srv.URL + address + "#" + method, Args: value(t, `{"z":1}`)})
			if want := joined(want, more); out.Failure != nil || line != want {
				t.Errorf("%s %s: %q %+v, want %q", method, address, line, out.Failure, want)
			}
		}
	}
}

func joined(address, more string) string {
	switch {
	case more == "" || strings.HasSuffix(address, "&"):
		return address + more
	case strings.Contains(address, "?"):
		return address + "&" + more
	}
	return address + "?" + more
}

func TestByteOrderMarkBeforeJSON(t *testing.T) {
	srv := server(t, says(200, "application/json", "\ufeff{\"a\":1}"))
	out := client(t, Limits{}).Invoke(context.Background(), effect.Call{Operation: srv.URL})
	if out.Failure != nil || out.Value.String() != `{"a":1}` {
		t.Errorf("%s %+v", out.Value, out.Failure)
	}
}

func TestNumberIsNoNameOfAFailure(t *testing.T) {
	for _, media := range []string{"application/json", "application/problem+json"} {
		srv := server(t, says(400, media, `{"name":5}`))
		out := client(t, Limits{}).Invoke(context.Background(), effect.Call{Operation: srv.URL})
		if out.Failure == nil || out.Failure.Name != effect.Unnamed {
			t.Errorf("%s: %+v", media, out.Failure)
		}
	}
}

func TestOwnTimeoutIsToldAsALimit(t *testing.T) {
	block := make(chan struct{})
	srv := server(t, func(nethttp.ResponseWriter, *nethttp.Request) { <-block })
	t.Cleanup(func() { close(block) })
	c := client(t, Limits{Timeout: 20 * time.Millisecond})
	req, _ := nethttp.NewRequest("GET", srv.URL, nil)
	for timeout, want := range map[time.Duration]string{0: "20ms (limit call-timeout)", time.Millisecond: "1ms (the function's timeout)"} {
		if _, err := c.send(context.Background(), req, timeout); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", timeout, err)
		}
	}
}
