package lockstep_test

import (
	"context"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/lockstep-workflows/lockstep"
)

// file is the path of a new file, for examples. TestMain deletes it.
func file(name string) string { return filepath.Join(folder, name) }

var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "lockstep-example-"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	if err := os.RemoveAll(folder); err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

func open(options ...lockstep.Option) *lockstep.Engine {
	e, err := lockstep.Open(context.Background(), "memory:", options...)
	if err != nil {
		log.Fatal(err)
	}
	return e
}

func deploy(e *lockstep.Engine, d lockstep.Document) {
	if _, err := e.Deploy(context.Background(), d); err != nil {
		log.Fatal(err)
	}
}

// newServer serves a handler, and returns its address.
func newServer(t *testing.T, h http.Handler) string {
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}
