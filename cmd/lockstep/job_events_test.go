package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBrokenStreamsAreReported: commands that follow jobs report each time, once, that the connection broke and that
// they retry.
func TestBrokenStreamsAreReported(t *testing.T) {
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
		var out, errOut bytes.Buffer
		lockstep(append(args, "--url", server.URL, "--south", server.URL), strings.NewReader(""), &out, &errOut)
		if n := strings.Count(errOut.String(), "; retrying\n"); n != 2 {
			t.Errorf("%v: reported %d times, want 2:\n%s", args, n, errOut.String())
		}
	}
}
