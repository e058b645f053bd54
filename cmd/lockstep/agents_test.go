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

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// agents stands in for an MCP server at /mcp and for an agent at /a2a, whose card is at /card.json.
func agents(t *testing.T) *httptest.Server {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer := func(id int, result string) { fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result) }
		w.Header().Set("Content-Type", "application/json")
		switch text := string(body); {
		case r.URL.Path == "/card.json":
			fmt.Fprintf(w, `{"name":"reporter","url":"%s/a2a","capabilities":{"streaming":true}}`, server.URL)
		case r.URL.Path == "/a2a":
			w.Header().Set("Content-Type", "text/event-stream")
			for _, result := range []string{`{"kind":"artifact-update","n":1}`, `{"kind":"status-update","status":{"state":"completed"},"final":true}`} {
				fmt.Fprint(w, "data: ")
				answer(1, result)
				fmt.Fprint(w, "\n\n")
			}
		case strings.Contains(text, `"initialize"`):
			answer(1, `{"protocolVersion":"2025-06-18"}`)
		case strings.Contains(text, `"broken"`):
			answer(2, `{"isError":true,"content":[{"type":"text","text":"the kettle is empty"}]}`)
		case strings.Contains(text, `"tools/call"`):
			answer(2, `{"structuredContent":{"sum":42}}`)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// TestRunCallsAgents runs a definition against real servers, with calls that wait without a place and such that
// do not. What a tool reports is an error of the type runtime.
func TestRunCallsAgents(t *testing.T) {
	server := agents(t)
	file := filepath.Join(t.TempDir(), "agents.yaml")
	definition := strings.ReplaceAll(`
document: {dsl: 1.0.3, namespace: default, name: agents, version: 1.0.0}
do:
- sum:
    call: mcp
    with:
      method: tools/call
      parameters: {name: add, arguments: {a: "${ .a }", b: 40}}
      timeout: {minutes: 5}
      transport: {http: {endpoint: SERVER/mcp}}
    output: {as: "{sum: .structuredContent.sum}"}
- brew:
    try:
    - call:
        call: mcp
        with:
          method: tools/call
          parameters: {name: broken}
          transport: {http: {endpoint: {uri: SERVER/mcp}}}
    catch:
      errors: {with: {type: https://open-workflow-specification.org/spec/1.0.0/errors/runtime, status: 500}}
      do:
      - tell: {set: "${ . + {why: $error.detail} }"}
- report:
    call: a2a
    with:
      method: message/stream
      agentCard: {endpoint: SERVER/card.json}
      parameters: {message: {parts: [{kind: text, text: "${ .why }"}]}}
    output: {as: "$input + {kinds: map(.kind)}"}
`, "SERVER", server.URL)
	if err := os.WriteFile(file, []byte(definition), 0o644); err != nil {
		t.Fatal(err)
	}
	const want = `{"kinds":["artifact-update","status-update"],"sum":42,"why":"the kettle is empty"}` + "\n"
	for _, skip := range []string{"--skip-time=false", "--skip-time"} {
		var stdout, stderr bytes.Buffer
		code := lockstep([]string{"run", file, "--input", `{"a":2}`, "--outbound-allow", "127.0.0.1", skip}, strings.NewReader(""), &stdout, &stderr)
		if code != cli.ExitOK || stdout.String() != want {
			t.Errorf("%s: exit code %d, stdout %s, stderr %s", skip, code, stdout.String(), stderr.String())
		}
	}
}
