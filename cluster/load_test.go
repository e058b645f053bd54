package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/client"
)

const definitions = `
id: started
name: Started by a request
version: "1"
functions: [{name: call, operation: "SERVICE/call#POST"}]
events: [{name: Done, type: done, kind: produced}]
states:
- {name: First, type: operation, start: {kind: default}, actions: [{functionRef: {refName: call, parameters: {n: "{{ $.n }}", step: first}}}], transition: {nextState: Rest}}
- {name: Rest, type: delay, timeDelay: PT0.05S, transition: {nextState: Second}}
- {name: Second, type: operation, actions: [{functionRef: {refName: call, parameters: {n: "{{ $.n }}", step: second}}}], end: {kind: event, produceEvents: [{eventRef: Done, data: "{{ $ }}"}]}}
---
id: heard
name: Started by an event
version: "1"
functions: [{name: call, operation: "SERVICE/call#POST"}]
events: [{name: Go, type: go, source: test}]
states:
- name: Hear
  type: event
  start: {kind: default}
  onEvents: [{eventRefs: [Go], eventDataFilter: {dataOutputPath: "{{ $.data }}"}, actions: [{functionRef: {refName: call, parameters: {n: "{{ $.n }}", step: heard}}}]}]
  end: {kind: default}
---
id: echo
name: Started by the end of another
version: "1"
functions: [{name: call, operation: "SERVICE/call#POST"}]
events: [{name: Done, type: done, source: lockstep/default/started}]
states:
- name: Hear
  type: event
  start: {kind: default}
  onEvents: [{eventRefs: [Done], eventDataFilter: {dataOutputPath: "{{ $.data }}"}, actions: [{functionRef: {refName: call, parameters: {n: "{{ $.n }}", step: echo}}}]}]
  end: {kind: default}
`

// steps are those that an instance of a definition calls, in order.
var steps = map[string][]string{"started": {"first", "second"}, "heard": {"heard"}, "echo": {"echo"}}

// load sends starts and events to any server, each until one has acknowledged it.
type load struct {
	*servers
	calls *recorder

	mu      sync.Mutex
	starts  map[string]string // the instance, by name
	events  map[string]bool
	next    int
	stop    chan struct{}
	workers sync.WaitGroup
}

func newLoad(t *testing.T, s *servers) *load {
	t.Helper()
	l := &load{servers: s, calls: &recorder{times: map[string]map[string]int{}}, starts: map[string]string{}, events: map[string]bool{}, stop: make(chan struct{})}
	service := httptest.NewServer(l.calls)
	t.Cleanup(service.Close)
	for text := range strings.SplitSeq(strings.ReplaceAll(definitions, "SERVICE", service.URL), "---\n") {
		if _, _, err := s.at(0).api.DeployDefinition(t.Context(), []byte(text), client.Deploy{}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// begin lets so many workers send.
func (l *load) begin(workers int) {
	for range workers {
		l.workers.Go(func() {
			for {
				l.mu.Lock()
				l.next++
				n := l.next
				l.mu.Unlock()
				if !l.until(fmt.Sprint("n", n), []func(*server, string) error{l.start, l.event}[n%2]) {
					return
				}
				select {
				case <-l.stop:
					return
				default:
				}
			}
		})
	}
}

// until sends the same until a server has it.
func (l *load) until(name string, send func(*server, string) error) bool {
	for l.t.Context().Err() == nil {
		err := send(l.any(), name)
		if err == nil {
			return true
		}
		var problem *client.Problem
		if errors.As(err, &problem) && problem.Status < 500 && problem.Status != http.StatusTooManyRequests {
			l.t.Errorf("%s was refused: %v", name, err)
			return false
		}
	}
	return false
}

func (l *load) start(s *server, name string) error {
	in, err := s.api.StartInstance(context.Background(), "started", client.Start{Key: name, Input: client.Data(fmt.Sprintf(`{"n":%q}`, name))})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts[name] = in.ID
	return nil
}

func (l *load) event(s *server, name string) error {
	got, err := s.api.SendEvents(context.Background(), client.Data(fmt.Sprintf(`{"specversion":"1.0","type":"go","source":"test","id":%q,"data":{"n":%q}}`, name, name)))
	if err != nil {
		return err
	}
	if got.Accepted+got.Duplicates != 1 {
		l.t.Errorf("event %s: %+v", name, got)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events[name] = true
	return nil
}

// finish lets the workers end with what they are at.
func (l *load) finish() {
	close(l.stop)
	l.workers.Wait()
}

// check waits for all instances and counts.
func (l *load) check() {
	t := l.t
	t.Helper()
	l.eventually("everything is over", func(ctx context.Context) bool {
		stats, err := l.at(0).api.GetStats(ctx)
		return err == nil && stats.Statuses["completed"] == stats.Total && stats.Total >= int64(2*len(l.starts)+len(l.events))
	})
	made := map[string][]string{} // instances by definition and name
	for in, err := range client.All(func(after string) (client.Page[client.Instance], error) {
		return l.any().api.ListInstances(t.Context(), client.InstanceQuery{Paging: client.Paging{Limit: 500, After: after}})
	}) {
		if err != nil {
			t.Fatal(err)
		}
		name, called := l.history(in)
		made[in.Definition.ID+" "+name] = append(made[in.Definition.ID+" "+name], in.ID)
		if !slices.Equal(called, steps[in.Definition.ID]) {
			t.Errorf("instance %s of %s called %q", in.ID, in.Definition.ID, called)
		}
		for _, step := range called {
			if keys := l.calls.keys(name + " " + step); len(keys) != 1 {
				t.Errorf("step %s of %s was called under the keys %q", step, name, keys)
			}
		}
	}
	for name, id := range l.starts {
		if got := made["started "+name]; len(got) != 1 || got[0] != id {
			t.Errorf("%s, which was acknowledged as instance %s, is %q", name, id, got)
		}
		if got := made["echo "+name]; len(got) != 1 {
			t.Errorf("the end of %s started %q", name, got)
		}
	}
	for name := range l.events {
		if got := made["heard "+name]; len(got) != 1 {
			t.Errorf("event %s, which was acknowledged, started %q", name, got)
		}
	}
	if want := 2*len(l.starts) + len(l.events); len(made) != want {
		t.Errorf("%d instances were made, want %d: %d starts and %d events were acknowledged", len(made), want, len(l.starts), len(l.events))
	}
	l.calls.only(t, made)
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path, "doctor", "--store", l.database).CombinedOutput(); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	kept, repeated := l.calls.count()
	t.Logf("%d starts and %d events were acknowledged; %d calls, of which %d came again under the same key", len(l.starts), len(l.events), kept, repeated)
}

// history sees that an instance's has no gap and nothing twice, and returns its name and the
// steps that it called.
func (l *load) history(in client.Instance) (name string, called []string) {
	var page client.Page[client.Record]
	l.eventually("a history can be read", func(ctx context.Context) (ok bool) {
		var err error
		page, err = l.any().api.GetHistory(ctx, in.ID, client.Paging{Limit: 1000})
		return err == nil
	})
	seen := map[string]int{}
	for i, rec := range page.Items {
		if rec.Seq != int64(i+1) {
			l.t.Errorf("instance %s: record %d has the number %d", in.ID, i+1, rec.Seq)
		}
		seen[rec.Type+" "+rec.Node]++
		var data struct{ N, Step string }
		if rec.Type == "called" && json.Unmarshal(rec.Data, &data) == nil {
			name, called = data.N, append(called, data.Step)
		}
	}
	for what, times := range seen {
		if times != 1 {
			l.t.Errorf("instance %s: %q happened %d times", in.ID, what, times)
		}
	}
	return name, called
}

// recorder is the service that instances call.
type recorder struct {
	mu    sync.Mutex
	times map[string]map[string]int // by name and step: how often it came, by key
	hold  chan struct{}             // nil: it answers at once
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var data struct{ N, Step string }
	key := req.Header.Get("Idempotency-Key")
	if json.Unmarshal(body, &data) != nil || key == "" {
		http.Error(w, "a call without a key or arguments", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	of := data.N + " " + data.Step
	if r.times[of] == nil {
		r.times[of] = map[string]int{}
	}
	r.times[of][key]++
	hold := r.hold
	r.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-req.Context().Done():
		case <-time.After(time.Minute):
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{}`)
}

func (r *recorder) keys(of string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.times[of]))
}

// count is how many calls there were by key, and how many of those came again.
func (r *recorder) count() (keys, again int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, byKey := range r.times {
		for _, n := range byKey {
			keys++
			again += n - 1
		}
	}
	return keys, again
}

// only sees that nothing was called for what does not exist.
func (r *recorder) only(t *testing.T, made map[string][]string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for of := range r.times {
		name, step, _ := strings.Cut(of, " ")
		if !slices.ContainsFunc([]string{"started", "heard", "echo"}, func(d string) bool { return slices.Contains(steps[d], step) && len(made[d+" "+name]) > 0 }) {
			t.Errorf("%s was called, and no instance was made for it", of)
		}
	}
}
