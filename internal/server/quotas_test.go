package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	wfxdef "github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

// TestInstanceQuotas: a start beyond a quota is refused, and tells when to try again.
func TestInstanceQuotas(t *testing.T) {
	w := newWorldAtRest(t, newMemory(), func(_ *Config, c *engine.Config) { c.Quotas = engine.Quotas{DefinitionInstances: 1} })
	create := func(path, body string) *httptest.ResponseRecorder {
		return w.knock(door{side: wfx.North, method: "POST", path: "/api/wfx/v1/" + path}, "", strings.NewReader(body))
	}
	create("workflows", twoStates)
	if a := create("jobs", `{"workflow":"w","clientId":"a"}`); a.Code != http.StatusCreated {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
	a := create("jobs", `{"workflow":"w","clientId":"b"}`)
	if a.Code != http.StatusTooManyRequests || a.Header().Get("Retry-After") != "5" || !strings.Contains(a.Body.String(), "limit quota-definition-instances") {
		t.Errorf("%d %s %v", a.Code, a.Body, a.Header())
	}
	w.do("POST", "/api/v1/definitions/w/instances", `{"clientId":"c"}`).problem(api.CodeBusy).is("limit", `"quota-definition-instances"`)
	w.get("/metrics").says(`lockstep_quota_refused_total{quota="quota-definition-instances"} 2`)
}

// TestDeviceQuota: a device that sends too much waits; other devices, and operators, do not.
func TestDeviceQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		byRole, tokens := tokensOf(t)
		e, err := engine.New(engine.Config{Store: newMemory(), Languages: languages()})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Config{Engine: e, Registry: dialect.NewRegistry(wfxdef.FrontEnd{}), Tokens: tokens, Client: Devices{Tokens: tokens}.Client, Quotas: Quotas{DeviceBytes: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
		w := &world{t: t, engine: e, server: s}
		put := func(role Role) *httptest.ResponseRecorder {
			d := door{side: wfx.South, method: "PUT", path: "/api/wfx/v1/jobs/59bc9534-0000-4000-8000-000000000000/status"}
			return w.knock(d, byRole[role], strings.NewReader(`{"state":"DONE","message":"`+strings.Repeat("a", 900)+`"}`))
		}
		var refused *httptest.ResponseRecorder
		for range 20 {
			if refused = put(Device); refused.Code == http.StatusTooManyRequests {
				break
			}
		}
		if refused.Code != http.StatusTooManyRequests || !strings.Contains(refused.Body.String(), "limit quota-device-bytes") || refused.Header().Get("Retry-After") != "1" {
			t.Fatalf("%d %s %v", refused.Code, refused.Body, refused.Header())
		}
		if a := put(Operator); a.Code != http.StatusNotFound {
			t.Errorf("an operator: %d %s", a.Code, a.Body)
		}
		time.Sleep(time.Second)
		if a := put(Device); a.Code != http.StatusNotFound {
			t.Errorf("after a second: %d %s", a.Code, a.Body)
		}
	})
}

// TestCredentialQuota: so does a token on the north. Requests without a body are served.
func TestCredentialQuota(t *testing.T) {
	w, byRole := tokenWorld(t, func(c *Config) { c.Quotas = Quotas{CredentialBytes: 1} })
	post := func(role Role) *httptest.ResponseRecorder {
		return w.knock(door{side: wfx.North, method: "POST", path: "/api/v1/events"}, byRole[role], strings.NewReader(strings.Repeat(" ", 100)))
	}
	if a := post(Operator); a.Code == http.StatusTooManyRequests {
		t.Fatalf("the first: %d %s", a.Code, a.Body)
	}
	if a := post(Operator); a.Code != http.StatusTooManyRequests || !strings.Contains(a.Body.String(), `"limit":"quota-credential-bytes"`) {
		t.Errorf("the second: %d %s", a.Code, a.Body)
	}
	if a := post(Admin); a.Code == http.StatusTooManyRequests {
		t.Errorf("another token: %d %s", a.Code, a.Body)
	}
	if a := w.knock(door{side: wfx.North, method: "GET", path: "/api/v1/stats"}, byRole[Operator], nil); a.Code != http.StatusOK {
		t.Errorf("without a body: %d %s", a.Code, a.Body)
	}
}

// TestDefinitionQuota: all senders together wait where one definition gets too much. It can still be paused.
func TestDefinitionQuota(t *testing.T) {
	w, byRole := tokenWorld(t, func(c *Config) { c.Quotas = Quotas{DefinitionBytes: 1} })
	post := func(role Role, path string) *httptest.ResponseRecorder {
		return w.knock(door{side: wfx.North, method: "POST", path: "/api/v1/definitions/" + path}, byRole[role], strings.NewReader("{"+strings.Repeat(" ", 100)+"}"))
	}
	if a := post(Operator, "w/instances"); a.Code == http.StatusTooManyRequests {
		t.Fatalf("the first: %d %s", a.Code, a.Body)
	}
	for _, role := range []Role{Operator, Admin} {
		if a := post(role, "w/instances"); a.Code != http.StatusTooManyRequests || !strings.Contains(a.Body.String(), "limit quota-definition-bytes") {
			t.Errorf("%s: %d %s", role, a.Code, a.Body)
		}
	}
	if a := post(Operator, "other/instances"); a.Code == http.StatusTooManyRequests {
		t.Errorf("another definition: %d %s", a.Code, a.Body)
	}
	if a := post(Operator, "w/pause"); a.Code == http.StatusTooManyRequests {
		t.Errorf("pause: %d %s", a.Code, a.Body)
	}
}

// TestNamespaceQuota: all senders together wait where too much arrives.
func TestNamespaceQuota(t *testing.T) {
	w, byRole := tokenWorld(t, func(c *Config) { c.Quotas = Quotas{Bytes: 1} })
	post := func(role Role) *httptest.ResponseRecorder {
		return w.knock(door{side: wfx.North, method: "POST", path: "/api/v1/events"}, byRole[role], strings.NewReader(strings.Repeat(" ", 100)))
	}
	if a := post(Operator); a.Code == http.StatusTooManyRequests {
		t.Fatalf("the first: %d %s", a.Code, a.Body)
	}
	for _, role := range []Role{Operator, Admin} {
		if a := post(role); a.Code != http.StatusTooManyRequests || !strings.Contains(a.Body.String(), `"limit":"quota-bytes"`) {
			t.Errorf("%s: %d %s", role, a.Code, a.Body)
		}
	}
}

// TestStartQuota: a token that starts too many instances waits, whatever it starts them with; another token does not.
func TestStartQuota(t *testing.T) {
	for path, start := range map[string]struct {
		body   string
		status int
	}{
		"/api/v1/definitions/none/instances":      {`{}`, http.StatusNotFound},
		"/api/v1/definitions/none/instances/bulk": {`{"starts":[{}]}`, http.StatusNotFound},
		"/api/v1/jobs":                    {`{"workflow":"none","clients":["a"]}`, http.StatusUnprocessableEntity},
		"/api/wfx/v1/jobs":                {`{"workflow":"none","clientId":"a"}`, http.StatusBadRequest},
		"/api/v1/instances/none/restart":  {`{}`, http.StatusNotFound},
		"/api/v1/schedules/none/trigger":  {`{}`, http.StatusNotFound},
		"/api/v1/schedules/none/backfill": {`{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`, http.StatusNotFound},
	} {
		w, byRole := tokenWorld(t, func(c *Config) { c.Quotas = Quotas{CredentialStarts: 1} })
		post := func(role Role, path, body string) *httptest.ResponseRecorder {
			return w.knock(door{side: wfx.North, method: "POST", path: path}, byRole[role], strings.NewReader(body))
		}
		if path == "/api/v1/schedules/none/backfill" { // this one counts what it started
			post(Operator, "/api/v1/definitions/none/instances/bulk", `{"starts":[{}`+strings.Repeat(",{}", 999)+`]}`)
		}
		var a *httptest.ResponseRecorder
		for range 200 { // a burst of ten, and one more
			if a = post(Operator, path, start.body); a.Code != start.status {
				break
			}
		}
		if a.Code != http.StatusTooManyRequests || !strings.Contains(a.Body.String(), "instances are started in a second (limit quota-credential-starts)") || a.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
		if a := post(Operator, "/api/v1/instances/none/retry", ""); a.Code != http.StatusNotFound {
			t.Errorf("%s, then what starts nothing: %d %s", path, a.Code, a.Body)
		}
		if a := post(Admin, path, start.body); a.Code != start.status {
			t.Errorf("%s, another token: %d %s", path, a.Code, a.Body)
		}
	}
}
