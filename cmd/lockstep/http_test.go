package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// TestRunCallsServices runs a definition against a real server: its function
// definitions and its function are reached over HTTP, if the policy allows it.
func TestRunCallsServices(t *testing.T) {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/functions.json":
			fmt.Fprintf(w, `{"functions": [{"name": "greet", "operation": "%s/greet"}]}`, server.URL)
		case "/greet":
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, `{"answer": {"method": %q, "body": %s}}`, r.Method, body)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "greet.yaml")
	definition := strings.ReplaceAll(`
id: greet
name: Greet
functions: SERVER/functions.json
states:
- name: Greet
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: greet, parameters: {name: "{{ $.name }}"}}, actionDataFilter: {dataResultsPath: "{{ $.answer }}"}}]
  stateDataFilter: {dataOutputPath: "{{ $.answer }}"}
  end: {kind: default}
`, "SERVER", server.URL)
	if err := os.WriteFile(file, []byte(definition), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	run := func(args ...string) int {
		stdout.Reset()
		stderr.Reset()
		return lockstep(append([]string{"run", file, "--input", `{"name":"Ada"}`}, args...), strings.NewReader(""), &stdout, &stderr)
	}
	host := strings.TrimPrefix(server.URL, "http://")
	for _, skip := range []string{"--skip-time=false", "--skip-time"} {
		if code := run("--outbound-allow", host, skip); code != cli.ExitOK || stdout.String() != `{"answer":{"body":{"name":"Ada"},"method":"POST"}}`+"\n" {
			t.Errorf("%s: exit code %d, stdout %s, stderr %s", skip, code, stdout.String(), stderr.String())
		}
	}
	if code := run(); code != cli.ExitInvalid || !strings.Contains(stderr.String(), "SW209") {
		t.Errorf("not allowed: exit code %d, stderr %s", code, stderr.String())
	}
}

// notModified FILE starts a service that sends a body where there can be none, and
// writes its HOST:PORT into the file where it says SERVICE.
func notModified(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: notmodified FILE")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello")
			}
		}
	}()
	ts.Setenv("SERVICE", listener.Addr().String())
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, "SERVICE", listener.Addr().String())), 0o644))
}
