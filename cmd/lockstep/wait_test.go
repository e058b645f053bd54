package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestInterruptWhileWaiting: Ctrl-C ends the waiting, and says that the instance continues.
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
		a := &cli.App{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &told}
		root := command(a)
		root.SetArgs(append(args, "--url", server.URL))
		if code := a.Exit(root.ExecuteContext(ctx)); code != cli.ExitInterrupted || !strings.Contains(told.String(), "instance i continues") {
			t.Errorf("%q: exit code %d, stderr %s", args, code, told.String())
		}
	}
}
