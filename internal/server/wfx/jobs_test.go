package wfx_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server"
)

// noDefinition is the hash of a definition that is absent or empty.
const noDefinition = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"

// TestJobBodies compares bodies exactly: the order of keys, what is left out, and times.
func TestJobBodies(t *testing.T) {
	clock := engine.NewVirtualClock(time.Date(2026, 3, 1, 10, 0, 0, 123456789, time.UTC))
	w := newWorld(t, func(_ *server.Config, ec *engine.Config) { ec.Clock = clock })
	w.north.do("POST", "/workflows", file(t, "relay.json")).want(201)
	a := w.north.do("POST", "/jobs", `{"workflow":"relay","clientId":"c1","definition":{"b":12345678901234567890,"a":1.50},"other":1}`).want(201)
	id := uuids.FindString(a.text)
	hash := hashed(`["a":1.5E+00,"b":1.2345678901234567E+19]`)
	body := `"clientId":"c1","definition":{"a":1.50,"b":12345678901234567890},"id":"` + id + `","mtime":"2026-03-01T10:00:00.123456789Z",` +
		`"status":{"clientId":"c1","definitionHash":"` + hash + `","state":"OPEN"},"stime":"2026-03-01T10:00:00.123456789Z",`
	exactly(a, `{`+body+`"workflow":`+relay+`}`)
	job := `{` + body + `"tags":[],"workflow":` + relay + `}`
	for _, s := range []*side{w.south, w.north} {
		exactly(s.get("/jobs/"+id).want(200), job)
		exactly(s.get("/jobs").want(200), `{"content":[`+job+`]}`)
		exactly(s.get("/jobs?pagination=true").want(200), `{"content":[`+job+`],"pagination":{"limit":10,"offset":0,"total":1}}`)
		exactly(s.get("/jobs/"+id+"?history=true").want(200), job)
		exactly(s.get("/jobs/"+id+"/status").want(200), `{"clientId":"c1","definitionHash":"`+hash+`","state":"OPEN"}`)
		exactly(s.get("/jobs/"+id+"/definition").want(200), `{"a":1.50,"b":12345678901234567890}`)
		exactly(s.get("/jobs/"+id+"/tags").want(200), `[]`)
	}

	clock.Advance(clock.Now().Add(time.Second))
	b := w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"OPEN","progress":0,"context":{},"message":"","unknown":1}`).want(200)
	exactly(b, `{"context":{},"definitionHash":"`+hash+`","progress":0,"state":"OPEN"}`)
	clock.Advance(clock.Now().Add(time.Second))
	b = w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"MIDDLE","progress":-7,"message":"on my way","clientId":"someone","context":{"lines":["1"]}}`).want(200)
	exactly(b, `{"clientId":"someone","context":{"lines":["1"]},"definitionHash":"`+hash+`","message":"on my way","progress":-7,"state":"CLOSED"}`)
	clock.Advance(clock.Now().Add(time.Second))
	exactly(w.south.do("PUT", "/jobs/"+id+"/definition", `{"c":[]}`).want(200), `{"c":[]}`)
	after := hashed(`["c":[]]`)
	job = `{"clientId":"c1","definition":{"c":[]},"history":[` +
		`{"definition":{"a":1.50,"b":12345678901234567890},"mtime":"2026-03-01T10:00:02.123456789Z"},` +
		`{"mtime":"2026-03-01T10:00:02.123456789Z","status":{"clientId":"someone","context":{"lines":["1"]},"definitionHash":"` + hash + `","message":"on my way","progress":-7,"state":"MIDDLE"}},` +
		`{"mtime":"2026-03-01T10:00:01.123456789Z","status":{"context":{},"definitionHash":"` + hash + `","progress":0,"state":"OPEN"}},` +
		`{"mtime":"2026-03-01T10:00:00.123456789Z","status":{"clientId":"c1","definitionHash":"` + hash + `","state":"OPEN"}}],` +
		`"id":"` + id + `","mtime":"2026-03-01T10:00:03.123456789Z",` +
		`"status":{"clientId":"someone","context":{"lines":["1"]},"definitionHash":"` + after + `","message":"on my way","progress":-7,"state":"CLOSED"},` +
		`"stime":"2026-03-01T10:00:00.123456789Z","tags":[],"workflow":` + relay + `}`
	exactly(w.north.get("/jobs/"+id+"?history=true").want(200), job)

	plain := w.create(`{"workflow":"relay","clientId":"c2","tags":["b","a","b"]}`)
	w.south.get("/jobs/" + plain + "/definition").want(200).is(`null`)
	w.south.get("/jobs/" + plain + "/tags").want(200).is(`["a","b"]`)
	w.south.get("/jobs/" + plain).want(200).says(`"status":{"clientId":"c2","definitionHash":"` + noDefinition + `","state":"OPEN"}`).says(`"tags":["a","b"]`)
	w.north.do("POST", "/jobs", `{"workflow":"relay","clientId":"c3","definition":{}}`).want(201).says(`{"clientId":"c3","id":`).says(noDefinition)
}

// exactly fails the test unless the body is that text with a newline.
func exactly(a answered, want string) {
	a.t.Helper()
	if a.text != want+"\n" {
		a.t.Fatalf("%s: the body is\n%s\nwant\n%s", a.what, a.text, want)
	}
	if !expr.Equal(parse(a.t, a.text), parse(a.t, want)) {
		a.t.Fatal("it is no JSON")
	}
}

func TestCreateJob(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	post := func(body string) answered { return w.north.do("POST", "/jobs", body) }
	w.south.do("POST", "/jobs", `{"clientId":"dana","workflow":"wfx.workflow.kanban"}`).want(403).is("")
	w.south.do("POST", "/jobs", `{"clientId":"dana"}`).want(403).is("")
	post(`{"clientId":"dana","workflow":"none"}`).refused(400, "wfx.workflowNotFound", `there is no workflow \"none\"`)
	for _, bad := range []string{
		``, `null`, `[]`, `{"clientId":`, `{"workflow":"wfx.workflow.kanban"}`, `{"clientId":"","workflow":"wfx.workflow.kanban"}`,
		`{"clientId":1,"workflow":"wfx.workflow.kanban"}`, `{"clientId":"a","workflow":"wfx.workflow.kanban","definition":[]}`,
		`{"clientId":"a","workflow":"wfx.workflow.kanban","tags":"x"}`, `{"clientId":"a","workflow":"wfx.workflow.kanban","tags":[1]}`,
		`{"clientId":"a","workflow":"wfx.workflow.kanban","tags":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"]}`,
	} {
		post(bad).plain(400)
	}
	w.north.do("POST", "/jobs", `{"clientId":"dana","workflow":"wfx.workflow.kanban"}`, "Content-Type", "text/plain").plain(400)
	w.south.get("/jobs").want(200).is(`{"content":[]}`)
	post(`{"clientId":"a","workflow":"wfx.workflow.kanban","tags":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16"]}`).want(201)
	long := strings.Repeat("x", 5<<20)
	w.north.do("POST", "/jobs", `{"clientId":"a","workflow":"wfx.workflow.kanban","definition":{"x":"`+long+`"}}`).plain(413).says("request-bytes")
}

func TestNotFound(t *testing.T) {
	w := newWorld(t, nil)
	const id = "00000000-0000-4000-8000-000000000000"
	for _, s := range []*side{w.south, w.north} {
		for _, path := range []string{"", "?history=true", "/status", "/definition", "/tags"} {
			s.get("/jobs/"+id+path).refused(404, "wfx.jobNotFound", "Job ID was not found")
			s.get("/jobs/1"+path).refused(404, "wfx.jobNotFound", "Job ID was not found")
			s.get("/jobs/" + strings.Repeat("x", 37) + path).plain(400)
		}
		s.do("PUT", "/jobs/"+id+"/status", `{"state":"A"}`).refused(404, "wfx.jobNotFound", "Job ID was not found")
		s.do("PUT", "/jobs/"+id+"/definition", `{}`).refused(404, "wfx.jobNotFound", "Job ID was not found")
		s.get("/nothing").want(404)
		s.get("/jobs/a/b/c").want(404)
		s.get("/jobs/" + id + "?history=maybe").plain(400)
	}
	w.north.do("POST", "/jobs/"+id+"/tags", `["a"]`).refused(404, "wfx.jobNotFound", "Job ID was not found")
	w.north.do("DELETE", "/jobs/"+id+"/tags", `["a"]`).refused(404, "wfx.jobNotFound", "Job ID was not found")
	w.north.do("DELETE", "/jobs/"+id, "").want(404).is(`{}`)
	w.south.do("DELETE", "/jobs/"+id, "").want(403).is("")
	w.south.get("//api/v1/instances").want(404) // the south has nothing else
	w.south.get("//metrics").want(404)
}

func TestListJobs(t *testing.T) {
	clock := engine.NewVirtualClock(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))
	w := newWorld(t, func(_ *server.Config, ec *engine.Config) { ec.Clock = clock })
	w.kanban()
	w.north.do("POST", "/workflows", file(t, "relay.json")).want(201)
	var ids []string
	for i := range 13 {
		body := fmt.Sprintf(`{"clientId":"c%d","workflow":"wfx.workflow.kanban","tags":["t%d","all"]}`, i%3, i%2)
		if i == 12 {
			body = `{"clientId":"c0","workflow":"relay"}`
		}
		ids = append(ids, w.create(body))
		clock.Advance(clock.Now().Add(time.Second))
	}
	w.south.do("PUT", "/jobs/"+ids[0]+"/status", `{"state":"PROGRESS"}`).want(200)
	w.north.do("PUT", "/jobs/"+ids[1]+"/status", `{"state":"DISCARDED"}`).want(200)
	pick := func(indexes ...int) (out []string) {
		for _, i := range indexes {
			out = append(out, ids[i])
		}
		return out
	}
	for query, want := range map[string][]string{
		"":                                ids[:10],
		"?limit=2":                        pick(0, 1),
		"?limit=2&offset=3":               pick(3, 4),
		"?limit=0":                        ids,
		"?limit=-1&offset=11":             pick(11, 12),
		"?offset=99":                      nil,
		"?sort=desc&limit=3":              pick(12, 11, 10),
		"?state=PROGRESS":                 pick(0),
		"?state=":                         ids[:10],
		"?clientId=&workflow=":            ids[:10],
		"?workflow=relay":                 pick(12),
		"?workflow=none":                  nil,
		"?clientId=c0":                    pick(0, 3, 6, 9, 12),
		"?clientId=c0&state=NEW":          pick(3, 6, 9),
		"?group=CLOSED":                   pick(1),
		"?group=OPEN&limit=3":             pick(0, 2, 3),
		"?group=OPEN,CLOSED&limit=2":      pick(0, 1),
		"?tag=t1&limit=2":                 pick(1, 3),
		"?tag=t1,all&limit=3":             pick(0, 1, 2),
		"?group=OPEN&tag=t1&limit=2":      pick(3, 5),
		"?group=OPEN&tag=t1&clientId=c0":  pick(3, 9),
		"?unknown=1&limit=1":              pick(0),
		"?stimeFrom=2026-03-01T10:00:11Z": pick(11, 12),
		"?stimeTo=2026-03-01T10:00:01Z":   pick(0),
		"?mtimeFrom=2026-03-01T10:00:13Z": pick(0, 1),
		"?mtimeFrom=2026-03-01T10:00:12Z": pick(0, 1, 12),
		"?mtimeTo=2026-03-01T10:00:03.5Z": pick(2, 3),
		"?stimeFrom=2026-03-01T11:00:00Z": nil,
		"?history=true&limit=1&state=NEW": pick(2),
		"?limit=1&limit=2":                pick(0),
		"?stimeFrom=2026-03-01T12:00:11%2B02:00&stimeTo=2026-03-01T10:00:12Z": pick(11),
	} {
		a := w.south.get("/jobs" + query).want(200)
		var got []string
		content, _ := parse(t, a.text).Get("content")
		for _, job := range content.Items() {
			id, _ := job.Get("id")
			got = append(got, id.Str())
			if _, ok := job.Get("history"); ok {
				t.Errorf("%s: a list has a history", query)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %d jobs %v, want %v", query, len(got), got, want)
		}
	}
	for _, bad := range []string{
		"group=", "tag=", "group=A&group=B", "tag=a&tag=b", "limit=x", "limit=1.5", "offset=x", "sort=ASC", "pagination=maybe",
		"stimeFrom=yesterday", "stimeTo=", "mtimeFrom=1", "mtimeTo=2026-03-01", "tag=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "%zz",
	} {
		w.south.get("/jobs?" + bad).plain(400)
	}
	w.north.get("/jobs?pagination=true&limit=1&offset=1&group=OPEN").want(200).says(`"pagination":{"limit":1,"offset":1,"total":11}`)
}

// TestListOfAll: a list without a limit goes beyond what is read at a time.
func TestListOfAll(t *testing.T) {
	w := newWorld(t, nil)
	w.north.do("POST", "/workflows", file(t, "relay.json")).want(201)
	const n = 230
	var requests []engine.JobRequest
	for i := range n {
		requests = append(requests, engine.JobRequest{Workflow: "relay", Client: fmt.Sprint("c", i)})
	}
	if _, _, err := w.engine.CreateJobs(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"?limit=0": n, "?limit=0&offset=100": n - 100, "?limit=150": 150, "?limit=101&sort=desc": 101} {
		seen := map[string]bool{}
		content, _ := parse(t, w.south.get("/jobs"+query).want(200).text).Get("content")
		for _, job := range content.Items() {
			id, _ := job.Get("id")
			seen[id.Str()] = true
		}
		if len(seen) != want || content.Len() != want {
			t.Errorf("%s: %d jobs, %d of them different, want %d", query, content.Len(), len(seen), want)
		}
	}
	w.south.get("/jobs?limit=0", "X-Response-Filter", ".content|length").want(200).is("230")
}
