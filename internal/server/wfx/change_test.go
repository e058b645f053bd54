package wfx_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestMoves goes through the moves of both actors, legal and illegal.
func TestMoves(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	put := func(s *side, state string) answered {
		return s.do("PUT", "/jobs/"+id+"/status", `{"state":"`+state+`"}`)
	}
	no := func(s *side, state, message string) {
		t.Helper()
		put(s, state).refused(400, "wfx.invalidRequest", message)
	}
	no(w.south, "DONE", "transition from 'NEW' to 'DONE' does not exist")
	no(w.south, "DISCARDED", "transition from 'NEW' to 'DISCARDED' is not allowed for actor 'CLIENT'")
	no(w.north, "PROGRESS", "transition from 'NEW' to 'PROGRESS' is not allowed for actor 'WFX'")
	no(w.south, "NOWHERE", "transition from 'NEW' to 'NOWHERE' does not exist")
	no(w.north, "BACKLOG", "transition from 'NEW' to 'BACKLOG' does not exist")
	status := `{"definitionHash":"` + noDefinition + `","state":"%s"}`
	for _, step := range []struct {
		side  *side
		state string
	}{
		{w.south, "NEW"},
		{w.north, "NEW"},
		{w.south, "PROGRESS"},
		{w.south, "PROGRESS"},
		{w.north, "PROGRESS"},
		{w.south, "VALIDATE"},
		{w.north, "DONE"},
		{w.south, "DONE"},
		{w.north, "DONE"}, // also when it is over
	} {
		put(step.side, step.state).want(200).is(fmt.Sprintf(status, step.state))
	}
	no(w.south, "VALIDATE", "transition from 'DONE' to 'VALIDATE' does not exist")
	w.south.get("/jobs?group=CLOSED").want(200).says(id)
}

// TestStatusSchema: what does not fit the contract is refused before anything happens.
func TestStatusSchema(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	for _, bad := range []string{
		``, `1`, `{}`, `{"state":""}`, `{"state":1}`, `{"state":"NEW","progress":101}`, `{"state":"NEW","progress":1.5}`, `{"state":"NEW","progress":"1"}`,
		`{"state":"NEW","message":1}`, `{"state":"NEW","message":"` + strings.Repeat("ä", 1025) + `"}`, `{"state":"NEW","context":[]}`,
		`{"state":"NEW","clientId":1}`, `{"state":"NEW","definitionHash":"x"}`, `{"state":"NEW"`, "\xff",
	} {
		w.south.do("PUT", "/jobs/"+id+"/status", bad).plain(400)
	}
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NEW"}`, "Content-Type", "application/x-www-form-urlencoded").plain(400)
	// Nothing was replaced: the transition that led from BACKLOG to NEW was part of the creation.
	w.south.get("/jobs/"+id+"?history=true", "X-Response-Filter", ".history").want(200).is(`null`)
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NEW","progress":100,"message":"`+strings.Repeat("ä", 1024)+`"}`).want(200)
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"NEW","state":"PROGRESS"}`).want(200).says("PROGRESS") // the last counts
	for _, bad := range []string{``, `null`, `[]`, `"x"`, `{"a":`} {
		w.south.do("PUT", "/jobs/"+id+"/definition", bad).plain(400)
	}
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"PROGRESS"}`, "Content-Type", "application/json; charset=utf-8").want(200)
}

// TestRevisions: a change at a revision that is not the job's any more is refused.
func TestRevisions(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	first := w.south.get("/jobs/" + id).header.Get("ETag")
	second := w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"PROGRESS"}`, "If-Match", first).want(200).header.Get("ETag")
	if first == "" || first == second {
		t.Fatalf("revisions %s and %s", first, second)
	}
	for _, stale := range []answered{
		w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"VALIDATE"}`, "If-Match", first),
		w.south.do("PUT", "/jobs/"+id+"/definition", `{"a":1}`, "If-Match", first),
		w.north.do("POST", "/jobs/"+id+"/tags", `["a"]`, "If-Match", first),
		w.north.do("DELETE", "/jobs/"+id+"/tags", `["a"]`, "If-Match", first),
		w.north.do("DELETE", "/jobs/"+id, "", "If-Match", first),
	} {
		stale.want(400).says(`{"errors":[{"code":"wfx.jobModifiedConcurrently","logref":"dc00b05825b44934afeb9454f42a6440","message":"`)
	}
	for _, bad := range []string{"1", `"x"`, `"0"`, `W/"1"`, `"`} {
		w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"VALIDATE"}`, "If-Match", bad).plain(400)
	}
	w.south.get("/jobs/" + id + "/status").is(`{"definitionHash":"` + noDefinition + `","state":"PROGRESS"}`)
	third := w.south.do("PUT", "/jobs/"+id+"/definition", `{"a":1}`, "If-Match", second).want(200).header.Get("ETag")
	w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"VALIDATE"}`, "If-Match", "*").want(200)
	w.north.do("DELETE", "/jobs/"+id, "", "If-Match", third).want(400)
	w.north.do("DELETE", "/jobs/"+id, "").want(204).is("")
	w.north.do("DELETE", "/jobs/"+id, "").want(404).is("{}")
}

func TestTags(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban","tags":["b"]}`)
	path := "/jobs/" + id + "/tags"
	w.south.do("POST", path, `["c"]`).want(403).is("")
	w.south.do("DELETE", path, `["b"]`).want(403).is("")
	for _, method := range []string{"POST", "DELETE"} {
		for _, bad := range []string{``, `{}`, `[]`, `[1]`, `"a"`} {
			w.north.do(method, path, bad).plain(400)
			w.south.do(method, path, bad).want(403).is("") // its body is not even read
		}
	}
	w.north.do("POST", path, `["c","a","c","b"]`).want(200).is(`["a","b","c"]`)
	w.north.do("DELETE", path, `["b","unknown"]`).want(200).is(`["a","c"]`)
	w.south.get("/jobs?tag=b").is(`{"content":[]}`)
	w.south.get("/jobs?tag=c").says(id)
	w.north.do("DELETE", path, `["a","c"]`).want(200).is(`[]`)
	w.north.do("POST", path, `["`+strings.Repeat("x", 300)+`"]`).want(400).says("job-tag-bytes")
}

// TestWalkThrough is the day of a task on a board: the operator creates it, the developer
// pulls it, reports, and has it validated.
func TestWalkThrough(t *testing.T) {
	w := newWorld(t, nil)
	w.north.do("POST", "/workflows", file(t, "kanban.json"), "X-Response-Filter", ".transitions").want(200).says(`[{"action":"IMMEDIATE"`)
	a := w.north.do("POST", "/jobs", `{"clientId":"dana","definition":{"title":"expose job api"},"workflow":"wfx.workflow.kanban"}`, "X-Response-Filter", "del(.workflow)").want(200)
	id := uuids.FindString(a.text)
	hash := hashed(`["title":"expose job api"]`)
	a.is(`{"clientId":"dana","definition":{"title":"expose job api"},"id":"ID1","mtime":"TIME1","status":{"clientId":"dana","definitionHash":"` + hash + `","state":"NEW"},"stime":"TIME1"}`)
	path := "/jobs/" + id + "/status"
	w.south.do("PUT", path, `{"state":"PROGRESS"}`, "Accept", "application/json").want(200).is(`{"definitionHash":"` + hash + `","state":"PROGRESS"}`)
	w.south.do("PUT", path, `{"progress":42,"state":"PROGRESS"}`).want(200).is(`{"definitionHash":"` + hash + `","progress":42,"state":"PROGRESS"}`)
	w.south.do("PUT", path, `{"progress":0,"state":"VALIDATE"}`).want(200)
	w.north.do("PUT", path, `{"progress":0,"state":"DONE"}`).want(200).is(`{"definitionHash":"` + hash + `","progress":0,"state":"DONE"}`)
	w.south.get("/jobs/"+id+"?history=true", "X-Response-Filter", ".history|map(.status.state)").want(200).
		is(`["VALIDATE","PROGRESS","PROGRESS","NEW"]`)
	w.north.do("DELETE", "/workflows/wfx.workflow.kanban", "").want(409) // finished jobs count
}

// TestWriters: many write to one job at once. Every update is taken, none is lost, and
// nobody is told to try again.
func TestWriters(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban"}`)
	const writers, each = 64, 10
	var all sync.WaitGroup
	for i := range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			s := w.south
			if i%2 == 0 {
				s = w.north
			}
			for n := range each {
				body := fmt.Sprintf(`{"state":"NEW","message":"%d.%d"}`, i, n)
				if a := s.do("PUT", "/jobs/"+id+"/status", body); a.status != 200 || !strings.Contains(a.text, fmt.Sprintf(`"message":"%d.%d"`, i, n)) {
					t.Errorf("%s: %d %s", body, a.status, a.text)
				}
			}
		}()
	}
	all.Wait()
	job := parse(t, w.south.get("/jobs/"+id+"?history=true").want(200).text)
	history, _ := job.Get("history")
	last, _ := job.Get("status")
	seen := map[string]int{}
	for _, status := range append(history.Items(), object1("status", last)) {
		if m, ok := status.Lookup("status", "message"); ok {
			seen[m.Str()]++
		}
	}
	for message, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", message, n)
		}
	}
	if len(seen) != writers*each || history.Len() != writers*each {
		t.Errorf("%d updates and %d entries, want %d", len(seen), history.Len(), writers*each)
	}
}
