package lockstep_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

const (
	canary    = "canary-3f9a7c"       // the text of a secret
	rotated   = "canary-after-0b56f2" // and what it becomes
	inMember  = "canary-inside-77e1"  // a text inside of another
	untouched = "marker-no-secret"    // a text that is none
)

// spreading takes a secret to every place that data can get to, waits, and fails with it.
const spreading = `
document: {dsl: 1.0.3, namespace: default, name: spreading, version: 1.0.0}
use: {secrets: [token, login]}
do:
- echo:
    call: http
    with:
      method: post
      endpoint: {uri: SERVER/echo, authentication: {bearer: {token: '${ $secrets.token }'}}}
      headers:
        Own: '${ "\($authorization.scheme):\($authorization.parameter):\($secrets.login.password)" }'
        User-Agent: '${ $authorization.parameter }'
      query: {key: '${ $secrets.login.password }'}
      body: {token: '${ $secrets.token }', mine: '‹secret token›', marker: marker-no-secret}
- keep:
    set: {all: '${ $secrets }', text: '${ "x " + $secrets.token + " y" }', key: '${ {($secrets.token): 1} }', answer: '${ . }'}
    export: {as: '${ . + {old: $context} }'}
- many:
    for: {in: '${ [$secrets.token, 1] }'}
    do: [{one: {set: {item: '${ $item }', all: '${ . }'}}}]
- both:
    fork:
      branches:
      - a: {set: '${ $secrets.token }'}
      - b: {call: named, with: {token: '${ $secrets.token }'}}
- refused:
    try:
    - ask: {call: http, with: {method: post, endpoint: SERVER/refuse, body: '${ $secrets.token }'}}
    catch: {as: problem, do: [{note: {set: {why: '${ $problem }'}}}]}
- wrong:
    try: [{compute: {set: '${ $secrets.token | tonumber }'}}]
    catch: {as: problem, do: [{note: {set: {why: '${ $problem }'}}}]}
- tell: {emit: {event: {with: {type: told, subject: '${ $secrets.token }', data: {token: '${ $secrets.token }'}}}}}
- below: {run: {workflow: {namespace: default, name: below, version: 1.0.0, input: {token: '${ $secrets.token }'}}}}
- hear: {listen: {to: {one: {with: {type: goOn}}}}}
- again: {call: http, with: {method: post, endpoint: SERVER/echo, headers: {X-Request-Id: '${ $secrets.token }', Api-Key: '${ $secrets.token }'}, body: {now: '${ $context.text }', kept: '${ $context.all.login.password }'}}}
- fail: {raise: {error: {type: https://example.com/bad, status: 500, title: '${ $secrets.token }', detail: '${ "no: " + $secrets.token }'}}}
`

// below lists no secrets, and gets none.
const below = `
document: {dsl: 1.0.3, namespace: default, name: below, version: 1.0.0}
do: [{give: {set: {got: '${ .token }'}}}]
`

// TestSecretsAreNotTold: the only ones who see a secret are the expressions of the definition that lists it,
// and those that it calls.
func TestSecretsAreNotTold(t *testing.T) {
	var token atomic.Value
	token.Store(canary)
	var heard recorder
	server := newServer(t, &heard)
	log := newSyncBuffer()
	path := filepath.Join(t.TempDir(), "test.db")
	options := []lockstep.Option{
		lockstep.OutboundAllow(strings.TrimPrefix(server, "http://")),
		lockstep.Logger(slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		lockstep.Func("named", func(_ context.Context, in map[string]string) (map[string]string, error) {
			heard.hear("named " + in["token"])
			return in, nil
		}),
	}
	known := lockstep.Secrets(func(name string) (expr.Value, bool) {
		switch name {
		case "token":
			return expr.String(token.Load().(string)), true
		case "login":
			return expr.Object(expr.Member{Key: "password", Value: expr.String(inMember)}), true
		}
		return expr.Null, false
	})
	told := func(e *lockstep.Engine) {
		t.Helper()
		headers := 0
		for _, route := range reading(t, e) {
			answer := httptest.NewRecorder()
			e.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "http://localhost"+route, nil))
			if answer.Code != http.StatusOK {
				t.Errorf("%s: %d %s", route, answer.Code, answer.Body)
			}
			hasNone(t, route, answer.Body.Bytes())
			headers += strings.Count(answer.Body.String(), `{"name":"Own"},{"name":"User-Agent"}`)
		}
		if headers != 1 {
			t.Errorf("there are %d redacted headers, want those of one call", headers)
		}
		hasNone(t, "the log", []byte(log.String()))
	}

	e, err := lockstep.Open(t.Context(), "sqlite:"+path, append(options, known)...)
	if err != nil {
		t.Fatal(err)
	}
	deploy(e, lockstep.Text(below))
	deploy(e, lockstep.Text(strings.ReplaceAll(spreading, "SERVER", server)))
	id, err := e.Start(t.Context(), "spreading", nil)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range e.Watch(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Type == "waiting" && r.Node == "hear" {
			break
		}
	}
	for _, want := range []string{
		"/echo key=" + inMember + " Bearer " + canary + " Bearer:" + canary + ":" + inMember, `"token":"` + canary + `"`, `"mine":"‹secret token›"`, "named " + canary, "/refuse    \"" + canary + `"`,
	} {
		if !strings.Contains(heard.heard(), want) {
			t.Errorf("%q was not sent, only\n%s", want, heard.heard())
		}
	}
	told(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	onDisk(t, path)

	// Without the secret the instance waits for it.
	e, err = lockstep.Open(t.Context(), "sqlite:"+path, options...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Send(t.Context(), event.Event{ID: "1", Source: "test", Type: "goOn"}); err != nil {
		t.Fatal(err)
	}
	log.waitFor(`there is no secret`)
	if in, err := e.Get(t.Context(), id); err != nil || in.Status != "waiting" || in.Quarantine != "" {
		t.Errorf("%+v, %v", in, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	// With another value it goes on with that one.
	token.Store(rotated)
	if e, err = lockstep.Open(t.Context(), "sqlite:"+path, append(options, known)...); err != nil {
		t.Fatal(err)
	}
	in, err := e.Wait(t.Context(), id)
	if err != nil || in.Status != "failed" {
		t.Errorf("%+v, %v", in, err)
	}
	if want := `{"kept":"` + inMember + `","now":"x ` + rotated + ` y"}`; !strings.Contains(heard.heard(), want) {
		t.Errorf("%q was not sent, only\n%s", want, heard.heard())
	}
	told(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	onDisk(t, path)
}

// reading is what can be read of instances.
func reading(t *testing.T, e *lockstep.Engine) []string {
	out := []string{
		"/api/v1/instances", "/api/v1/calls", "/api/v1/events", "/api/v1/failures", "/api/v1/stats", "/metrics",
		"/api/v1/definitions/spreading/heat",
	}
	n := 0
	for in, err := range e.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
		of := "/api/v1/instances/" + in.ID
		out = append(out, of, of+"/history", of+"/why")
	}
	if n != 2 {
		t.Errorf("there are %d instances, want a parent and a child", n)
	}
	return out
}

// hasNone reports secrets in a text.
func hasNone(t *testing.T, where string, text []byte) {
	t.Helper()
	for _, secret := range []string{canary, rotated, inMember} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret))} {
			if at := bytes.Index(text, []byte(form)); at >= 0 {
				t.Errorf("%s has a secret in it: %.200q", where, text[max(0, at-100):])
			}
		}
	}
}

// onDisk reports secrets in the files of a store, and in a backup of it.
func onDisk(t *testing.T, path string) {
	t.Helper()
	db, err := sqlite.Open(path, sqlite.Options{})
	if err == nil {
		err = errors.Join(db.Backup(t.Context(), path+time.Now().Format(".150405.000000000")), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".db") && !bytes.Contains(text, []byte(untouched)) {
			t.Errorf("%s does not have what is no secret: nothing can be found in it", name)
		}
		hasNone(t, name, text)
	}
}

// recorder is a server that answers with what it was sent, and remembers it.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorder) hear(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

func (r *recorder) heard() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	line := req.URL.Path + " " + req.URL.RawQuery + " " + req.Header.Get("Authorization") + " " + req.Header.Get("Own") + " " + string(body)
	r.hear(line)
	if req.URL.Path == "/refuse" {
		w.WriteHeader(http.StatusTeapot)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Set-Cookie", "token="+canary)
	w.Header().Set("X-Request-Id", req.Header.Get("X-Request-Id"))
	w.Header().Set("X-Trace-Id", "for "+req.Header.Get("Authorization"))
	_ = json.NewEncoder(w).Encode(map[string]any{"line": line})
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu    sync.Mutex
	b     bytes.Buffer
	wrote *sync.Cond
}

func newSyncBuffer() *syncBuffer {
	s := new(syncBuffer)
	s.wrote = sync.NewCond(&s.mu)
	return s
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.wrote.Broadcast()
	return s.b.Write(p)
}

// waitFor returns when a text is written.
func (s *syncBuffer) waitFor(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !bytes.Contains(s.b.Bytes(), []byte(text)) {
		s.wrote.Wait()
	}
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
