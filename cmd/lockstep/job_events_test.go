package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBrokenStreamsAreTold: whoever follows jobs learns that the connection broke, once each time, and that it
// is tried again.
func TestBrokenStreamsAreTold(t *testing.T) {
	for _, args := range [][]string{{"job", "events"}, {"client", "run-sim", "--speed", "0", "--for", "1m"}} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if !strings.HasSuffix(r.URL.Path, "/events") {
				_, _ = fmt.Fprintln(w, `{"content":[]}`)
				return
			}
			if asked++; asked == 3 {
				w.WriteHeader(http.StatusGone) // which ends it
				return
			}
			_, _ = fmt.Fprintf(w, ": keepalive\n\n")
		}))
		t.Cleanup(server.Close)
		var out, told bytes.Buffer
		lockstep(append(args, "--url", server.URL, "--south", server.URL), strings.NewReader(""), &out, &told)
		if n := strings.Count(told.String(), "; trying again\n"); n != 2 {
			t.Errorf("%v: told %d times, want 2:\n%s", args, n, told.String())
		}
	}
}
