package inst

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
)

// TestWaitOverRestart: who waits for an instance goes on waiting while its server is not
// there for a moment; what will not pass is told at once.
func TestWaitOverRestart(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch asked.Add(1) {
		case 1:
			panic(http.ErrAbortHandler) // it is killed
		case 2:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"status":503,"code":"stopping"}`)
		case 3:
			_, _ = io.WriteString(w, `{"id":"i","status":"completed"}`)
		default:
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"status":404,"code":"not-found"}`)
		}
	}))
	defer server.Close()
	c, err := client.New(client.Options{URL: server.URL, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := remote.Server{App: &cli.App{Out: io.Discard, Err: io.Discard}, Client: c, Ctx: t.Context()}
	in, err := await(r, api.Instance{ID: "i", Status: api.Waiting}, cli.Duration{})
	if err != nil || in.Status != api.Completed {
		t.Errorf("over a restart: %+v, %v", in, err)
	}
	if _, err := await(r, api.Instance{ID: "i", Status: api.Waiting}, cli.Duration{}); err == nil || asked.Load() != 4 {
		t.Errorf("of one that was deleted: %v after %d requests", err, asked.Load())
	}
}
