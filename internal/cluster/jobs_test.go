package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/jobcheck"
)

const ticketWorkflow = `{"name": "ticket",
	"states": [{"name": "OPEN"}, {"name": "BUSY"}, {"name": "REVIEW"}, {"name": "SHIPPED"}, {"name": "VOID"}],
	"transitions": [
		{"from": "OPEN", "to": "BUSY", "eligible": "CLIENT"}, {"from": "OPEN", "to": "VOID", "eligible": "WFX"},
		{"from": "BUSY", "to": "REVIEW", "eligible": "CLIENT"}, {"from": "REVIEW", "to": "VOID", "eligible": "WFX"},
		{"from": "REVIEW", "to": "SHIPPED", "eligible": "CLIENT"}]}`

var ticketMoves = jobcheck.Moves{
	"OPEN":   {"CLIENT": {"BUSY"}, "WFX": {"VOID"}},
	"BUSY":   {"CLIENT": {"REVIEW"}},
	"REVIEW": {"WFX": {"VOID"}, "CLIENT": {"SHIPPED"}},
}

// send makes a request of the wfx API; code 0: there was no answer, or none that says
// whether it was done.
func (s *servers) send(at, method, path string, body any) (code int, answer []byte) {
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(context.Background(), method, at+"/api/wfx/v1"+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(r)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil || res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests {
		return 0, nil
	}
	return res.StatusCode, answer
}

// insist sends the same until it is done, or refused.
func (s *servers) insist(method, path string, body any) (code int, answer []byte) {
	s.eventually(method+" "+path, func(context.Context) bool {
		code, answer = s.send(s.any().URL, method, path, body)
		return code != 0
	})
	return code, answer
}

type jobStatus struct{ State, Message string }

// update asks any node for a move and tells what became of it.
func (s *servers) update(id, actor string, want jobcheck.Status) (jobcheck.Verdict, jobcheck.Status) {
	p := s.any()
	at := p.Devices
	if actor == "WFX" {
		at = p.URL
	}
	code, answer := s.send(at, http.MethodPut, "/jobs/"+id+"/status", map[string]any{"state": want.State, "message": want.Message})
	var saw jobStatus
	switch {
	case code == http.StatusOK && json.Unmarshal(answer, &saw) == nil:
		return jobcheck.Accepted, jobcheck.Status(saw)
	case code == http.StatusBadRequest && bytes.Contains(answer, []byte("transition from")):
		return jobcheck.Refused, jobcheck.Status{}
	case code != 0:
		s.t.Errorf("update %q: %d %s", want.Message, code, answer)
	}
	return jobcheck.Unknown, jobcheck.Status{}
}

func (s *servers) read(id string) (jobcheck.Status, bool) {
	code, answer := s.send(s.any().Devices, http.MethodGet, "/jobs/"+id+"/status", nil)
	var saw jobStatus
	if code == 0 {
		return jobcheck.Status{}, false
	}
	if err := json.Unmarshal(answer, &saw); err != nil || code != http.StatusOK {
		s.t.Errorf("read %s: %d %s", id, code, answer)
		return jobcheck.Status{}, false
	}
	return jobcheck.Status(saw), true
}

// updates lists those that the history of a job tells of, in order.
func (s *servers) updates(id string) (out []jobcheck.Status) {
	for after := ""; ; {
		page, err := s.at(0).API.GetHistory(s.t.Context(), id, client.Paging{After: after, Limit: 1000})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, r := range page.Items {
			var saw jobStatus
			if r.Type != api.RecordTaken {
				continue
			}
			if err := json.Unmarshal(r.Data, &saw); err != nil {
				s.t.Fatalf("record %d: %v", r.Seq, err)
			}
			out = append(out, jobcheck.Status(saw))
		}
		if after = page.Next; after == "" {
			return out
		}
	}
}

// TestJobsUnderHarm: whatever becomes of the nodes and the database, there is an order of
// all updates and reads, at whichever node, that one job could have gone through.
func TestJobsUnderHarm(t *testing.T) {
	s := newServers(t, 3)
	if code, answer := s.insist(http.MethodPost, "/workflows", json.RawMessage(ticketWorkflow)); code != http.StatusCreated {
		t.Fatalf("the workflow was not taken: %d %s", code, answer)
	}
	const jobs = 6
	ids, logs := [jobs]string{}, [jobs]*jobcheck.Log{}
	for i := range jobs {
		code, answer := s.insist(http.MethodPost, "/jobs", map[string]any{"clientId": fmt.Sprint("device", i), "workflow": "ticket"})
		var job struct {
			ID     string
			Status jobStatus
		}
		if err := json.Unmarshal(answer, &job); err != nil || code != http.StatusCreated {
			t.Fatalf("no job was made: %d %s", code, answer)
		}
		ids[i], logs[i] = job.ID, &jobcheck.Log{Moves: ticketMoves, Initial: jobcheck.Status{State: job.Status.State}}
	}
	over := make(chan struct{})
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() { s.work(w, ids[:], logs[:], over) })
	}
	done := s.harm(*harm, *restarts)
	close(over)
	all.Wait()
	// What got no answer is over by now, or never will be done.
	for i := range s.all {
		s.at(i).Kill()
	}
	s.pg.Restart(t)
	for i := range s.all {
		s.up(i)
	}
	var accepted, refused, unknown int
	for i, log := range logs {
		log.Read(0, func() (jobcheck.Status, bool) { return s.read(ids[i]) })
		if err := log.Check(s.updates(ids[i])); err != nil {
			t.Errorf("job %s: %v", ids[i], err)
		}
		a, r, u := log.Count()
		accepted, refused, unknown = accepted+a, refused+r, unknown+u
	}
	t.Logf("%v: %d updates accepted, %d refused, %d without an answer", done, accepted, refused, unknown)
	if accepted == 0 || refused == 0 {
		t.Error("nothing was shown")
	}
}

// work moves jobs to and fro, and looks.
func (s *servers) work(w int, ids []string, logs []*jobcheck.Log, over <-chan struct{}) {
	seen := make([]string, len(ids))
	for n := 0; ; n++ {
		select {
		case <-over:
			return
		default:
		}
		i := rand.IntN(len(ids))
		actor, state := "CLIENT", seen[i]
		switch dice := rand.IntN(200); { // most are progress within a state
		case dice == 0:
			actor, state = "WFX", "VOID"
		case dice < 4:
			state = []string{"BUSY", "REVIEW", "SHIPPED"}[dice-1]
		case dice < 20 || state == "":
			state = "OPEN" // soon it is refused
		}
		want := jobcheck.Status{State: state, Message: fmt.Sprintf("%d.%d", w, n)}
		logs[i].Update(w, actor, want, func() (jobcheck.Verdict, jobcheck.Status) { return s.update(ids[i], actor, want) })
		logs[i].Read(w, func() (jobcheck.Status, bool) {
			saw, ok := s.read(ids[i])
			if ok {
				seen[i] = saw.State
			}
			return saw, ok
		})
	}
}
