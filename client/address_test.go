package client_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/client"
)

// TestUnixSockets: the address that a server on a socket tells is one that a client takes, and by which it
// names the server.
func TestUnixSockets(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "n.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"`+r.Host+r.URL.Path+`"}`)
	})}
	go func() { _ = server.Serve(listener) }()
	address := "unix:" + socket
	for what, transport := range map[string]*http.Client{"its own": nil, "given": {}, "with a transport": {Transport: &http.Transport{}}} {
		j, err := client.NewJobs(client.JobsOptions{Options: client.Options{URL: address, HTTP: transport, Attempts: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := j.GetJob(t.Context(), "1", false); err != nil || got.ID != "localhost/api/wfx/v1/jobs/1" || j.URL() != address {
			t.Errorf("%s: %q, %v, %s", what, got.ID, err, j.URL())
		}
		j.Close()
	}
	_ = server.Close()
	c, err := client.New(client.Options{URL: address, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.GetStats(t.Context())
	var cut *client.UnreachableError
	if !errors.As(err, &cut) || cut.URL != address || !strings.Contains(err.Error(), address) {
		t.Errorf("nobody listens: %v", err)
	}
	for _, o := range []client.Options{{URL: "unix:"}, {URL: address, HTTP: &http.Client{Transport: http.NewFileTransport(http.Dir("."))}}} {
		if _, err := client.New(o); err == nil {
			t.Errorf("%v is taken", o)
		}
	}
}
