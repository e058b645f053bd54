package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestSlowBodiesKeepNobodyOut: those whose body does not come are not among the requests
// that are served.
func TestSlowBodiesKeepNobodyOut(t *testing.T) {
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.Requests, c.Limits.Arriving = 1, 4 })
	w.deploy("hello")
	handler := w.server.Handler()
	var ends []*io.PipeWriter
	codes := make(chan int, 4)
	for i := range 4 {
		body, end := io.Pipe()
		ends = append(ends, end)
		r := httptest.NewRequest("POST", "http://localhost/api/v1/definitions/hello/instances", body)
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", i+1)
		go func() {
			rec := httptest.NewRecorder()
			handler.ServeHTTP(rec, r)
			codes <- rec.Code
		}()
		if _, err := end.Write([]byte("{")); err != nil { // it is being read
			t.Fatal(err)
		}
	}
	w.get("/api/v1/stats").want(200)
	w.do("POST", "/api/v1/definitions/hello/instances", `{"name":"Ada"}`).problem(api.CodeBusy).is("limit", `"requests-arriving"`)
	for _, end := range ends {
		_, _ = end.Write([]byte(`"name":"Ada"}`))
		_ = end.Close()
		if code := <-codes; code != http.StatusAccepted && code != http.StatusOK {
			t.Errorf("a slow request: %d", code)
		}
	}
	if n := w.server.north.arrivingBytes.Used(); n != 0 {
		t.Errorf("%d bytes are kept of requests that are over", n)
	}
	small := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.ArrivingBytes = 5 })
	small.do("POST", "/api/v1/definitions/hello/instances", `{"name":"Ada"}`).problem(api.CodeBusy).is("limit", `"requests-arriving-bytes"`)
}

// TestProducerLearnsNothingOfOthers: who only sends events is not told what waits for them.
func TestProducerLearnsNothingOfOthers(t *testing.T) {
	byRole, tokens := tokensOf(t)
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Tokens = tokens })
	w.token = byRole[Admin]
	w.deploy("await")
	id := w.start("await", `{"order":"secret"}`)
	send := func(n int, order string) answered {
		return w.event(fmt.Sprintf(`{"specversion":"1.0","id":"%d","source":"shop","type":"paid","orderid":"%s"}`, n, order))
	}
	send(1, "x").want(202).says("secret").says(id)
	w.token = byRole[EventProducer]
	for n, order := range map[int]string{2: "x", 3: "secret"} {
		a := send(n, order).want(202).is("accepted", "1").is("events.0.result", `"accepted"`)
		if strings.Contains(a.text, id) || strings.Contains(a.text, "waits for") {
			t.Errorf("the producer is told %s", a.text)
		}
	}
}

// broken is a store whose programs are none.
type broken struct{ store.Store }

func (b broken) Definition(ctx context.Context, id, version string) (store.Definition, error) {
	d, err := b.Store.Definition(ctx, id, version)
	if d.ID == "hello" {
		d.Program = []byte("{}")
	}
	return d, err
}

// TestDamagedDefinition: to try again does not help, so nobody is told to.
func TestDamagedDefinition(t *testing.T) {
	s := newMemory()
	newWorld(t, s, nil).deploy("hello")
	w := newWorld(t, broken{hidden{s}}, nil)
	a := w.do("POST", "/api/v1/definitions/hello/instances", `{}`).problem(api.CodeDamaged)
	if a.status != 500 || a.header.Get("Retry-After") != "" {
		t.Errorf("%d, Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
}

// hidden lists no definitions, so that an engine reads them when they are needed.
type hidden struct{ store.Store }

func (hidden) ListDefinitions(context.Context) ([]store.Definition, error) { return nil, nil }

// TestStrictBodies: what others would read otherwise is refused, and nothing happens.
func TestStrictBodies(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.deploy("hello", "pay")
	start := func(body string) answered { return w.do("POST", "/api/v1/definitions/hello/instances", body) }
	for _, body := range []string{
		`{"name":"a","name":"b"}`, `{"x":[{"a":1,"a":2}]}`, `{"name":"\ud800"}`, `{"name":"\udc00\ud800"}`, `{"name":"\ud800x"}`,
		`{"n":` + strings.Repeat("1", 1001) + `}`, `{"n":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`,
	} {
		start(body).problem(api.CodeBadJSON)
	}
	start(`null`).problem(api.CodeInput)
	for _, body := range []string{`{"name":"\ud83d\ude00","a":{"name":1},"b":["name","name"],"c":"\\ud800"}`, `{}`, ``} {
		start(body).want(200) // hello is over at once
	}
	w.answers.put("charge", failing("CardDeclined"))
	id := w.do("POST", "/api/v1/definitions/pay/instances?wait=20s", `{"amount":1}`).is("status", `"failed"`).str("id")
	at := "/api/v1/instances/" + id
	w.do("POST", at+"/skip", `{"output":1}`).problem(api.CodeInput)
	w.do("POST", at+"/retry", `{"data":[]}`).problem(api.CodeInput)
	w.do("POST", at+"/retry", `{"reason":"`+strings.Repeat("x", 4097)+`"}`).problem(api.CodeTooLarge)
	w.do("DELETE", at, "", "If-Match", "").problem(api.CodeBadParameter)
	w.get("/api/v1/instances?q=def:hello@").problem(api.CodeBadFilter)
	dots := strings.Replace(read(t, "testdata/hello.yaml"), "id: hello", `id: ".."`, 1)
	w.do("POST", "/api/v1/definitions", dots, "Content-Type", "application/yaml").problem(api.CodeInvalid).says("used in a path")
}

// TestPauseInHistory: history has the word of the API.
func TestPauseInHistory(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.deploy("await")
	id := w.start("await", `{"order":"1"}`)
	w.do("POST", "/api/v1/instances/"+id+"/pause", "").want(200)
	w.get("/api/v1/instances/" + id + "/history").want(200).says(`"pause"`)
}
