package wfx_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/contract"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/sqlite"
)

var theContract = sync.OnceValue(func() *contract.Contract {
	text, err := wfx.ContractJSON()
	if err != nil {
		panic(err)
	}
	c, err := contract.New(text)
	if err != nil {
		panic(err)
	}
	c.Base = wfx.Base
	return c
})

// world is a server on a database, with both of its sides, and clients that hold every
// answer to the contract.
type world struct {
	t            *testing.T
	file         string
	store        store.Store
	engine       *engine.Engine
	handler      *server.Server
	south, north *side
	stop         func()
}

type side struct {
	t      *testing.T
	url    string
	client *http.Client
}

// noFunctions is an invoker for workflows that call nothing.
type noFunctions struct{}

func (noFunctions) Invoke(context.Context, effect.Call) effect.Outcome {
	return effect.Outcome{Parked: true}
}

func newWorld(t *testing.T, change func(*server.Config, *engine.Config)) *world {
	t.Helper()
	return openWorld(t, filepath.Join(t.TempDir(), "test.db"), change)
}

// openWorld serves a database until the test is over, or until stop is called.
func openWorld(t *testing.T, file string, change func(*server.Config, *engine.Config)) *world {
	t.Helper()
	db, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, file: file, store: db.Namespace("default")}
	ec := engine.Config{Store: w.store, Invoker: noFunctions{}, Languages: jsonpath.Languages()}
	sc := server.Config{Registry: dialect.NewRegistry(wfxdef.FrontEnd{}), Version: "1.2.3", Commit: "abc"}
	if change != nil {
		change(&sc, &ec)
	}
	if w.engine, err = engine.New(ec); err != nil {
		t.Fatal(err)
	}
	sc.Engine = w.engine
	s, err := server.New(sc)
	if err != nil {
		t.Fatal(err)
	}
	w.handler = s
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.engine.Run(ctx)
	}()
	south, north := httptest.NewServer(s.South()), httptest.NewServer(s.Handler())
	w.south, w.north = newSide(t, south), newSide(t, north)
	w.stop = sync.OnceFunc(func() {
		s.Stop()
		south.Close()
		north.Close()
		cancel()
		<-done
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	return w
}

func newSide(t *testing.T, h *httptest.Server) *side {
	client := h.Client()
	client.Transport = contract.Witness{Contract: theContract(), Next: client.Transport, Errorf: t.Errorf}
	return &side{t, h.URL, client}
}

// answered is an answer that was read.
type answered struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	text   string
}

// do makes a request below the base path, or below the root where the path says so with
// "//". Headers are name and value in turn.
func (s *side) do(method, path, body string, headers ...string) answered {
	s.t.Helper()
	at := wfx.Base + path
	if rest, root := strings.CutPrefix(path, "/"); root && strings.HasPrefix(rest, "/") {
		at = rest
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+at, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	a, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answered{s.t, method + " " + path, a.StatusCode, a.Header, string(text)}
}

func (s *side) get(path string, headers ...string) answered {
	s.t.Helper()
	return s.do("GET", path, "", headers...)
}

// want fails the test unless the answer has that status.
func (a answered) want(status int) answered {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: %d %s, want %d", a.what, a.status, a.text, status)
	}
	return a
}

// is fails the test unless the body is that text, but for the newline at its end. What
// differs from run to run stands for itself: see masked.
func (a answered) is(want string) answered {
	a.t.Helper()
	if got := masked(strings.TrimSuffix(a.text, "\n")); got != want {
		a.t.Fatalf("%s: the body is\n%s\nwant\n%s", a.what, got, want)
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

// refused fails the test unless the answer is that error, with its logref.
func (a answered) refused(status int, code, message string) answered {
	a.t.Helper()
	if !strings.Contains(a.header.Get("Content-Type"), "json") {
		a.t.Errorf("%s: the content type is %q", a.what, a.header.Get("Content-Type"))
	}
	return a.want(status).is(`{"errors":[{"code":"` + code + `","logref":"` + logrefs[code] + `","message":"` + message + `"}]}`)
}

var logrefs = map[string]string{
	"wfx.invalidRequest":          "96a37ea1f7d205ffbfa12334c6812727",
	"wfx.jobNotFound":             "11cc67762090e15b79a1387eca65ba65",
	"wfx.workflowNotFound":        "c452719774086b6e803bb8f6ecea9899",
	"wfx.workflowNotUnique":       "e1ee1f2aea859b9dd34579610e386da6",
	"wfx.workflowInvalid":         "18f57adc70dd79c7fb4f1246be8a6e04",
	"wfx.jobModifiedConcurrently": "dc00b05825b44934afeb9454f42a6440",
}

// plain fails the test unless the answer is an error of a request in plain text.
func (a answered) plain(status int) answered {
	a.t.Helper()
	if a.header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		a.t.Errorf("%s: %v", a.what, a.header)
	}
	return a.want(status)
}

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z`)
)

// masked replaces ids and times by names that are equal where they are equal.
func masked(text string) string {
	return number(times, "TIME", number(uuids, "ID", text))
}

func number(what *regexp.Regexp, name, text string) string {
	seen := map[string]string{}
	return what.ReplaceAllStringFunc(text, func(found string) string {
		if seen[found] == "" {
			seen[found] = name + string(rune('1'+len(seen)))
		}
		return seen[found]
	})
}

// file reads a file of testdata.
func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// kanban creates the workflow of most tests.
func (w *world) kanban() {
	w.t.Helper()
	w.north.do("POST", "/workflows", file(w.t, "kanban.json")).want(201)
}

// create creates a job, and returns its id.
func (w *world) create(body string) string {
	w.t.Helper()
	a := w.north.do("POST", "/jobs", body).want(201)
	return uuids.FindString(a.text)
}

func parse(t *testing.T, text string) expr.Value {
	t.Helper()
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// hashed is the SHA-256 of a text.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
