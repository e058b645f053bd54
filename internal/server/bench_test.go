package server

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// BenchmarkStart is a start over HTTP with its synchronous answer, without a network:
// what the interface adds to the engine.
func BenchmarkStart(b *testing.B) {
	e, err := engine.New(engine.Config{Store: newMemory(), Languages: languages()})
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(Config{Engine: e, Registry: dialect.NewRegistry(sw05.FrontEnd{})})
	if err != nil {
		b.Fatal(err)
	}
	h := s.Handler()
	send := func(path, media, body string) int {
		r, err := http.NewRequest(http.MethodPost, path, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r.Host = "localhost"
		r.Header.Set("Content-Type", media)
		w := &discard{header: http.Header{}}
		h.ServeHTTP(w, r)
		return w.status
	}
	if status := send("/api/v1/definitions", "application/yaml", greeting("1", "hello")); status != http.StatusCreated {
		b.Fatal(status)
	}
	b.ReportAllocs()
	for b.Loop() {
		if status := send("/api/v1/definitions/greet/instances?wait=20s", "application/json", `{"name":"Ada"}`); status != http.StatusOK {
			b.Fatal(status)
		}
	}
}

// discard is a ResponseWriter that keeps the status only.
type discard struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (d *discard) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *discard) WriteHeader(status int) { d.status = status }

// Write implements http.ResponseWriter.
func (d *discard) Write(p []byte) (int, error) { return io.Discard.Write(p) }
