package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/nodetest"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func TestPathsAndMethods(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), nil)
	for _, path := range []string{"/none", "/api", "/api/v1", "/api/v1/", "/api/v1/instances/", "/api//v1/stats", "/api/v1/../v1/stats", "/api/v1/stats/x", "/api/v2/stats"} {
		w.get(path).problem(api.CodeNoRoute)
	}
	a := w.do("PUT", "/api/v1/instances/x", "{}").problem(api.CodeMethod)
	if got := a.header.Get("Allow"); got != "DELETE, GET, HEAD, OPTIONS" {
		t.Errorf("Allow %q", got)
	}
	if got := w.do("OPTIONS", "/api/v1/events", "").want(204).header.Get("Allow"); got != "GET, HEAD, OPTIONS, POST" {
		t.Errorf("Allow %q", got)
	}
	if a := w.do("HEAD", "/api/v1/stats", "").want(200); a.text != "" || a.header.Get("Content-Length") == "" {
		t.Errorf("HEAD gives %q, %v", a.text, a.header)
	}
	w.get("/api/v1/stats?x=1").problem(api.CodeBadParameter)
	w.get("/api/v1/instances?lmit=1").problem(api.CodeBadParameter).says(`did you mean \"limit\"?`)
	w.get("/api/v1/stats?%zz").problem(api.CodeBadParameter)
	w.get("/problems/not-found").want(200).is("status", "404")
	w.get("/problems/none").problem(api.CodeNotFound)
	w.get("/openapi.json").want(200).is("openapi", `"3.1.0"`)
	w.get("/openapi.yaml").want(200).says("openapi: 3.1.0")
	w.get("/healthz").want(200)
	w.get("/readyz").want(200)
}

// TestOddIDs: ids with every kind of character come through paths unharmed.
func TestOddIDs(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.do("POST", "/api/v1/definitions", strings.Replace(greeting("1/2 ä&?", "x"), "id: greet", `id: "a/b c%2F:é"`, 1), "Content-Type", "application/yaml").want(201)
	a := w.get("/api/v1/definitions/a%2Fb%20c%252F:%C3%A9?version=1%2F2+%C3%A4%26%3F").want(200).is("id", `"a/b c%2F:é"`)
	if a.str("version") != "1/2 ä&?" {
		t.Errorf("version %q", a.str("version"))
	}
	id := w.do("POST", "/api/v1/definitions/a%2Fb%20c%252F:%C3%A9/instances", "{}", "Idempotency-Key", "k").t2("id") // has a colon
	w.get("/api/v1/instances/" + id).want(200)
}

func TestTraces(t *testing.T) {
	var log nodetest.Buffer
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) { c.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	a := w.do("GET", "/api/v1/instances/none", "", "Traceparent", "00-"+id+"-00f067aa0ba902b7-01").problem(api.CodeNotFound).is("traceId", `"`+id+`"`)
	if got := a.header.Get("Traceparent"); !strings.HasPrefix(got, "00-"+id+"-") || strings.Contains(got, "00f067aa0ba902b7") || !strings.HasSuffix(got, "-01") {
		t.Errorf("traceparent %q", got)
	}
	for _, want := range []string{id, `"operation":"getInstance"`, `"status":404`, `"who":"anonymous"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s: %s", want, log.String())
		}
	}
	for _, bad := range []string{"", "x", "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "ff-" + id + "-00f067aa0ba902b7-01", "00-" + id + "-00f067aa0ba902b7-01-x"} {
		if got := w.do("GET", "/healthz", "", "Traceparent", bad).header.Get("Traceparent"); strings.Contains(got, id) || len(got) != 55 {
			t.Errorf("traceparent %q gives %q", bad, got)
		}
	}
}

func TestBodyLimits(t *testing.T) {
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.Body, c.Limits.Definition = 100, 300 })
	w.put(greeting("1", strings.Repeat("x", 300)), "").problem(api.CodeTooLarge).is("limit", `"document-bytes"`)
	w.put(greeting("1", "x"), "").want(201)
	w.do("POST", "/api/v1/definitions/greet/instances", `{"a":"`+strings.Repeat("x", 100)+`"}`).problem(api.CodeTooLarge).is("limit", `"request-bytes"`)
}

// sick is a store that fails as it is told.
type sick struct {
	store.Store
	err atomic.Pointer[error]
}

func (s *sick) fail(err error) { s.err.Store(&err) }

func (s *sick) trouble() error {
	if p := s.err.Load(); p != nil {
		return *p
	}
	return nil
}

// Commit implements store.Store.
func (s *sick) Commit(ctx context.Context, c store.Commit) error {
	if err := s.trouble(); err != nil {
		return err
	}
	return s.Store.Commit(ctx, c)
}

// Ingest implements store.Store.
func (s *sick) Ingest(ctx context.Context, e store.Event, emit int64, route func(store.Event, store.View) (store.Routing, error)) (store.Event, error) {
	if err := s.trouble(); err != nil {
		return store.Event{}, err
	}
	return s.Store.Ingest(ctx, e, emit, route)
}

// PutDefinitions implements store.Store.
func (s *sick) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) ([]store.Definition, error) {
	if err := s.trouble(); err != nil {
		return nil, err
	}
	return s.Store.PutDefinitions(ctx, ds, move)
}

// Definition implements store.Store.
func (s *sick) Definition(ctx context.Context, id, version string) (store.Definition, error) {
	if err := s.trouble(); err != nil && !errors.Is(err, store.ErrFull) {
		return store.Definition{}, err
	}
	return s.Store.Definition(ctx, id, version)
}

// Writable implements store.Store.
func (s *sick) Writable(context.Context) error { return s.trouble() }

// TestStoreTrouble: nothing is acknowledged that is not stored, and it heals by itself.
func TestStoreTrouble(t *testing.T) {
	s := &sick{Store: newMemory()}
	w := newWorld(t, s, nil)
	w.deploy("await")
	writes := func() []answered {
		return []answered{
			w.do("POST", "/api/v1/definitions/await/instances", `{"order":"1"}`, "Idempotency-Key", "k"),
			w.event(`{"specversion":"1.0","id":"1","source":"s","type":"t"}`),
			w.batch(`[{"specversion":"1.0","id":"2","source":"s","type":"t"}]`),
			w.put(greeting("1", "x"), ""),
		}
	}
	s.fail(fmt.Errorf("write: %w", store.ErrFull))
	for _, a := range writes() {
		if a.problem(api.CodeStorageFull).header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	w.get("/readyz").problem(api.CodeNotReady).is("errors", `[{"code":"storage-full","message":"there is no space left in the store"}]`)
	w.get("/api/v1/nodes").want(200).is("unready", `["there is no space left in the store"]`)
	s.fail(fmt.Errorf("write: %w: a.db is gone", store.ErrMoved))
	for _, a := range writes() {
		if a.problem(api.CodeStore).says("deleted, moved or replaced"); strings.Contains(a.text, "a.db") {
			t.Errorf("%s", a.text)
		}
	}
	s.fail(errors.New("the database is gone"))
	for _, a := range writes() {
		if a.problem(api.CodeStore).header.Get("Retry-After") == "" || strings.Contains(a.text, "database") {
			t.Errorf("%s", a.text)
		}
	}
	// A deadline of the database is not the client's: nobody was slow to send.
	for _, deadline := range []error{os.ErrDeadlineExceeded, context.DeadlineExceeded} {
		s.fail(fmt.Errorf("read tcp: %w", deadline))
		for _, a := range append(writes(), w.get("/api/v1/definitions/await")) {
			a.problem(api.CodeStore).says("the store does not respond")
		}
	}
	s.fail(fmt.Errorf("write: %w: %w", store.ErrUncertain, context.DeadlineExceeded))
	for _, a := range writes() {
		a.problem(api.CodeUncertain).says("it is not known whether this happened")
		if a.status != 504 || strings.Contains(a.text, "nothing happened") {
			t.Errorf("%d %s", a.status, a.text)
		}
	}
	w.get("/readyz").problem(api.CodeNotReady).is("errors", `[{"code":"store-read","message":"the store cannot be read"}]`)
	w.get("/healthz").want(200)
	w.get("/api/v1/instances/count").want(200).is("count", "0")
	w.get("/api/v1/events").want(200).is("items", "[]")
	s.fail(nil)
	w.get("/readyz").want(200)
	for i, a := range writes() {
		a.want([]int{202, 202, 202, 201}[i])
	}
}

// TestReadinessFollowsWrites: a server whose store can be read and not written is not ready.
func TestReadinessFollowsWrites(t *testing.T) {
	for code, err := range map[string]error{
		"storage-full": fmt.Errorf("write: %w", store.ErrFull),
		"store-moved":  fmt.Errorf("write: %w: /secret/a.db", store.ErrMoved),
		"store-write":  errors.New("disk I/O error on /secret/a.db"),
	} {
		s := &unwritable{newMemory(), err}
		w := newWorld(t, s, nil)
		if a := w.get("/readyz").problem(api.CodeNotReady).says(`"code":"` + code + `"`); strings.Contains(a.text, "secret") {
			t.Errorf("%s", a.text)
		}
		s.err = nil
		w.get("/readyz").want(200)
	}
}

// unwritable is a store that can be read.
type unwritable struct {
	store.Store
	err error
}

// Writable implements store.Store.
func (s *unwritable) Writable(context.Context) error { return s.err }

// TestBatchTakenInPart: what a batch has stored before the store failed is recognised
// when it is sent again.
func TestBatchTakenInPart(t *testing.T) {
	s := &failsAfter{Store: newMemory()}
	s.left.Store(2)
	w := newWorld(t, s, nil)
	text := `[{"specversion":"1.0","id":"1","source":"s","type":"t"},{"specversion":"1.0","id":"2","source":"s","type":"t"},{"specversion":"1.0","id":"3","source":"s","type":"t"}]`
	w.batch(text).problem(api.CodeStore).says("the first 2 of 3 events were accepted")
	s.left.Store(100)
	w.batch(text).want(202).is("duplicates", "2").is("accepted", "1")
}

type failsAfter struct {
	store.Store
	left atomic.Int64
}

// Ingest implements store.Store.
func (s *failsAfter) Ingest(ctx context.Context, e store.Event, emit int64, route func(store.Event, store.View) (store.Routing, error)) (store.Event, error) {
	if s.left.Add(-1) < 0 {
		return store.Event{}, errors.New("gone")
	}
	return s.Store.Ingest(ctx, e, emit, route)
}

// blocking is a store whose reads of definitions wait.
type blocking struct {
	store.Store
	asked   chan struct{}
	release chan struct{}
}

// ListDefinitions implements store.Store.
func (b *blocking) ListDefinitions(ctx context.Context) ([]store.Definition, error) {
	select {
	case b.asked <- struct{}{}:
		<-b.release
	default: // while the engine starts
	}
	return b.Store.ListDefinitions(ctx)
}

// TestOverCapacity: beyond the limit the answer is 429 at once; those in flight finish,
// and who waits for an end does not count.
func TestOverCapacity(t *testing.T) {
	b := &blocking{Store: newMemory(), asked: make(chan struct{}), release: make(chan struct{})}
	w := newWorld(t, b, func(c *Config, _ *engine.Config) { c.Limits.Requests = 2 })
	w.deploy("await")
	id := w.start("await", `{"order":"1"}`)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			for w.get("/api/v1/instances/"+id+"?wait=1m").str("status") != "cancelled" {
			}
		})
	}
	for range 2 {
		wg.Go(func() { w.list(t) })
		<-b.asked
	}
	a := w.get("/api/v1/stats").problem(api.CodeBusy).is("limit", `"requests-in-flight"`)
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
	w.get("/healthz").want(200)
	w.get("/metrics").want(200).says("lockstep_http_requests_in_flight 2\n")
	close(b.release)
	for w.do("POST", "/api/v1/instances/"+id+"/cancel", "").status == http.StatusTooManyRequests {
	}
	wg.Wait()
}

// list asks for definitions until the request is let in.
func (w *world) list(t *testing.T) {
	for {
		a := w.get("/api/v1/definitions")
		if a.status == 200 {
			return
		}
		if a.status != http.StatusTooManyRequests {
			t.Errorf("%d %s", a.status, a.text)
			return
		}
	}
}

// TestPanic: a handler that panics is one request's trouble.
func TestPanic(t *testing.T) {
	var log nodetest.Buffer
	w := newWorld(t, panicking{newMemory()}, func(c *Config, _ *engine.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	a := w.get("/api/v1/stats").problem(api.CodeInternal)
	if strings.Contains(a.text, "ouch") || !strings.Contains(log.String(), "ouch") {
		t.Errorf("answer %s, log %s", a.text, log.String())
	}
	w.get("/healthz").want(200)
}

type panicking struct{ store.Store }

// Stats implements store.Store.
func (panicking) Stats(context.Context) ([]store.Stat, error) { panic("ouch") }

// TestServe runs a whole server and stops it under load: what is in flight finishes,
// streams and waits end, the engine comes to rest.
func TestServe(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), nil)
	l, err := Listen(Listening{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	w.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx, l) }()
	w.deploy("await", "pay")
	begun, finish := make(chan struct{}), make(chan struct{})
	w.answers.put("charge", func(effect.Call) effect.Outcome {
		close(begun)
		<-finish
		return effect.Outcome{}
	})
	w.answers.put("ship", ok("shipped"))
	paying := w.start("pay", `{"amount":1}`)
	<-begun
	id := w.start("await", `{"order":"1"}`)
	r := w.stream("")
	r.want("ready")
	waited := make(chan answered, 1)
	go func() { waited <- w.get("/api/v1/instances/" + id + "?wait=1m") }()
	for w.server.north.waiting.Used() == 0 {
		w.get("/healthz").want(200)
	}
	cancel()
	(<-waited).want(200).is("status", `"waiting"`)
	for ok := true; ok; {
		_, ok = r.next()
	}
	select {
	case err := <-served:
		t.Fatalf("it ends while a call is in flight: %v", err)
	default:
	}
	close(finish)
	if err := <-served; err != nil {
		t.Error(err)
	}
	records, err := w.engine.History(t.Context(), paying)
	if err != nil || !slices.ContainsFunc(records, func(r core.Record) bool { return r.Type == core.RecReturned && r.Name == "charge" }) {
		t.Errorf("the call's answer is lost: %+v, %v", records, err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}

// TestListenerFails: the error of a listener ends the server.
func TestListenerFails(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := w.server.Serve(t.Context(), l); err == nil {
		t.Error("a closed listener is served")
	}
}

// TestSlowClients: one that does not finish its request in time is let go.
func TestSlowClients(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.ReadTimeout = 50 * time.Millisecond })
	l, err := Listen(Listening{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx, l) }()
	for _, begin := range []string{
		"GET /healthz HTT",
		"POST /api/v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/cloudevents+json\r\nContent-Length: 100\r\n\r\n{",
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, begin); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(c) // ends when the server hangs up
		if err != nil || strings.HasPrefix(begin, "POST") && !strings.Contains(string(text), "request-timeout") {
			t.Errorf("%q: %v", text, err)
		}
		_ = c.Close()
	}
	cancel()
	<-served
}

func TestMetrics(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.deploy("hello")
	w.start("hello", `{}`)
	a := w.get("/metrics").want(200)
	for _, want := range []string{
		`lockstep_instances{definition="hello",version="1.0",status="completed"} 1`,
		`lockstep_http_requests_total{operation="startInstance",status="200"} 1`,
		`lockstep_http_request_duration_seconds_bucket{operation="startInstance",le="+Inf"} 1`,
		"lockstep_store_up 1",
	} {
		a.says(want)
	}
	names := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(a.text), "\n") {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			family, _, _ := strings.Cut(name, " ")
			if names[family] {
				t.Errorf("%s is there twice", family)
			}
			names[family] = true
		}
	}
}

// TestWaitOutlivesTheTimeForReading: that a request must arrive in time does not mean
// that its answer must.
func TestWaitOutlivesTheTimeForReading(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), func(c *Config, _ *engine.Config) {
		c.Limits.ReadTimeout, c.Limits.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	})
	l, err := Listen(Listening{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	w.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx, l) }()
	w.deploy("await")
	waited := make(chan answered, 2)
	go func() {
		waited <- w.do("POST", "/api/v1/definitions/await/instances?wait=1m", `{"order":"1"}`, "Idempotency-Key", "k")
	}()
	for w.server.north.waiting.Used() < 1 {
		w.get("/healthz").want(200)
	}
	id := w.get("/api/v1/instances").t2("items.0.id")
	go func() { waited <- w.get("/api/v1/instances/" + id + "?wait=1m") }()
	for w.server.north.waiting.Used() < 2 {
		w.get("/healthz").want(200)
	}
	for range 3 { // each is let go when the time has passed once more
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(c, "GET /healthz HTT"); err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(c)
		_ = c.Close()
	}
	w.do("POST", "/api/v1/instances/"+id+"/cancel", "").want(200)
	for range 2 {
		(<-waited).want(200).is("status", `"cancelled"`)
	}
	cancel()
	<-served
}

// TestPagesAreBoundedInBytes: few large items make a page as many small ones do, and
// one that is larger than a page still comes.
func TestPagesAreBoundedInBytes(t *testing.T) {
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.PageBytes = 8 << 10 })
	w.deploy("pay")
	big := strings.Repeat("x", 3<<10)
	for range 3 {
		w.parkedCall(w.start("pay", `{"amount":"`+big+`"}`), "charge")
	}
	a := w.get("/api/v1/calls").want(200)
	if n := a.at("items").Len(); n != 2 {
		t.Errorf("%d calls on a page", n)
	}
	w.get("/api/v1/calls?after="+a.t2("next")).want(200).is("items.1", "null").is("next", "null")
	huge := strings.Repeat("x", 8<<10)
	id := w.start("pay", `{"amount":"`+huge+`"}`)
	a = w.get("/api/v1/instances/" + id + "/history").want(200)
	if n := a.at("items").Len(); n != 1 {
		t.Errorf("%d records on a page", n)
	}
	seen, after := 1, a.t2("next")
	for after != "" {
		a = w.get("/api/v1/instances/" + id + "/history?after=" + after).want(200)
		seen, after = seen+a.at("items").Len(), a.str("next")
	}
	if records, err := w.engine.History(t.Context(), id); err != nil || len(records) != seen {
		t.Errorf("%d records in pages, %d in whole, %v", seen, len(records), err)
	}
	w.answers.put("charge", failing("CardDeclined"))
	w.reach(w.start("pay", `{"amount":"`+big+`"}`), "failed")
	w.answers.put("charge", ok("charged"))
	w.answers.put("ship", ok("shipped"))
	w.reach(w.start("pay", `{"amount":"`+big+`"}`), "completed")
	if a := w.get("/api/v1/instances").want(200); len(a.text) > 10_000 {
		t.Errorf("a list of instances has %d bytes", len(a.text))
	}
}
