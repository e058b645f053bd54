package wfx_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

func object1(key string, v expr.Value) expr.Value {
	return expr.Object(expr.Member{Key: key, Value: v})
}

func TestAbout(t *testing.T) {
	w := newWorld(t, nil)
	for _, s := range []*side{w.south, w.north} {
		for _, path := range []string{"/health", "//health"} {
			a := s.get(path).want(200).is(`{"details":{"persistence":{"status":"up","timestamp":"TIME1"}},"status":"up"}`)
			if a.header.Get("Pragma") != "no-cache" {
				t.Errorf("%s may be kept", path)
			}
		}
		for _, path := range []string{"/version", "//version"} {
			s.get(path).want(200).is(`{"apiVersion":"v1","commit":"abc","version":"1.2.3"}`)
		}
		if v := parse(t, s.get("/openapi.json").want(200).text); !v.IsObject() {
			t.Error("openapi.json is no document")
		}
		for _, path := range []string{"", "/", "//"} {
			link := s.get(path).want(204).header.Get("Link")
			if link != "<"+s.url+`/api/wfx/v1/openapi.json>; rel="service-desc"` {
				t.Errorf("GET %s: Link: %s", path, link)
			}
			s.get(path, "Host", "[::1]:8080").want(204)
		}
		for _, query := range []string{"?a=%ff", "?a=%00", "?%zz", "?a;b"} { // nobody looks at it
			s.get("/health" + query).want(200)
			s.get("/version" + query).want(200)
			s.get("/" + query).want(204)
			s.get("/jobs" + query).want(map[bool]int{true: 400, false: 200}[strings.ContainsAny(query, "z;")])
		}
		s.do("POST", "//", "").want(405)
		for _, path := range []string{"//none", "//download/fw.swu", "//favicon.ico", "//index.html", "//api/wfx/v2/jobs", "/none", "/jobs/x/none"} {
			s.get(path).want(404)
			s.get(path, "Accept", "text/html").want(404)
		}
	}
	w.north.get("//openapi.json").want(200).says("/api/v1/instances") // the north has its own
}

func TestMethods(t *testing.T) {
	w := newWorld(t, nil)
	for path, allow := range map[string]string{
		"/workflows": "GET, HEAD, OPTIONS, POST", "/jobs/events": "GET, HEAD, OPTIONS", "/jobs/x/status": "GET, HEAD, OPTIONS, PUT",
		"/jobs/x/tags": "DELETE, GET, HEAD, OPTIONS, POST", "//health": "GET, HEAD, OPTIONS",
	} {
		for _, s := range []*side{w.south, w.north} {
			if a := s.do("PATCH", path, "").want(405); a.header.Get("Allow") != allow || a.text != "" {
				t.Errorf("%s: Allow %q, %q", path, a.header.Get("Allow"), a.text)
			}
			if a := s.do("OPTIONS", path, "").want(204); a.header.Get("Allow") != allow {
				t.Errorf("%s: Allow %q", path, a.header.Get("Allow"))
			}
		}
	}
	if a := w.south.do("HEAD", "/jobs", "").want(200); a.text != "" {
		t.Errorf("HEAD has a body: %q", a.text)
	}
	w.south.get("/jobs//status").want(404)
	w.south.get("/../v1/jobs").want(404)
}

// TestOtherHosts: where nothing but the address protects a server, a name that is not its own
// is refused, with a word on how to add one.
func TestOtherHosts(t *testing.T) {
	w := newWorld(t, func(c *server.Config, _ *engine.Config) { c.Hosts = []string{"own.example"} })
	for _, s := range []*side{w.south, w.north} {
		for _, path := range []string{"/jobs", "/swagger.json", "//", "//health"} {
			s.get(path, "Host", "wfx.example.com:8080").want(http.StatusMisdirectedRequest).says("--host wfx.example.com")
			if a := s.get(path, "Host", "own.example:8080"); a.status >= 400 {
				t.Errorf("%s under a name of the server: %d %s", path, a.status, a.text)
			}
		}
	}
}

func TestResponseFilter(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban","definition":{"n":12345678901234567890}}`)
	filter := func(s *side, path, filter string) answered { return s.get(path, "X-Response-Filter", filter) }
	a := filter(w.south, "/jobs/"+id, ".clientId, .definition").want(200).is("\"dana\"\n{\"n\":12345678901234567890}")
	if a.header.Get("X-Response-Filter") != ".clientId, .definition" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Errorf("headers %v", a.header)
	}
	filter(w.south, "/jobs", ".content[].status.state").want(200).is(`"NEW"`)
	filter(w.south, "/jobs?pagination=true", ".pagination.total").want(200).is(`1`)
	filter(w.south, "/workflows", ".content|length").want(200).is(`1`)
	filter(w.south, "/jobs/"+id+"/tags", ".").want(200).is(`[]`)
	filter(w.south, "/jobs/"+id+"/definition", "empty").want(200).is(``)
	a = filter(w.south, "/jobs/"+id, ".clientId.x").want(200).is(`{}`)
	if a.header.Get("X-Response-Filter-Error") == "" {
		t.Error("it does not say why it failed")
	}
	filter(w.south, "/jobs/"+id, "last(range(1000000000))").want(200).is(`{}`)
	filter(w.south, "/jobs/"+id, ".[").want(400).says("wfx.invalidResponseFilter")
	filter(w.south, "/jobs/"+id, strings.Repeat(".", 10000)).want(400).says("wfx.invalidResponseFilter")
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"PROGRESS"}`, "X-Response-Filter", ".[").want(400)
	w.south.get("/jobs/" + id + "/status").says("NEW") // a broken filter changes nothing
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"PROGRESS"}`, "X-Response-Filter", ".state").want(200).is(`"PROGRESS"`)
	filter(w.south, "/jobs/0", ".errors").refused(404, "wfx.jobNotFound", "Job ID was not found") // errors are not filtered
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NOWHERE"}`, "X-Response-Filter", "1").want(400).says("wfx.invalidRequest")
}

// TestClientID: a device that says who it is sees and changes only what is its own.
func TestClientID(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	hers := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	his := w.create(`{"clientId":"parker","workflow":"wfx.workflow.kanban"}`)
	dana := []string{"X-Client-Id", "dana"}
	list := w.south.get("/jobs?pagination=true", dana...).want(200).says(hers).says(`"total":1`)
	if strings.Contains(list.text, his) {
		t.Error("the list has the job of another")
	}
	w.south.get("/jobs?clientId=parker&pagination=true", dana...).want(200).is(`{"content":[],"pagination":{"limit":10,"offset":0,"total":0}}`)
	w.south.get("/jobs?clientId=dana", dana...).want(200).says(hers)
	for _, path := range []string{"", "/status", "/definition", "/tags"} {
		w.south.get("/jobs/"+hers+path, dana...).want(200)
		w.south.get("/jobs/"+his+path, dana...).refused(404, "wfx.jobNotFound", "Job ID was not found")
	}
	w.south.do("PUT", "/jobs/"+his+"/status", `{"state":"PROGRESS"}`, dana...).refused(404, "wfx.jobNotFound", "Job ID was not found")
	w.south.do("PUT", "/jobs/"+his+"/definition", `{"a":1}`, dana...).refused(404, "wfx.jobNotFound", "Job ID was not found")
	w.south.do("PUT", "/jobs/"+hers+"/status", `{"state":"PROGRESS"}`, dana...).want(200)
	w.south.do("PUT", "/jobs/"+hers+"/definition", `{"a":1}`, dana...).want(200)
	w.south.get("/workflows", dana...).want(200)
	w.north.get("/jobs/"+his, dana...).want(200) // operators see all
	w.south.get("/jobs", "X-Client-Id", "").plain(400)
	w.south.get("/jobs/" + his + "/status").want(200).says("NEW")
}

// TestIdentity: who a device is the server's own check decides.
func TestIdentity(t *testing.T) {
	w := newWorld(t, func(c *server.Config, _ *engine.Config) {
		c.Client = func(r *http.Request) (string, bool, error) {
			switch who := r.Header.Get("Authorization"); who {
			case "":
				return "", false, &wfx.Refusal{Status: 401, Message: "a token is needed"}
			case "operator":
				return "", false, nil
			case "nobody":
				return "", true, nil
			default:
				return who, true, nil
			}
		}
	})
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	for _, path := range []string{"/jobs", "/jobs/" + id, "/jobs/" + id + "/status", "/workflows", "/jobs/events"} {
		if a := w.south.get(path).plain(401); a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s does not say how to authenticate", path)
		}
		w.south.get(path, "Authorization", "nobody").want(403)
	}
	w.south.get("/health").want(200)
	w.south.get("/jobs/"+id, "Authorization", "parker").want(404)
	w.south.get("/jobs/"+id, "Authorization", "dana").want(200)
	w.south.get("/jobs/"+id, "Authorization", "operator").want(200)
	w.south.get("/jobs", "Authorization", "dana", "Host", "devices.example").want(200)
	w.north.get("/jobs/" + id).want(200)
}

// TestRoles: where the north has tokens, roles decide there, too.
func TestRoles(t *testing.T) {
	const viewer, operator, author = "viewer-viewer-viewer-viewer-viewer", "operator-operator-operator-operator", "author-author-author-author-author"
	tokens, err := server.ParseTokens([]byte(tokenFile(viewer, operator, author)))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *server.Config, _ *engine.Config) { c.Tokens = tokens })
	as := func(token string) []string { return []string{"Authorization", "Bearer " + token} }
	w.north.get("/jobs").want(401)
	w.north.get("/health").want(200)
	w.north.do("POST", "/workflows", file(t, "kanban.json"), as(viewer)...).want(403)
	w.north.do("POST", "/workflows", file(t, "kanban.json"), as(operator)...).want(403)
	w.north.do("POST", "/workflows", file(t, "kanban.json"), as(author)...).want(201)
	job := `{"clientId":"dana","workflow":"wfx.workflow.kanban"}`
	w.north.do("POST", "/jobs", job, as(viewer)...).want(403)
	id := uuids.FindString(w.north.do("POST", "/jobs", job, as(operator)...).want(201).text)
	w.north.do("POST", "/jobs", job, as(author)...).want(201) // as of other definitions
	w.north.get("/jobs/"+id, as(viewer)...).want(200)
	w.north.do("PUT", "/jobs/"+id+"/status", `{"state":"DISCARDED"}`, as(viewer)...).want(403)
	w.north.do("PUT", "/jobs/"+id+"/status", `{"state":"DISCARDED"}`, as(operator)...).want(200)
	w.north.do("DELETE", "/jobs/"+id, "", as(author)...).want(403)
}

// tokenFile is a tokens file for one of each role.
func tokenFile(viewer, operator, author string) string {
	var out strings.Builder
	for role, token := range map[string]string{"viewer": viewer, "operator": operator, "author": author} {
		out.WriteString(`{name: ` + role + `, role: ` + role + `, hash: "sha256:` + hashed(token) + "\"}\n")
	}
	return out.String()
}
