package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		if code := run("--outbound-allow", host, skip); code != exitOK || stdout.String() != `{"answer":{"body":{"name":"Ada"},"method":"POST"}}`+"\n" {
			t.Errorf("%s: exit code %d, stdout %s, stderr %s", skip, code, stdout.String(), stderr.String())
		}
	}
	if code := run(); code != exitInvalid || !strings.Contains(stderr.String(), "SW209") {
		t.Errorf("not allowed: exit code %d, stderr %s", code, stderr.String())
	}
}
