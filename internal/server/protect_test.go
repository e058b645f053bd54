package server

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// ask serves one request without a network.
func ask(h http.Handler, change func(*http.Request), method, url string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, url, nil)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// postJSON is a request with a body.
func postJSON(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// TestHeadersOfEveryResponse: other sites cannot embed what the server shows, and browsers that came over TLS stay
// with it. Localhost is not pinned to TLS: other programs are served there.
func TestHeadersOfEveryResponse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fw.bin"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := NewDownloads(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	for _, behind := range []bool{false, true} {
		w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) {
			c.Downloads, c.BehindTLS, c.Hosts = files, behind, []string{"flow.example"}
		})
		for _, path := range []string{"/api/v1/stats", "/api/v1/none", "/download/fw.bin", "/api/wfx/v1/jobs", "/healthz"} {
			for host, pinned := range map[string]bool{"flow.example": true, "localhost:8081": false} {
				for _, secure := range []bool{false, true} {
					h := ask(w.server.Handler(), func(r *http.Request) {
						if r.Host = host; secure {
							r.TLS = &tls.ConnectionState{}
						}
					}, "GET", path).Header()
					if h.Get("Cross-Origin-Resource-Policy") != "same-origin" || h.Get("X-Content-Type-Options") != "nosniff" {
						t.Errorf("%s: %v", path, h)
					}
					if got := h.Get("Strict-Transport-Security") != ""; got != (pinned && (secure || behind)) {
						t.Errorf("%s of %s, TLS %v, behind a proxy %v: Strict-Transport-Security %v", path, host, secure, behind, got)
					}
				}
			}
		}
	}
}

// TestLogSaysWho: every request is logged with the credential and the address that it came from, on the south too, and
// so are downloads. The header of a proxy counts only where there is one.
func TestLogSaysWho(t *testing.T) {
	byRole, tokens := tokensOf(t)
	dir := t.TempDir()
	devices := Devices{Tokens: tokens}
	files, err := NewDownloads(dir, devices.Client)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = files.Close() }()
	for _, behind := range []bool{false, true} {
		var log bytes.Buffer
		w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) {
			c.Tokens, c.Client, c.Downloads, c.BehindTLS = tokens, devices.Client, files, behind
			c.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		from := func(token string) func(*http.Request) {
			return func(r *http.Request) {
				r.RemoteAddr = "192.0.2.7:4711"
				r.Header.Set("X-Forwarded-For", "203.0.113.1, 198.51.100.9")
				if token != "" {
					r.Header.Set("Authorization", "Bearer "+token)
				}
			}
		}
		address := "192.0.2.7"
		if behind {
			address = "198.51.100.9"
		}
		device, viewer := byRole[Device], byRole[Viewer]
		for _, c := range []struct {
			side              http.Handler
			path, token, said string
		}{
			{w.server.South(), "/api/wfx/v1/jobs", device, `operation=wfx.listJobs status=200`},
			{w.server.South(), "/api/wfx/v1/jobs", device, `who="client c"`},
			{w.server.South(), "/api/wfx/v1/jobs", "ls_wrong", `status=401`},
			{w.server.South(), "/download/none.bin", device, `operation=download status=404`},
			{w.server.South(), "/download/none.bin", device, `who="client c"`},
			{w.server.Handler(), "/download/none.bin", viewer, `who="token t-viewer"`},
			{w.server.Handler(), "/api/v1/stats", viewer, `who=t-viewer`},
			{w.server.Handler(), "/api/v1/stats", "ls_wrong", `status=401`},
		} {
			log.Reset()
			ask(c.side, from(c.token), "GET", c.path)
			if line := log.String(); !strings.Contains(line, c.said) || !strings.Contains(line, "address="+address) {
				t.Errorf("%s: %s\nwant %s and the address %s", c.path, line, c.said, address)
			}
		}
	}
}
