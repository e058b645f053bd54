package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/wfxctl"
)

// wfxSide plays one side of a server: it remembers what it was asked and answers as told.
type wfxSide struct {
	*httptest.Server
	mu     sync.Mutex // health asks both sides at once, which may be one server
	asked  []string
	status int
	answer string
}

func newWfxSide(t *testing.T) *wfxSide {
	s := &wfxSide{status: 200, answer: "{}"}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *wfxSide) port() string {
	u, _ := url.Parse(s.URL)
	return u.Port()
}

// wfxctlCase is a place in which wfxctl is called.
type wfxctlCase struct {
	south, north   *wfxSide
	stdout, stderr bytes.Buffer
}

func newWfxctlCase(t *testing.T) *wfxctlCase {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("WFX_CLIENT_HOST", "127.0.0.1")
	t.Setenv("WFX_MGMT_HOST", "127.0.0.1")
	c := &wfxctlCase{south: newWfxSide(t), north: newWfxSide(t)}
	t.Setenv("WFX_CLIENT_PORT", c.south.port())
	t.Setenv("WFX_MGMT_PORT", c.north.port())
	return c
}

func (c *wfxctlCase) call(stdin string, args ...string) int {
	c.south.asked, c.north.asked = nil, nil
	c.stdout.Reset()
	c.stderr.Reset()
	return wfxctl.Main(args, strings.NewReader(stdin), &c.stdout, &c.stderr)
}

// TestWfxctlRequests: what each command line of wfxctl sends, and to which side.
func TestWfxctlRequests(t *testing.T) {
	c := newWfxctlCase(t)
	if err := os.WriteFile("k.yml", []byte("name: k\nstates:\n- name: A\n  description: yes\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const base = "/api/wfx/v1"
	for _, one := range []struct{ line, stdin, south, north string }{
		{line: "workflow create k.yml", north: `POST ` + base + `/workflows {"name":"k","states":[{"description":"yes","name":"A"}]}`},
		{line: "workflow create -", stdin: `{"name":"j"}`, north: `POST ` + base + `/workflows {"name":"j"}`},
		{line: "workflow delete a b", north: "DELETE " + base + "/workflows/a\nDELETE " + base + "/workflows/b"},
		{line: "workflow delete --name=a", north: "DELETE " + base + "/workflows/a"},
		{line: "workflow get --name=k", south: "GET " + base + "/workflows/k"},
		{line: "workflow query --limit=3", south: "GET " + base + "/workflows?limit=3&offset=0&sort=asc"},
		{line: "job create --client-id=dana --workflow=k --tag a,b --tag c -", stdin: `{"n":12345678901234567890}`, north: `POST ` + base + `/jobs {"clientId":"dana","definition":{"n":12345678901234567890},"tags":["a,b","c"],"workflow":"k"}`},
		{line: "job create --client-id dana --workflow k", north: `POST ` + base + `/jobs {"clientId":"dana","workflow":"k"}`},
		{line: "job get --id=1", south: "GET " + base + "/jobs/1?history=false"},
		{line: "job get --id=1 --history", south: "GET " + base + "/jobs/1?history=true"},
		{line: "job query", south: "GET " + base + "/jobs?limit=10&offset=0&sort=asc"},
		{line: "job query --group=OPEN,CLOSED --tag a --state NEW --workflow k --client-id dana --sort DESC --offset 2", south: "GET " + base + "/jobs?clientId=dana&group=OPEN%2CCLOSED&limit=10&offset=2&sort=desc&state=NEW&tag=a&workflow=k"},
		{line: "job update-status --actor=client --id=1 --state=PROGRESS", south: `PUT ` + base + `/jobs/1/status {"progress":0,"state":"PROGRESS"}`},
		{line: "job update-status --id=1 --state=PROGRESS --progress 42 --message hi --client-id dana", south: `PUT ` + base + `/jobs/1/status {"clientId":"dana","message":"hi","progress":42,"state":"PROGRESS"}`},
		{line: "job update-status --actor=WFX --id=1 --state=DONE", north: `PUT ` + base + `/jobs/1/status {"progress":0,"state":"DONE"}`},
		{line: "job get-status --id=1", south: "GET " + base + "/jobs/1/status"},
		{line: "job get-definition --id=1", south: "GET " + base + "/jobs/1/definition"},
		{line: "job get-tags --id=1", south: "GET " + base + "/jobs/1/tags"},
		{line: "job update-definition --id=1", stdin: `{"a":1}`, north: `PUT ` + base + `/jobs/1/definition {"a":1}`},
		{line: "job add-tags --id=1 a b", north: `POST ` + base + `/jobs/1/tags ["a","b"]`},
		{line: "job del-tags --id=1 a", north: `DELETE ` + base + `/jobs/1/tags ["a"]`},
		{line: "job delete --id=1", north: "DELETE " + base + "/jobs/1"},
		{line: "version", south: "GET " + base + "/version"},
	} {
		if code := c.call(one.stdin, strings.Fields(one.line)...); code != 0 {
			t.Errorf("%s: exit code %d: %s", one.line, code, c.stderr.String())
		}
		if got := strings.Join(c.south.asked, "\n"); got != one.south {
			t.Errorf("%s: the south was asked\n%s\nwant\n%s", one.line, got, one.south)
		}
		if got := strings.Join(c.north.asked, "\n"); got != one.north {
			t.Errorf("%s: the north was asked\n%s\nwant\n%s", one.line, got, one.north)
		}
	}
}

// TestWfxctlOutput: answers are indented, filtered, and raw where asked for.
func TestWfxctlOutput(t *testing.T) {
	c := newWfxctlCase(t)
	c.south.answer = `{"id":"1","status":{"state":"NEW"},"n":12345678901234567890}`
	for _, one := range []struct {
		line, out string
		code      int
	}{
		{"job get --id=1", "{\n  \"id\": \"1\",\n  \"n\": 12345678901234567890,\n  \"status\": {\n    \"state\": \"NEW\"\n  }\n}\n", 0},
		{"job get --id=1 --filter=.id", "\"1\"\n", 0},
		{"job get --id=1 --filter=.id,.status.state --raw", "1\nNEW\n", 0},
		{"job get --id=1 --filter .status", "{\n  \"state\": \"NEW\"\n}\n", 0},
		{"job get --id=1 --filter .status --raw", "", 1},
		{"job get --id=1 --filter .[", "", 1},
	} {
		if code := c.call("", strings.Fields(one.line)...); code != one.code || c.stdout.String() != one.out {
			t.Errorf("%s: exit code %d, %q, want %q; %s", one.line, code, c.stdout.String(), one.out, c.stderr.String())
		}
	}
	c.north.status, c.north.answer = 204, ""
	if code := c.call("", "job", "delete", "--id=1"); code != 0 || c.stdout.Len() > 0 {
		t.Errorf("delete: exit code %d, %q", code, c.stdout.String())
	}
	c.north.status, c.north.answer = 404, "{}"
	if code := c.call("", "job", "delete", "--id=1"); code != 1 || c.stderr.String() != "Error: error: there is no such job\n" {
		t.Errorf("delete again: exit code %d, %q", code, c.stderr.String())
	}
	c.south.status, c.south.answer = 404, `{"errors":[{"code":"wfx.jobNotFound","logref":"11cc","message":"Job ID was not found"}]}`
	if code := c.call("", "job", "get", "--id=1"); code != 1 || c.stdout.String() != "ERROR: Job ID was not found (code=wfx.jobNotFound, logref=11cc)\n" || c.stderr.String() != "Error: error: "+c.south.answer+"\n" {
		t.Errorf("refused: exit code %d, %q, %q", code, c.stdout.String(), c.stderr.String())
	}
}

// TestWfxctlMistakes: what is missing or not known is told before anything is sent.
func TestWfxctlMistakes(t *testing.T) {
	c := newWfxctlCase(t)
	for line, want := range map[string]string{
		"job get":                        "id missing",
		"job update-status --state=A":    "id missing",
		"workflow get":                   "workflow name missing",
		"job query --sort up":            "invalid sort value",
		"job add-tags --id=1":            "needs a tag",
		"job crate":                      `did you mean "create"`,
		"man":                            "no man pages",
		"workflow create missing.yml":    "missing.yml",
		"job create --workflow k - a":    `takes no argument "a"`,
		"job get --id=1 --config no.yml": "no.yml",
		"job get --id=1 --jobs":          "unknown flag: --jobs",

		"job subscribe-status --id 1":                  `there is no command "subscribe-status"`,
		"job get --id=1 --host x":                      "--client-host and --client-port",
		"job get --id=1 --header a:b":                  "cannot send headers",
		"job query --format yaml":                      "prints JSON",
		"job update-status --id=1 --state A --actor z": "invalid actor: z; it must be CLIENT or WFX",
		"workflow delete":                              "needs the name of a workflow",
	} {
		if code := c.call("[1]", strings.Fields(line)...); code != 1 || !strings.HasPrefix(c.stderr.String(), "Error: ") || !strings.Contains(c.stderr.String(), want) {
			t.Errorf("%s: exit code %d, %s", line, code, c.stderr.String())
		}
		if len(c.south.asked)+len(c.north.asked) > 0 {
			t.Errorf("%s: something was sent", line)
		}
	}
	if code := c.call("[1]", "job", "create", "--workflow", "k", "-"); code != 1 || !strings.Contains(c.stderr.String(), "the definition in "+cli.StdinName+" is not a JSON object") {
		t.Errorf("a definition that is no object: exit code %d, %s", code, c.stderr.String())
	}
}

// TestWfxctlSettings: flags come before the environment, and that before files; the files are those of wfx, in
// which there is more than flags.
func TestWfxctlSettings(t *testing.T) {
	c := newWfxctlCase(t)
	if err := os.WriteFile("wfx.yml", fmt.Appendf(nil, "client-port: 1\nmgmt-port: 1\nstorage: sqlite\nfilter: .id\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c.south.answer = `{"id":"1"}`
	if code := c.call("", "job", "get", "--id=1"); code != 0 || c.stdout.String() != "\"1\"\n" {
		t.Errorf("the environment before the file: exit code %d, %q, %s", code, c.stdout.String(), c.stderr.String())
	}
	t.Setenv("WFX_CLIENT_PORT", "1")
	if code := c.call("", "job", "get", "--id=1", "--client-port", c.south.port(), "--filter", ".id + .id"); code != 0 || c.stdout.String() != "\"11\"\n" {
		t.Errorf("flags before all: exit code %d, %q, %s", code, c.stdout.String(), c.stderr.String())
	}
	if code := c.call("", "job", "get", "--id=1"); code != 1 || !strings.Contains(c.stderr.String(), "cannot be reached") {
		t.Errorf("exit code %d, %s", code, c.stderr.String())
	}
}

// TestWfxctlSettingsThatCannotBeRead: the line and the reason are told.
func TestWfxctlSettingsThatCannotBeRead(t *testing.T) {
	c := newWfxctlCase(t)
	for text, want := range map[string]string{"a: 1\nb: [1\n": "the settings in wfx.yml cannot be read: line ", "- 1\n": "they must be an object"} {
		if err := os.WriteFile("wfx.yml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if code := c.call("", "job", "query"); code != 1 || !strings.Contains(c.stderr.String(), want) {
			t.Errorf("%q: exit code %d, %s", text, code, c.stderr.String())
		}
	}
}

// TestWfxctlUnixSocketAndTLS: a side may be behind a unix socket, or need TLS.
func TestWfxctlUnixSocketAndTLS(t *testing.T) {
	c := newWfxctlCase(t)
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: c.south.Config.Handler}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
	if code := c.call("", "job", "get", "--id=1", "--client-port=1", "--client-unix-socket", socket); code != 0 || len(c.south.asked) != 1 {
		t.Errorf("unix socket: exit code %d, %s", code, c.stderr.String())
	}
	// One that is given alone is that of both sides.
	if code := c.call("", "job", "query", "--client-port=1", "--mgmt-unix-socket", socket); code != 0 || len(c.south.asked) != 1 {
		t.Errorf("the only socket: exit code %d, %s", code, c.stderr.String())
	}
	if code := c.call("", "health", "--color=never", "--client-unix-socket", socket); code != 0 ||
		c.stdout.String() != "Health report:\n\nnorthbound\tup\t(unix:"+socket+")\nsouthbound\tup\t(unix:"+socket+")\n" {
		t.Errorf("health: exit code %d, %q", code, c.stdout.String())
	}
	if code := c.call("", "job", "query", "--client-unix-socket", socket+"2", "--mgmt-unix-socket", socket); code != 1 || !strings.Contains(c.stderr.String(), "unix:"+socket+"2 cannot be reached") {
		t.Errorf("each side has its own: exit code %d, %s", code, c.stderr.String())
	}
	secure := httptest.NewTLSServer(c.north.Config.Handler)
	t.Cleanup(secure.Close)
	u, _ := url.Parse(secure.URL)
	args := []string{"job", "delete", "--id=1", "--enable-tls", "--mgmt-tls-host=127.0.0.1", "--mgmt-tls-port=" + u.Port()}
	if code := c.call("", args...); code != 1 || !strings.Contains(c.stderr.String(), "certificate") {
		t.Errorf("a certificate that is not trusted: exit code %d, %s", code, c.stderr.String())
	}
	if code := c.call("", append(args, "--tls-ca", writeCertificate(t, secure))...); code != 0 || len(c.north.asked) != 1 {
		t.Errorf("TLS: exit code %d, %s", code, c.stderr.String())
	}
}

func TestCalledAsWfxctl(t *testing.T) {
	for name, want := range map[string]bool{"/usr/bin/wfxctl": true, "wfxctl.exe": true, "lockstep": false, "/wfxctl/lockstep": false} {
		if wfxctl.Called(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	c := newWfxctlCase(t)
	var out, errs bytes.Buffer
	if code := lockstep([]string{"wfxctl", "job", "get-status", "--id=1"}, strings.NewReader(""), &out, &errs); code != 0 || len(c.south.asked) != 1 {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
}

// TestWfxctlEvents: every event is a line on stdout; when the stream ends so does the command.
func TestWfxctlEvents(t *testing.T) {
	c := newWfxctlCase(t)
	c.south.answer = "data: {\"action\":\"CREATE\",\"ctime\":\"2026-01-31T12:00:00Z\",\"job\":{\"id\":\"1\"},\"tags\":[]}\nid: 1\n\n"
	if code := c.call("", "job", "events", "--client-id=dana", "--job-id=1,2", "--workflow=k", "--tag=x"); code != 1 || !strings.HasPrefix(c.stdout.String(), `{"action":"CREATE",`) || strings.Count(c.stdout.String(), "\n") != 1 {
		t.Errorf("exit code %d, %q, %s", code, c.stdout.String(), c.stderr.String())
	}
	if want := "GET /api/wfx/v1/jobs/events?clientIds=dana&jobIds=1%2C2&tags=x&workflows=k"; len(c.south.asked) != 1 || c.south.asked[0] != want {
		t.Errorf("asked %q, want %q", c.south.asked, want)
	}
	if !strings.HasPrefix(c.stderr.String(), "SSE connection established\n") {
		t.Errorf("stderr %q", c.stderr.String())
	}
}

// TestWfxctlEventsConnectAgain: with --auto-reconnect a stream that breaks is gone on with, and that is told.
func TestWfxctlEventsConnectAgain(t *testing.T) {
	c := newWfxctlCase(t)
	const event = `{"action":"CREATE","ctime":"2026-01-31T12:00:00Z","job":{"id":"1"},"tags":[]}`
	var from []string
	c.south.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from = append(from, r.Header.Get("Last-Event-ID")); len(from) == 3 {
			w.WriteHeader(http.StatusGone) // which ends it
			return
		}
		_, _ = fmt.Fprintf(w, "data: %s\nid: %d\n\n", event, len(from))
	})
	if code := c.call("", "job", "events", "--auto-reconnect"); code != 1 || c.stdout.String() != event+"\n"+event+"\n" {
		t.Errorf("exit code %d, %q, %s", code, c.stdout.String(), c.stderr.String())
	}
	if want := "[ 1 2]"; fmt.Sprint(from) != want {
		t.Errorf("asked from %v, want %s", from, want)
	}
	if n := strings.Count(c.stderr.String(), "SSE connection lost. Attempting to reconnect\n"); n != 2 {
		t.Errorf("told %d times that the connection is lost:\n%s", n, c.stderr.String())
	}
}

// wfxPorts gives the variables of wfxctl the ports of the script's server.
func wfxPorts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: wfxports")
	}
	for side, variable := range map[string]string{"CLIENT": "LOCKSTEP_SOUTH_URL", "MGMT": "LOCKSTEP_URL"} {
		u, err := url.Parse(ts.Getenv(variable))
		ts.Check(err)
		ts.Setenv("WFX_"+side+"_HOST", u.Hostname())
		ts.Setenv("WFX_"+side+"_PORT", u.Port())
	}
}

// writeCertificate writes the certificate of a server into a file.
func writeCertificate(t *testing.T, s *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
