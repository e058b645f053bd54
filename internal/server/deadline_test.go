package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// TestWaitsOutlastTheReadDeadline: the time within which a request must arrive does not end a wait or a stream: net/http
// takes the deadline back once the request has arrived.
func TestWaitsOutlastTheReadDeadline(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), func(cfg *Config, _ *engine.Config) {
		cfg.Limits.ReadTimeout, cfg.Limits.Heartbeat = 500*time.Millisecond, 300*time.Millisecond
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx, l) }()
	w.url = "http://" + l.Addr().String()
	w.deploy("await")
	id := w.start("await", `{"order":"1"}`)
	for range 2 { // on one connection
		w.get("/api/v1/instances/" + id + "?wait=1s").want(200)
		w.do("POST", "/api/v1/definitions/await/instances?wait=1s", `{"order":"2"}`).want(202)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/api/v1/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	beats := 0
	for lines := bufio.NewScanner(a.Body); beats < 4 && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), ": still here") {
			beats++
		}
	}
	if beats < 4 {
		t.Errorf("the stream ended after %d heartbeats", beats)
	}
	_ = a.Body.Close()
	// A body that does not arrive is still given up.
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /api/v1/definitions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/yaml\r\nContent-Length: 100\r\n\r\nid"); err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(conn); !strings.Contains(string(text), "408") {
		t.Errorf("%s", text)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
