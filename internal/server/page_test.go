package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// withPage shows a page that tells its path.
func withPage(c *Config, _ *engine.Config) {
	c.Page = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "page of ", r.URL.Path)
	})
	c.PageFile = func(path string) bool { return path == "/assets/a.js" || path == "/icon.svg" }
	c.Schemas = []Schema{{[]string{"sw05", "0.5"}, func() []byte { return []byte(`{"title":"five"}`) }}}
}

// plain asks without holding the answer to the contract, which the page is no part of.
func (w *world) plain(method, path string, headers ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = a.Body.Close() })
	return a
}

// browser is what browsers say that they accept when they open a page.
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// TestPage: a path that is no other is the page's for browsers, and its files are there for
// everybody; programs are told what is not there.
func TestPage(t *testing.T) {
	_, tokens := tokensOf(t)
	w := newWorldAtRest(t, newMemory(), func(c *Config, e *engine.Config) { withPage(c, e); c.Tokens = tokens })
	for _, path := range []string{"/", "/definitions", "/definitions/a%2Fb", "/instances/x?tab=data", "/assets/a.js", "/icon.svg", "/apiary", "/ui"} {
		if a := w.plain("GET", path, "Accept", browser); a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/html" || a.Header.Get("Vary") != "Accept" {
			t.Errorf("GET %s gives %d %v", path, a.StatusCode, a.Header)
		}
		file := path == "/assets/a.js" || path == "/icon.svg"
		for _, accept := range []string{"", "*/*", "application/json", "image/avif,image/webp,*/*;q=0.8", "text/html;q=0", "text/*"} {
			a := w.plain("GET", path, "Accept", accept)
			want := map[bool]int{true: 200, false: 404}[file]
			if path == "/" {
				want = 204
			}
			if a.StatusCode != want {
				t.Errorf("GET %s with Accept: %q gives %d, want %d", path, accept, a.StatusCode, want)
			}
		}
	}
	for _, path := range []string{"/api", "/api/v1", "/api/v2/instances", "/api/v1/instance", "/schemas/x.json", "/problems/none", "/download/fw.swu", "/download"} {
		if a := w.plain("GET", path, "Accept", browser); a.StatusCode != 404 || a.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("GET %s gives %d %s", path, a.StatusCode, a.Header.Get("Content-Type"))
		}
	}
	for _, c := range []struct {
		method, path string
		want         int
	}{{"POST", "/", 405}, {"DELETE", "/definitions/a", 404}} {
		if a := w.plain(c.method, c.path, "Accept", browser); a.StatusCode != c.want {
			t.Errorf("%s %s gives %d, want %d", c.method, c.path, a.StatusCode, c.want)
		}
	}
	w.get("/api/v1/stats").problem(api.CodeUnauthorized)

	devices := httptest.NewServer(w.server.South())
	t.Cleanup(devices.Close)
	south := &world{t: t, url: devices.URL}
	for path, want := range map[string]int{"/": 204, "/icon.svg": 404, "/definitions": 404} {
		if a := south.plain("GET", path, "Accept", browser); a.StatusCode != want {
			t.Errorf("devices get %d for %s", a.StatusCode, path)
		}
	}
	open := newWorldAtRest(t, newMemory(), withPage)
	if a := open.plain("GET", "/", "Accept", browser); a.StatusCode != 200 {
		t.Errorf("GET / gives %d", a.StatusCode)
	}
	for _, accept := range []string{browser, "*/*"} {
		open.do("GET", "/", "", "Host", "evil.example", "Accept", accept).problem(api.CodeHost)
	}
	if a := newWorldAtRest(t, newMemory(), nil).plain("GET", "/", "Accept", browser); a.StatusCode != 204 {
		t.Errorf("GET / without a page gives %d", a.StatusCode)
	}
}

func TestSchemas(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), withPage)
	for _, name := range []string{"sw05", "0.5"} {
		w.get("/schemas/"+name+".json").want(200).is("title", `"five"`)
	}
	w.get("/schemas/sw06.json").problem(api.CodeNotFound).says(`did you mean \"sw05.json\"?`)
	w.get("/schemas/0.5").problem(api.CodeNotFound)
}

// TestSession: a cookie stands for a token on this side, and only for this server's own
// pages.
func TestSession(t *testing.T) {
	byRole, tokens := tokensOf(t)
	w := newWorldAtRest(t, newMemory(), func(c *Config, e *engine.Config) { withPage(c, e); c.Tokens = tokens })
	w.get("/api/v1/session").want(200).is("needed", "true").is("name", "null")
	w.do("POST", "/api/v1/session", `{"token":"ls_wrong"}`).problem(api.CodeUnauthorized)
	w.do("POST", "/api/v1/session", `{}`).problem(api.CodeUnknownField)
	w.do("POST", "/api/v1/session", `{"token":"`+byRole[Admin]+`"}`, "Sec-Fetch-Site", "cross-site").problem(api.CodeCrossOrigin)
	a := w.do("POST", "/api/v1/session", `{"token":"`+byRole[Operator]+`"}`).want(200).is("role", `"operator"`)
	set := a.header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, part) {
			t.Errorf("the cookie %q has no %s", set, part)
		}
	}
	cookie, _, _ := strings.Cut(set, ";")

	w.do("GET", "/api/v1/stats", "", "Cookie", cookie).want(200)
	w.do("GET", "/api/v1/session", "", "Cookie", cookie).is("name", `"t-operator"`)
	w.do("POST", "/api/v1/events", "{}", "Cookie", cookie, "Content-Type", "application/cloudevents+json").problem(api.CodeInvalidEvent)
	w.do("POST", "/api/v1/definitions", "{}", "Cookie", cookie).problem(api.CodeForbidden)
	w.do("GET", "/api/v1/stats", "", "Cookie", cookie, "Authorization", "Bearer ls_wrong").problem(api.CodeUnauthorized)
	w.do("GET", "/api/v1/stats", "", "Cookie", cookie+"x").problem(api.CodeUnauthorized)

	w.do("POST", "/api/v1/events", "{}", "Cookie", cookie, "Sec-Fetch-Site", "same-site").problem(api.CodeCrossOrigin)
	if a := w.plain("DELETE", "/api/wfx/v1/jobs/none", "Cookie", cookie, "Sec-Fetch-Site", "same-site"); a.StatusCode != 403 {
		t.Errorf("another site's page may delete a job with the cookie: %d", a.StatusCode)
	}
	if a := w.plain("DELETE", "/api/wfx/v1/jobs/none", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"); a.StatusCode != 404 {
		t.Errorf("the own page may not delete a job: %d", a.StatusCode)
	}

	gone := w.do("DELETE", "/api/v1/session", "", "Cookie", cookie).want(204).header.Get("Set-Cookie")
	if !strings.Contains(gone, "Max-Age=0") {
		t.Errorf("the cookie is not taken back: %q", gone)
	}

	open := newWorldAtRest(t, newMemory(), nil)
	open.get("/api/v1/session").want(200).is("needed", "false").is("role", `"admin"`)
	open.do("POST", "/api/v1/session", `{"token":"ls_any"}`).want(200).is("needed", "false")
}

// TestHeat: instances are counted where they are and where they failed; jobs by lane.
func TestHeat(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.answers.put("charge", func(c effect.Call) effect.Outcome {
		if amount, _ := c.Args.Get("amount"); amount.String() == "1" {
			return effect.Outcome{Parked: true}
		}
		return effect.Outcome{Failure: &effect.Failure{Name: "Declined"}}
	})
	w.deploy("pay", "relay")
	for range 3 {
		w.reach(w.start("pay", `{"amount":1}`), "running") // its invoker does not say beforehand that it parks
	}
	for range 2 {
		w.reach(w.start("pay", `{"amount":2}`), "failed")
	}
	for _, query := range []string{"", "?version=1.0"} {
		w.get("/api/v1/definitions/pay/heat"+query).want(200).is("exact", "true").is("states", `[{"state":"Charge","now":3,"failed":2}]`)
	}
	w.get("/api/v1/definitions/pay/heat?version=none").problem(api.CodeNotFound)
	few := newWorldAtRest(t, w.store, func(c *Config, _ *engine.Config) { c.Limits.Count = 2 })
	few.get("/api/v1/definitions/pay/heat").want(200).is("exact", "false").is("states.0.now", "2")
	w.do("POST", "/api/v1/jobs", `{"workflow":"relay","clients":["a","b"]}`).want(201)
	w.get("/api/v1/definitions/relay/heat").want(200).is("states.0.now", "2")
}
