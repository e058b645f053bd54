package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// jobsAt is a client of jobs of a server that a handler plays.
func jobsAt(t *testing.T, handler http.HandlerFunc) *client.Jobs {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	j, err := client.NewJobs(client.JobsOptions{Options: client.Options{URL: server.URL + "/api/wfx/v1/", Token: "secret"}, ClientID: "dana"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j
}

// TestJobsRequests: every operation is one request, with this method, path, query and body.
func TestJobsRequests(t *testing.T) {
	var got string
	j := jobsAt(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		if len(body) > 0 && r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: a body of type %q", got, r.Header.Get("Content-Type"))
		}
		if r.Header.Get("X-Client-Id") != "dana" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("%s: headers %v", got, r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/tags") {
			_, _ = io.WriteString(w, "[]")
			return
		}
		_, _ = io.WriteString(w, "{}")
	})
	ctx := t.Context()
	half := 50
	day := time.Date(2026, 1, 31, 12, 0, 0, 500, time.UTC)
	for want, do := range map[string]func() error{
		`POST /api/wfx/v1/jobs {"clientId":"dana","definition":{"big":12345678901234567890},"tags":["a"],"workflow":"kanban"}`: func() error {
			_, err := j.CreateJob(ctx, api.JobRequest{ClientID: "dana", Workflow: "kanban", Tags: []string{"a"}, Definition: api.Data(`{"big":12345678901234567890}`)})
			return err
		},
		`GET /api/wfx/v1/jobs/a%2Fb`:              func() error { _, err := j.GetJob(ctx, "a/b", false); return err },
		`GET /api/wfx/v1/jobs/1?history=true`:     func() error { _, err := j.GetJob(ctx, "1", true); return err },
		`DELETE /api/wfx/v1/jobs/1`:               func() error { return j.DeleteJob(ctx, "1") },
		`GET /api/wfx/v1/jobs/1/status`:           func() error { _, err := j.GetStatus(ctx, "1"); return err },
		`GET /api/wfx/v1/jobs/1/definition`:       func() error { _, err := j.GetJobDefinition(ctx, "1"); return err },
		`GET /api/wfx/v1/jobs/1/tags`:             func() error { _, err := j.GetTags(ctx, "1"); return err },
		`POST /api/wfx/v1/jobs/1/tags ["a","b"]`:  func() error { _, err := j.AddTags(ctx, "1", "a", "b"); return err },
		`DELETE /api/wfx/v1/jobs/1/tags ["a"]`:    func() error { _, err := j.DeleteTags(ctx, "1", "a"); return err },
		`GET /api/wfx/v1/workflows/kanban`:        func() error { _, err := j.GetWorkflow(ctx, "kanban"); return err },
		`DELETE /api/wfx/v1/workflows/kanban`:     func() error { return j.DeleteWorkflow(ctx, "kanban") },
		`POST /api/wfx/v1/workflows {"name":"k"}`: func() error { _, err := j.CreateWorkflow(ctx, api.Data(`{"name":"k"}`)); return err },
		`GET /api/wfx/v1/health`:                  func() error { _, err := j.Health(ctx); return err },
		`GET /api/wfx/v1/version`:                 func() error { _, err := j.ServerVersion(ctx); return err },
		`PUT /api/wfx/v1/jobs/1/definition {"a":1}`: func() error {
			_, err := j.UpdateJobDefinition(ctx, "1", api.Data(`{"a":1}`))
			return err
		},
		`PUT /api/wfx/v1/jobs/1/status {"context":{"n":1},"message":"m","progress":50,"state":"PROGRESS"}`: func() error {
			_, err := j.UpdateStatus(ctx, "1", api.JobStatus{State: "PROGRESS", Progress: &half, Message: "m", Context: api.Data(`{"n":1}`)})
			return err
		},
		`GET /api/wfx/v1/workflows?limit=-1&offset=3&pagination=true&sort=desc`: func() error {
			_, err := j.ListWorkflows(ctx, client.WorkflowQuery{Limit: -1, Offset: 3, Descending: true, Total: true})
			return err
		},
		`GET /api/wfx/v1/jobs?clientId=dana&group=OPEN%2CCLOSED&limit=5&mtimeTo=2026-01-31T12%3A00%3A00.0000005Z&offset=2&sort=desc&state=NEW&tag=a%2Cb&workflow=kanban`: func() error {
			_, err := j.ListJobs(ctx, client.JobQuery{ClientID: "dana", State: "NEW", Workflow: "kanban", Groups: []string{"OPEN", "CLOSED"}, Tags: []string{"a", "b"}, ChangedTo: day, Limit: 5, Offset: 2, Descending: true})
			return err
		},
	} {
		if err := do(); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if got != want {
			t.Errorf("sent %s\nwant %s", got, want)
		}
	}
}

// TestJobsRefusals: both shapes of wfx's errors, the empty ones, and Lockstep's own.
func TestJobsRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status       int
		media, body  string
		code, detail string
	}{
		"errors":   {400, "application/json", `{"errors":[{"code":"wfx.invalidRequest","logref":"96","message":"transition from 'A' to 'B' does not exist"}]}`, "wfx.invalidRequest", "transition from 'A' to 'B' does not exist"},
		"schema":   {400, "text/plain; charset=utf-8", "request body has an error\n", "http-400", "request body has an error"},
		"south":    {403, "", "", "http-403", "north-bound"},
		"deleted":  {404, "application/json", "{}", "wfx.jobNotFound", "there is no such job"},
		"stranger": {401, "application/problem+json", `{"code":"unauthorized","title":"No token","status":401,"detail":"give a token"}`, "unauthorized", "give a token"},
		"proxy":    {502, "text/html", "<html>", "http-502", "502 Bad Gateway"},
	} {
		attempts := 0
		j := jobsAt(t, func(w http.ResponseWriter, _ *http.Request) {
			attempts++
			if c.media != "" {
				w.Header().Set("Content-Type", c.media)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := j.GetJob(t.Context(), "1", false)
		var p *client.Problem
		if !errors.As(err, &p) || p.Status != c.status || p.Code != api.Code(c.code) || !strings.Contains(p.Error(), c.detail) || attempts != 1 {
			t.Errorf("%s: %#v after %d attempts", name, err, attempts)
		}
	}
}

// TestJobsFilterIsSentAndAnsweredAsText: the answer to a filter is not JSON, and is given as it is.
func TestJobsFilterIsSentAndAnsweredAsText(t *testing.T) {
	j := jobsAt(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, r.Header.Get("X-Response-Filter")+"\n\"two\"\n")
	})
	text, err := j.Do(t.Context(), client.JobsCall{Method: "GET", Path: []string{"jobs"}, Filter: ".a, .b"})
	if err != nil || string(text) != ".a, .b\n\"two\"\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestJobEventsGoOnWhereTheyBroke: after every break, the stream is asked for from the last position, also
// one that came without an event.
func TestJobEventsGoOnWhereTheyBroke(t *testing.T) {
	answers := []string{
		"id: 3\n\n", // a position only
		": keepalive\n\ndata: {\"ctime\":\"2026-01-31T12:00:00.000Z\",\"action\":\"CREATE\",\"job\":{\"id\":\"a\",\"clientId\":\"dana\",\"status\":{\"state\":\"NEW\"},\"workflow\":{\"name\":\"k\"}},\"tags\":[\"x\"]}\nid: 4\n\ndata: {\"action\"", // broken within one
		"data: {\"ctime\":\"2026-01-31T12:00:01.000Z\",\"action\":\"DELETE\",\"job\":{\"id\":\"a\"},\"tags\":[]}\nid: 7\n\n",
	}
	var asked []string
	j := jobsAt(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Last-Event-ID"))
		if r.URL.RequestURI() != "/api/wfx/v1/jobs/events?actions=CREATE%2CDELETE&clientIds=dana&jobIds=a%2Cb&tags=x&workflows=k" || r.Header.Get("Accept") != "text/event-stream" {
			t.Errorf("%s %v", r.URL.RequestURI(), r.Header)
		}
		if len(answers) == 0 {
			w.WriteHeader(http.StatusGone) // which does not pass
			return
		}
		_, _ = io.WriteString(w, answers[0])
		answers = answers[1:]
	})
	q := client.JobEventQuery{ClientIDs: []string{"dana"}, JobIDs: []string{"a", "b"}, Workflows: []string{"k"}, Actions: []string{"CREATE", "DELETE"}, Tags: []string{"x"}, After: "2"}
	broke := 0
	q.Broke = func(error) { broke++ }
	var seen []string
	var end error
	for e, err := range j.JobEvents(t.Context(), q) {
		if err != nil {
			end = err
			break
		}
		if e.Kind == api.StreamChanged {
			seen = append(seen, fmt.Sprint(e.Position, e.Action, e.Job.ID, e.Job.State(), e.Job.WorkflowName(), e.Tags))
		}
	}
	var p *client.Problem
	if !errors.As(end, &p) || p.Status != http.StatusGone {
		t.Errorf("it ends with %v", end)
	}
	if broke != 3 {
		t.Errorf("told %d times that it broke, want 3", broke)
	}
	if want := []string{"4CREATEaNEWk[x]", "7DELETEa[]"}; !reflect.DeepEqual(seen, want) {
		t.Errorf("saw %q, want %q", seen, want)
	}
	if want := []string{"2", "3", "4", "7"}; !reflect.DeepEqual(asked, want) {
		t.Errorf("asked from %q, want %q", asked, want)
	}
}

// TestJobEventsWithoutPatienceEnd: who wants no second connection gets an error.
func TestJobEventsWithoutPatienceEnd(t *testing.T) {
	asked := 0
	j := jobsAt(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, ": keepalive\n\n")
	})
	var kinds []string
	var end error
	for e, err := range j.JobEvents(t.Context(), client.JobEventQuery{Patience: -1}) {
		if end = err; err == nil {
			kinds = append(kinds, e.Kind)
		}
	}
	var cut *client.UnreachableError
	if !errors.As(end, &cut) || asked != 1 || !reflect.DeepEqual(kinds, []string{api.StreamReady}) {
		t.Errorf("%d connections, %v, ended with %v", asked, kinds, end)
	}
}

func TestCountJobs(t *testing.T) {
	j := jobsAt(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("pagination") == "true" && r.URL.Query().Get("limit") == "1" && r.URL.Query().Get("state") == "NEW" {
			_, _ = io.WriteString(w, `{"content":[{"id":"1"}],"pagination":{"limit":1,"offset":0,"total":1234}}`)
		}
	})
	if n, err := j.CountJobs(t.Context(), client.JobQuery{State: "NEW", Limit: 7, Offset: 9}); n != 1234 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestWorkflowMoves(t *testing.T) {
	w := api.Workflow{
		Groups: []api.StateGroup{{Name: "CLOSED", States: []string{"DONE"}}},
		Transitions: []api.Transition{
			{From: "NEW", To: "READY", Eligible: "WFX", Action: "IMMEDIATE"},
			{From: "READY", To: "READY", Eligible: "CLIENT"},
			{From: "READY", To: "DONE", Eligible: "CLIENT"},
			{From: "READY", To: "GONE", Eligible: "WFX", Action: "WAIT"},
			{From: "DONE", To: "DONE", Eligible: "CLIENT"},
		},
	}
	if got := w.Moves("READY", api.ActorClient); !reflect.DeepEqual(got, []string{"DONE"}) {
		t.Errorf("a client may lead to %q", got)
	}
	if got := w.Moves("READY", api.ActorOperator); !reflect.DeepEqual(got, []string{"GONE"}) {
		t.Errorf("an operator may lead to %q", got)
	}
	if w.Moves("NEW", api.ActorOperator) != nil {
		t.Error("what follows at once is nobody's move")
	}
	if !w.Final("DONE") || w.Final("READY") || w.Group("DONE") != "CLOSED" || w.Group("NEW") != "" {
		t.Error("final states or groups are wrong")
	}
}
