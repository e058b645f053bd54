package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonschema"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

// world is a server over a real engine, with a client that holds it to the contract.
type world struct {
	t       *testing.T
	server  *Server
	engine  *engine.Engine
	store   store.Store
	url     string
	client  *http.Client
	token   string
	answers *functions
}

// functions answers calls: by name, with "parked" where nothing is set.
type functions struct {
	mu  sync.Mutex
	set map[string]func(effect.Call) effect.Outcome
}

func (f *functions) put(name string, answer func(effect.Call) effect.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.set[name] = answer
}

// parks reports whether calls of a function wait to be answered by hand.
func (f *functions) parks(fn *ir.Function) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.set[fn.Name] == nil
}

// Invoke implements effect.Invoker.
func (f *functions) Invoke(_ context.Context, c effect.Call) effect.Outcome {
	f.mu.Lock()
	answer := f.set[c.Function]
	f.mu.Unlock()
	if answer == nil {
		return effect.Outcome{Parked: true}
	}
	return answer(c)
}

func languages() expr.Languages {
	langs := jsonpath.Languages()
	langs[jsonschema.Lang] = jsonschema.Compiler{}
	return langs
}

// newWorld serves an engine over a store until the test is over. The engine runs.
func newWorld(t *testing.T, s store.Store, change func(*Config, *engine.Config)) *world {
	t.Helper()
	w := newWorldAtRest(t, s, change)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.engine.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return w
}

// newWorldAtRest serves an engine that does not run: what it does, Poll does.
func newWorldAtRest(t *testing.T, s store.Store, change func(*Config, *engine.Config)) *world {
	t.Helper()
	w := &world{t: t, store: s, answers: &functions{set: map[string]func(effect.Call) effect.Outcome{}}}
	ec := engine.Config{Store: s, Invoker: w.answers, Parks: w.answers.parks, Languages: languages()}
	sc := Config{Registry: dialect.NewRegistry(sw05.FrontEnd{}, wfxdef.FrontEnd{})}
	if change != nil {
		change(&sc, &ec)
	}
	var err error
	if w.engine, err = engine.New(ec); err != nil {
		t.Fatal(err)
	}
	sc.Engine = w.engine
	if w.server, err = New(sc); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(w.server.Handler())
	w.url = h.URL
	w.client = &http.Client{
		Transport:     witness(t, h.Client().Transport),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() { w.server.Stop(); h.Close() })
	return w
}

// answered is an answer that was read.
type answered struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	text   string
	body   expr.Value
}

// do makes a request. Headers are name and value in turn.
func (w *world) do(method, path, body string, headers ...string) answered {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if w.token != "" {
		r.Header.Set("Authorization", "Bearer "+w.token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	a, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer a.Body.Close()
	var text []byte
	if a.Header.Get("Content-Type") != "text/event-stream" { // which has no end
		text, err = io.ReadAll(a.Body)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	out := answered{w.t, method + " " + path, a.StatusCode, a.Header, string(text), expr.Null}
	if v, err := expr.ParseJSON(text); err == nil {
		out.body = v
	}
	return out
}

func (w *world) get(path string) answered {
	w.t.Helper()
	return w.do("GET", path, "")
}

// want fails the test unless the answer has that status.
func (a answered) want(status int) answered {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d %s, want %d", a.what, a.status, a.text, status)
	}
	return a
}

// problem fails the test unless the answer is that problem.
func (a answered) problem(code api.Code) answered {
	a.t.Helper()
	if got := a.str("code"); got != string(code) || a.header.Get("Content-Type") != "application/problem+json" {
		a.t.Fatalf("%s: %d %s, want the problem %s", a.what, a.status, a.text, code)
	}
	return a.want(kindOf(code).Status)
}

// at is a part of the body: "items.0.id".
func (a answered) at(path string) expr.Value {
	v := a.body
	for _, key := range strings.Split(path, ".") {
		if v.IsArray() {
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= v.Len() {
				return expr.Null
			}
			v = v.Items()[i]
			continue
		}
		v, _ = v.Get(key)
	}
	return v
}

func (a answered) str(path string) string { return a.at(path).Str() }

// is fails the test unless a part of the body is that JSON text.
func (a answered) is(path, want string) answered {
	a.t.Helper()
	v, err := expr.ParseJSON([]byte(want))
	if err != nil {
		a.t.Fatalf("%s is not JSON", want)
	}
	if got := a.at(path); !expr.Equal(got, v) {
		a.t.Fatalf("%s: %s is %s, want %s in %s", a.what, path, got, want, a.text)
	}
	return a
}

// says fails the test unless the text contains a part.
func (a answered) says(part string) answered {
	a.t.Helper()
	if !strings.Contains(a.text, part) {
		a.t.Fatalf("%s does not say %q: %s", a.what, part, a.text)
	}
	return a
}

// deploy deploys a definition of testdata.
func (w *world) deploy(names ...string) {
	w.t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
		if err != nil {
			w.t.Fatal(err)
		}
		w.do("POST", "/api/v1/definitions", string(text), "Content-Type", "application/yaml").want(201)
	}
}

// start starts an instance and waits until it rests in a status.
func (w *world) start(definition, input string) string {
	w.t.Helper()
	return w.do("POST", "/api/v1/definitions/"+definition+"/instances", input).t2("id")
}

// t2 is a text that must be there.
func (a answered) t2(path string) string {
	a.t.Helper()
	text := a.str(path)
	if text == "" {
		a.t.Fatalf("%s: there is no %s in %d %s", a.what, path, a.status, a.text)
	}
	return text
}

// reach waits until an instance has a status, without asking again and again: every
// change of anything is a reason to look.
func (w *world) reach(id, status string) answered {
	w.t.Helper()
	for {
		changed := w.engine.Changes()
		a := w.get("/api/v1/instances/" + id).want(200)
		if a.str("status") == status {
			return a
		}
		select {
		case <-changed:
		case <-w.t.Context().Done():
			w.t.Fatalf("instance %s does not become %s: %s", id, status, a.text)
		}
	}
}

// eachStore runs a test over every kind of store.
func eachStore(t *testing.T, test func(t *testing.T, s store.Store)) {
	t.Run("memory", func(t *testing.T) { test(t, memory.New()) })
	t.Run("sqlite", func(t *testing.T) {
		db, err := sqlite.Open(filepath.Join(t.TempDir(), "test.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		test(t, db.Namespace("default"))
	})
}

// Serve runs the engine and serves operators on the listeners until ctx ends.
func (s *Server) Serve(ctx context.Context, north ...net.Listener) error {
	return s.ServeSides(ctx, Listeners{North: north})
}
