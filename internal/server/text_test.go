package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/postgres"
)

// bodies are requests that are right but for the texts in them, by operation. Those that are not here have
// none, or a path decides before the body does.
var bodies = map[string]string{
	"deployDefinition": `{"id":"d","version":"1","name":"n","states":[{"name":"a","type":"inject","start":{"kind":"default"},"data":{"k":"v"},"end":{"kind":"default"}}]}`,
	"startInstance":    `{"k":"v"}`,
	"startInstances":   `{"version":"1","starts":[{"key":"k","name":"n","labels":{"l":"v"},"input":{"k":"v"}},{"id":"i"}]}`,
	"controlInstances": `{"action":"pause","q":"definition = hello","reason":"r"}`,
	"retryInstance":    `{"reason":"r"}`, "skipInstance": `{"reason":"r"}`, "pauseInstance": `{"reason":"r"}`, "resumeInstance": `{"reason":"r"}`,
	"cancelInstance": `{"reason":"r"}`, "terminateInstance": `{"reason":"r"}`, "restartInstance": `{"reason":"r"}`, "answerCall": `{"result":"r"}`,
	"createJobs":  `{"workflow":"board","clientIds":["c"],"tags":["t"],"definition":{"k":"v"}}`,
	"sendEvents":  `{"specversion":"1.0","id":"1","source":"s","type":"t","subject":"u","ext":"e","data":{"k":"v"}}`,
	"playground":  `{"source":"id: d"}`,
	"openSession": `{"token":"t"}`,
}

// jobBodies are the same for the API of jobs.
var jobBodies = []struct{ method, path, body string }{
	{"POST", "/workflows", `{"name":"w","description":"d","states":[{"name":"NEW"},{"name":"DONE"}],"transitions":[{"from":"NEW","to":"DONE","eligible":"CLIENT"}],"groups":[{"name":"OPEN","states":["NEW"]}]}`},
	{"POST", "/jobs", `{"clientId":"c","workflow":"board","tags":["t"],"definition":{"k":"v"}}`},
	{"PUT", "/jobs/{id}/status", `{"clientId":"c","state":"PROGRESS","message":"m","context":{"k":"v"}}`},
	{"PUT", "/jobs/{id}/definition", `{"k":"v"}`},
	{"POST", "/jobs/{id}/tags", `["t"]`},
	{"DELETE", "/jobs/{id}/tags", `["t"]`},
}

// jobParams are the parameters of its lists.
var jobParams = map[string][]string{
	"/jobs":        {"limit", "offset", "sort", "state", "group", "clientId", "tag", "workflow", "pagination", "stimeFrom", "mtimeTo"},
	"/jobs/events": {"clientIds", "jobIds", "workflows", "actions", "tags"},
	"/workflows":   {"limit", "sort"},
}

// bad are texts that PostgreSQL does not hold, in a URL.
var bad = []string{"x%00y", "x%FFy", "%ED%A0%80"}

// TestTextThatIsNotStored: whatever text comes in through whatever door, no store makes it its own trouble. In
// a path, a parameter or a header it is refused, by its name.
func TestTextThatIsNotStored(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		db, err := postgres.Open(t.Context(), pgtest.Start(t).Database(t), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		badTexts(t, db.Namespace("default"))
	})
	eachStore(t, badTexts)
}

func badTexts(t *testing.T, s store.Store) {
	w := newWorldAtRest(t, s, nil)
	jobs := *w // of another contract
	jobs.client = http.DefaultClient
	w.do("POST", "/api/v1/definitions", strings.ReplaceAll(bodies["deployDefinition"], `"d"`, `"hello"`)).want(201)
	jobs.do("POST", wfx.Base+"/workflows", `{"name":"board","states":[{"name":"NEW"},{"name":"PROGRESS"}],"transitions":[{"from":"NEW","to":"PROGRESS","eligible":"CLIENT"}]}`).want(201)
	job := jobs.do("POST", wfx.Base+"/jobs", `{"clientId":"c","workflow":"board"}`).want(201).str("id")
	for _, rt := range routes {
		at := strings.NewReplacer("{definition}", "hello", "{instance}", job, "{ticket}", "1", "{schema}", "none", "{code}", "in-use").Replace(rt.path)
		body := bodies[rt.operation]
		for _, text := range bad {
			for part := range strings.SplitSeq(rt.path, "/") {
				if name := strings.Trim(part, "{}"); name != part {
					other := strings.NewReplacer(part, text, "{instance}", job, "{ticket}", "1").Replace(rt.path)
					w.do(rt.method, other, body).refusesText(rt.roles != nil, name)
				}
			}
			for _, name := range rt.params {
				w.do(rt.method, at+"?"+name+"="+text, body).refusesText(true, name)
			}
		}
		if rt.operation != "stream" {
			w.do(rt.method, at, body, "Idempotency-Key", "x\xffy").refusesText(true, "Idempotency-Key")
		}
		for _, spoiled := range spoil(t, body) {
			if got := w.do(rt.method, at, spoiled); got.status >= 500 {
				t.Errorf("%s with %s: %d %s", got.what, spoiled, got.status, got.text)
			}
		}
	}
	for path, params := range jobParams {
		for _, name := range params {
			for _, text := range bad {
				jobs.do("GET", wfx.Base+path+"?"+name+"="+text, "").refusesText(true, name)
			}
		}
	}
	for _, r := range jobBodies {
		at := wfx.Base + strings.ReplaceAll(r.path, "{id}", job)
		for _, text := range bad {
			if strings.Contains(r.path, "{id}") {
				jobs.do(r.method, wfx.Base+strings.ReplaceAll(r.path, "{id}", text), r.body).refusesText(false, "")
			}
		}
		jobs.do(r.method, at, r.body, "If-Match", "x\xffy").refusesText(true, "If-Match")
		for _, spoiled := range spoil(t, r.body) {
			if got := jobs.do(r.method, at, spoiled); got.status >= 500 {
				t.Errorf("%s with %s: %d %s", got.what, spoiled, got.status, got.text)
			}
		}
	}
	for field, body := range map[string]string{
		"id":      strings.Replace(bodies["deployDefinition"], `"d"`, `"d\u0000"`, 1),
		"version": strings.Replace(bodies["deployDefinition"], `"1"`, `"1\u0000"`, 1),
	} {
		got := w.do("POST", "/api/v1/definitions", body)
		if got.status != 422 || !strings.Contains(got.text, field) {
			t.Errorf("a definition with a zero byte in its %s: %d %s", field, got.status, got.text)
		}
	}
}

// refusesText fails the test unless the answer is a refusal, by name where it must be.
func (a answered) refusesText(named bool, name string) {
	a.t.Helper()
	if a.status < 400 || a.status >= 500 || named && !strings.Contains(a.text, name) {
		what, _ := url.PathUnescape(a.what)
		a.t.Errorf("%q: %d %s, which does not refuse %s", what, a.status, a.text, name)
	}
}

// spoil lists a body once for each text in it, names of members too, with a zero byte in that text.
func spoil(t *testing.T, body string) (out []string) {
	t.Helper()
	if body == "" {
		return nil
	}
	for at := 0; ; {
		start := strings.IndexByte(body[at:], '"')
		if start < 0 {
			break
		}
		start += at
		end := start + 1 + strings.IndexByte(body[start+1:], '"')
		out = append(out, fmt.Sprint(body[:end], `\u0000`, body[end:]))
		at = end + 1
	}
	for _, text := range out {
		if !json.Valid([]byte(text)) {
			t.Fatalf("not JSON: %s", text)
		}
	}
	return out
}
