package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/jobcheck"
)

var (
	jobUpdates = flag.Int("job.updates", 1000, "how often each of 16 writers updates the job of TestManyWritersOnOneJob")
	jobKills   = flag.Int("job.kills", 5, "how often TestJobsAcrossKills kills the server")
)

const taskWorkflow = `{"name": "task",
	"states": [{"name": "NEW"}, {"name": "WORK"}, {"name": "CHECK"}, {"name": "DONE"}, {"name": "DROPPED"}],
	"transitions": [
		{"from": "NEW", "to": "WORK", "eligible": "CLIENT"}, {"from": "NEW", "to": "DROPPED", "eligible": "WFX"},
		{"from": "WORK", "to": "CHECK", "eligible": "CLIENT"}, {"from": "CHECK", "to": "DONE", "eligible": "CLIENT"},
		{"from": "CHECK", "to": "DROPPED", "eligible": "WFX"}]}`

var taskMoves = jobcheck.Moves{
	"NEW":   {"CLIENT": {"WORK"}, "WFX": {"DROPPED"}},
	"WORK":  {"CLIENT": {"CHECK"}},
	"CHECK": {"CLIENT": {"DONE"}, "WFX": {"DROPPED"}},
}

// fleet is a server with jobs, and those who change them.
type fleet struct {
	t        *testing.T
	dir      string
	http     *http.Client
	server   *process
	api      atomic.Pointer[client.Client]
	failures atomic.Int64 // answers that are neither yes nor a refusal
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{t: t, dir: t.TempDir(), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	f.up()
	if code, answer := f.send(t.Context(), f.server.url, http.MethodPost, "/workflows", json.RawMessage(taskWorkflow)); code != http.StatusCreated {
		t.Fatalf("the workflow was not taken: %d %s", code, answer)
	}
	return f
}

func (f *fleet) up() {
	p, err := launch(f.dir, os.Environ(), "serve", "--north", "127.0.0.1:0", "--south", "127.0.0.1:0",
		"--store", "sqlite:"+filepath.Join(f.dir, "lockstep.db"), "--log-level", "warn")
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(p.kill)
	c, err := client.New(client.Options{URL: p.url, Attempts: 1})
	if err != nil {
		f.t.Fatal(err)
	}
	f.server = p
	f.api.Store(c)
}

// send makes a request of the wfx API; code 0: there was no answer.
func (f *fleet) send(ctx context.Context, server, method, path string, body any) (code int, answer []byte) {
	text, err := json.Marshal(body)
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, method, server+"/api/wfx/v1"+path, bytes.NewReader(text))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := f.http.Do(r)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	if answer, err = io.ReadAll(res.Body); err != nil {
		return 0, nil
	}
	return res.StatusCode, answer
}

// create makes a job and says how it began.
func (f *fleet) create(who string) (id string, log *jobcheck.Log) {
	code, answer := f.send(f.t.Context(), f.server.url, http.MethodPost, "/jobs", map[string]any{"clientId": who, "workflow": "task"})
	var job struct {
		ID     string
		Status struct{ State string }
	}
	if err := json.Unmarshal(answer, &job); err != nil || code != http.StatusCreated {
		f.t.Fatalf("no job was made: %d %s", code, answer)
	}
	return job.ID, &jobcheck.Log{Moves: taskMoves, Initial: jobcheck.Status{State: job.Status.State}}
}

// update asks for a move and tells what became of it.
func (f *fleet) update(p *process, id, actor string, want jobcheck.Status) (jobcheck.Verdict, jobcheck.Status) {
	server := p.devs
	if actor == "WFX" {
		server = p.url
	}
	code, answer := f.send(f.t.Context(), server, http.MethodPut, "/jobs/"+id+"/status", map[string]any{"state": want.State, "message": want.Message})
	var saw struct{ State, Message string }
	switch {
	case code == http.StatusOK && json.Unmarshal(answer, &saw) == nil:
		return jobcheck.Accepted, jobcheck.Status{State: saw.State, Message: saw.Message}
	case code == http.StatusBadRequest && bytes.Contains(answer, []byte("transition from")):
		return jobcheck.Refused, jobcheck.Status{}
	case code != 0:
		f.failures.Add(1)
		f.t.Errorf("update %q: %d %s", want.Message, code, answer)
	}
	return jobcheck.Unknown, jobcheck.Status{}
}

func (f *fleet) read(p *process, id string) (jobcheck.Status, bool) {
	code, answer := f.send(f.t.Context(), p.devs, http.MethodGet, "/jobs/"+id+"/status", nil)
	var saw struct{ State, Message string }
	if code == 0 {
		return jobcheck.Status{}, false
	}
	if err := json.Unmarshal(answer, &saw); err != nil || code != http.StatusOK {
		f.t.Errorf("read %s: %d %s", id, code, answer)
		return jobcheck.Status{}, false
	}
	return jobcheck.Status{State: saw.State, Message: saw.Message}, true
}

// history lists the updates that the native history tells of, in order.
func (f *fleet) history(id string) []jobcheck.Status {
	var out []jobcheck.Status
	for after := ""; ; {
		page, err := f.api.Load().GetHistory(f.t.Context(), id, client.Paging{After: after, Limit: 1000})
		if err != nil {
			f.t.Fatal(err)
		}
		for _, r := range page.Items {
			if r.Type != api.RecordTaken {
				continue
			}
			var s struct{ State, Message string }
			if err := json.Unmarshal(r.Data, &s); err != nil {
				f.t.Fatalf("record %d: %v", r.Seq, err)
			}
			out = append(out, jobcheck.Status{State: s.State, Message: s.Message})
		}
		if after = page.Next; after == "" {
			return out
		}
	}
}

func (f *fleet) check(id string, log *jobcheck.Log) {
	f.t.Helper()
	if err := log.Check(f.history(id)); err != nil {
		f.t.Errorf("job %s: %v", id, err)
	}
}

// TestManyWritersOnOneJob lets many devices report progress of one job at a time, while
// others look: no request fails, and each report is in the history once, in an order that
// fits everything that anybody saw.
func TestManyWritersOnOneJob(t *testing.T) {
	f := newFleet(t)
	id, log := f.create("device")
	var all sync.WaitGroup
	log.Update(0, "CLIENT", jobcheck.Status{State: "WORK", Message: "first"}, func() (jobcheck.Verdict, jobcheck.Status) {
		return f.update(f.server, id, "CLIENT", jobcheck.Status{State: "WORK", Message: "first"})
	})
	for w := range workers {
		all.Go(func() {
			for n := range *jobUpdates {
				want := jobcheck.Status{State: "WORK", Message: fmt.Sprintf("%d.%d", w, n)}
				log.Update(w, "CLIENT", want, func() (jobcheck.Verdict, jobcheck.Status) { return f.update(f.server, id, "CLIENT", want) })
				if n%10 == 0 {
					log.Read(w, func() (jobcheck.Status, bool) { return f.read(f.server, id) })
				}
			}
		})
	}
	all.Wait()
	if accepted, refused, unknown := log.Count(); accepted != workers**jobUpdates+1 || refused+unknown > 0 {
		t.Errorf("%d updates were accepted, %d refused, %d without an answer", accepted, refused, unknown)
	}
	f.check(id, log)
}

// TestJobsAcrossKills lets devices and operators move jobs, often against one another,
// while the server is killed again and again.
func TestJobsAcrossKills(t *testing.T) {
	f := newFleet(t)
	var accepted, refused, unknown int
	for round := range *jobKills {
		const jobs = 4
		ids, logs := [jobs]string{}, [jobs]*jobcheck.Log{}
		for i := range jobs {
			ids[i], logs[i] = f.create(fmt.Sprintf("device%d", i))
		}
		p := f.server
		acks := make(chan struct{}, 1<<16)
		over := make(chan struct{})
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				seen := [jobs]string{}
				for n := 0; ; n++ {
					select {
					case <-over:
						return
					default:
					}
					i := rand.IntN(jobs)
					actor, state := "CLIENT", seen[i]
					switch dice := rand.IntN(30); {
					case dice == 0:
						actor, state = "WFX", "DROPPED"
					case dice < 4 || state == "":
						state = []string{"NEW", "WORK", "CHECK", "DONE"}[dice%4]
					}
					want := jobcheck.Status{State: state, Message: fmt.Sprintf("%d.%d.%d", round, w, n)}
					if logs[i].Update(w, actor, want, func() (jobcheck.Verdict, jobcheck.Status) { return f.update(p, ids[i], actor, want) }) != jobcheck.Unknown {
						acks <- struct{}{}
					}
					logs[i].Read(w, func() (jobcheck.Status, bool) {
						saw, ok := f.read(p, ids[i])
						if ok {
							seen[i] = saw.State
						}
						return saw, ok
					})
				}
			})
		}
		for range 100 + rand.IntN(200) {
			<-acks
		}
		f.server.kill()
		close(over)
		all.Wait()
		for _, log := range logs {
			log.Gone()
		}
		f.up()
		for i, log := range logs {
			log.Read(0, func() (jobcheck.Status, bool) { return f.read(f.server, ids[i]) })
			f.check(ids[i], log)
			a, r, u := log.Count()
			accepted, refused, unknown = accepted+a, refused+r, unknown+u
		}
		if t.Failed() {
			t.Fatalf("in round %d", round+1)
		}
	}
	t.Logf("%d kills: %d updates accepted, %d refused, %d without an answer", *jobKills, accepted, refused, unknown)
	if code, err := f.server.stop(); code != 0 || err != nil {
		t.Errorf("the server ended with %d, %v:\n%s", code, err, strings.TrimSpace(f.server.stderr()))
	}
}
