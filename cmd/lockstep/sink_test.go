package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// receivers is the command "receiver", a service that takes events:
//
//	receiver down         chooses its address, which is $SINK; nobody listens there
//	receiver up           listens there for the rest of the script
//	receiver await N FILE waits for N events in all and writes them into a file, sorted
func receivers(t *testing.T) func(*testscript.TestScript, bool, []string) {
	var mu sync.Mutex
	all := map[*testscript.TestScript]*eventReceiver{}
	return func(ts *testscript.TestScript, neg bool, args []string) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case neg || len(args) == 0:
			ts.Fatalf("usage: receiver down|up|await N FILE")
		case args[0] == "down":
			l, err := net.Listen("tcp", "127.0.0.1:0")
			ts.Check(err)
			ts.Setenv("SINK", l.Addr().String())
			ts.Check(l.Close())
			all[ts] = &eventReceiver{came: make(chan struct{}, 1)}
		case args[0] == "up":
			l, err := net.Listen("tcp", ts.Getenv("SINK"))
			ts.Check(err)
			server := &http.Server{Handler: all[ts]}
			ts.Defer(func() { _ = server.Close() })
			go func() { _ = server.Serve(l) }()
		case args[0] == "await" && len(args) == 3:
			late := time.After(time.Minute)
			for {
				lines := all[ts].lines()
				if fmt.Sprint(len(lines)) == args[1] {
					ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Join(lines, "\n")+"\n"), 0o644))
					return
				}
				select {
				case <-all[ts].came:
				case <-late:
					ts.Fatalf("%d events came: %q", len(lines), lines)
				case <-t.Context().Done():
				}
			}
		}
	}
}

// eventReceiver remembers what was posted.
type eventReceiver struct {
	mu   sync.Mutex
	got  []string
	came chan struct{}
}

func (r *eventReceiver) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.got))
}

func (r *eventReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	if strings.Contains(string(body), "unwanted") {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	r.mu.Lock()
	r.got = append(r.got, fmt.Sprintf("%s %s %s %s key=%s %s", req.Method, req.URL.Path, req.Header.Get("Content-Type"), req.Header.Get("Ce-Type"), req.Header.Get("Idempotency-Key"), body))
	r.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
	select {
	case r.came <- struct{}{}:
	default:
	}
}
