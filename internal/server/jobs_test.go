package server

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func TestCreateJobs(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("relay")
		body := `{"workflow":"relay","clients":["a","b","c"],"tags":["w1"],"definition":{"url":"x"}}`
		a := w.do("POST", "/api/v1/jobs", body).want(201).is("created", `3`)
		for i, client := range []string{"a", "b", "c"} {
			a.is(fmt.Sprintf("items.%d.client", i), `"`+client+`"`)
			id := a.t2(fmt.Sprintf("items.%d.id", i))
			w.get("/api/v1/instances/"+id).want(200).is("status", `"waiting"`).is("state", `"WAITING"`).is("labels", `{"tags":["w1"]}`).
				is("job", `{"client":"`+client+`","state":"WAITING","group":"OPEN","allowed":[{"actor":"CLIENT","state":"RUNNING"},{"actor":"WFX","state":"GIVEN-UP"}]}`)
		}
		w.do("POST", "/api/v1/jobs", body).want(201).is("created", `3`) // without a key it is another request
		w.get("/api/v1/instances/count?q=is:job").is("count", `6`)
		w.get("/api/v1/instances?q=client:b+group:OPEN").is("items.1.job.client", `"b"`).is("items.2", `null`)

		// With a key the second request finds what the first has made.
		first := w.do("POST", "/api/v1/jobs", body, "Idempotency-Key", "k1").want(201).is("created", `3`)
		again := w.do("POST", "/api/v1/jobs", body, "Idempotency-Key", "k1").want(201).is("created", `0`)
		if first.t2("items.1.id") != again.t2("items.1.id") {
			t.Errorf("%s and %s", first.text, again.text)
		}
		more := strings.Replace(body, `"c"`, `"c","d"`, 1)
		w.do("POST", "/api/v1/jobs", more, "Idempotency-Key", "k1").want(201).is("created", `1`).is("items.1.id", `"`+first.str("items.1.id")+`"`)
		w.do("POST", "/api/v1/jobs", strings.Replace(body, "w1", "w2", 1), "Idempotency-Key", "k1").problem(api.CodeKeyReused)
		w.do("POST", "/api/v1/jobs", strings.Replace(body, `"x"`, `"y"`, 1), "Idempotency-Key", "k1").problem(api.CodeKeyReused)
		if id := first.t2("items.0.id"); !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
			t.Errorf("%s is no UUID", id)
		}
	})
}

// TestCreateJobsRefused: where one job cannot be created, none is.
func TestCreateJobsRefused(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.deploy("relay", "hello")
	for body, pointer := range map[string]string{
		`{"workflow":"relay"}`:                                                "/clients",
		`{"workflow":"relay","clients":[]}`:                                   "/clients",
		`{"workflow":"relay","clients":"a"}`:                                  "/clients",
		`{"workflow":"relay","clients":["a",1]}`:                              "/clients/1",
		`{"workflow":"relay","clients":["a","b","a"]}`:                        "/clients/2",
		`{"workflow":"relay","clients":["a",""]}`:                             "/clients/1",
		`{"workflow":"relay","clients":["a","b\u0000c"]}`:                     "/clients/1",
		`{"workflow":"relay","clients":["a"],"tags":"x"}`:                     "/tags",
		`{"workflow":"relay","clients":["a"],"definition":1}`:                 "/definition",
		`{"workflow":"none","clients":["a"]}`:                                 "/workflow",
		`{"workflow":"hello","clients":["a"]}`:                                "/workflow", // which is no job
		`{"clients":["a"]}`:                                                   "/workflow",
		`{"workflow":"relay","clients":["` + strings.Repeat("x", 300) + `"]}`: "/clients/0",
	} {
		w.do("POST", "/api/v1/jobs", body).problem(api.CodeInput).is("errors.0.pointer", `"`+pointer+`"`)
	}
	w.do("POST", "/api/v1/jobs", `{"workflow":"relay","clients":["a"],"client":"b"}`).problem(api.CodeUnknownField)
	w.get("/api/v1/instances/count?q=is:job").is("count", `0`)
	var clients []string
	for i := range 10_001 {
		clients = append(clients, fmt.Sprintf(`"c%d"`, i))
	}
	w.do("POST", "/api/v1/jobs", `{"workflow":"relay","clients":[`+strings.Join(clients, ",")+`]}`).problem(api.CodeInput).says("bulk-jobs")
}

// TestJobsAsInstances: what is there for instances makes sense for jobs.
func TestJobsAsInstances(t *testing.T) {
	clock := engine.NewVirtualClock(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))
	w := newWorld(t, newMemory(), func(_ *Config, ec *engine.Config) { ec.Clock = clock })
	w.deploy("relay")
	id := w.do("POST", "/api/v1/jobs", `{"workflow":"relay","clients":["a"]}`).t2("items.0.id")
	path := "/api/v1/instances/" + id
	w.get(path+"/why").want(200).is("summary", `"It waits for the device to move it to RUNNING, or an operator to move it to GIVEN-UP."`)
	if got, text := w.move(id, "GIVEN-UP"); got != 200 {
		t.Fatalf("%d %s", got, text)
	}
	w.get(path+"/why").want(200).is("summary", `"It has ended: completed."`)
	w.get(path).is("output", `{"state":"GIVEN-UP"}`).is("job.allowed", `[]`)
	history := w.get(path + "/history").want(200)
	var types []string
	for _, item := range history.at("items").Items() {
		kind, _ := item.Get("type")
		node, _ := item.Get("node")
		types = append(types, kind.Str()+":"+node.Str())
	}
	if got := strings.Join(types, " "); !strings.HasPrefix(got, "started: entered:WAITING") || !strings.Contains(got, "taken:WAITING") || !strings.Contains(got, "entered:GIVEN-UP") {
		t.Errorf("history %s", got)
	}
	w.get("/metrics").want(200).says(`lockstep_jobs{workflow="relay",state="GIVEN-UP",group=""} 1`).
		says(`lockstep_job_updates_total{workflow="relay",state="GIVEN-UP",actor="WFX"} 1`)

	second := w.do("POST", "/api/v1/jobs", `{"workflow":"relay","clients":["b"]}`).t2("items.0.id")
	if _, err := w.engine.UpdateJob(t.Context(), second, engine.JobUpdate{Actor: "CLIENT", Status: status("RUNNING")}); err != nil {
		t.Fatal(err)
	}
	w.get("/api/v1/instances/"+second+"/why").want(200).is("nextWake", `"2026-03-01T11:00:00Z"`).says("its timeout at 2026-03-01T11:00:00Z")
	w.get("/api/v1/instances?q=state:RUNNING").is("items.0.id", `"`+second+`"`)
	w.do("POST", "/api/v1/instances/"+second+"/pause", "").want(200)
	if got, text := w.move(second, "GIVEN-UP"); got != 400 || !strings.Contains(text, "paused") {
		t.Errorf("%d %s", got, text)
	}
	w.do("POST", "/api/v1/instances/"+second+"/resume", "").want(200)
}

func status(state string) expr.Value {
	return expr.Object(expr.Member{Key: "state", Value: expr.String(state)})
}

// move moves a job by wfx's interface, whose answers are another contract's.
func (w *world) move(id, state string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), "PUT", w.url+"/api/wfx/v1/jobs/"+id+"/status", strings.NewReader(status(state).String()))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return a.StatusCode, string(text)
}
