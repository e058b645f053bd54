package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestInterruptWhileWaiting: Ctrl-C ends the waiting, and says that the instance goes on.
func TestInterruptWhileWaiting(t *testing.T) {
	for _, args := range [][]string{{"inst", "wait", "i"}, {"inst", "start", "d", "--wait"}, {"inst", "watch", "i"}} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/api/v1/stream", r.Method == http.MethodGet && r.URL.Query().Get("wait") != "":
				cancel()
				<-r.Context().Done()
			default:
				fmt.Fprint(w, `{"id":"i","status":"waiting"}`)
			}
		}))
		defer server.Close()
		var told bytes.Buffer
		a := &app{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &told}
		root := a.command()
		root.SetArgs(append(args, "--url", server.URL))
		if code := a.exit(root.ExecuteContext(ctx)); code != exitInterrupted || !strings.Contains(told.String(), "instance i goes on") {
			t.Errorf("%q: exit code %d, stderr %s", args, code, told.String())
		}
	}
}
