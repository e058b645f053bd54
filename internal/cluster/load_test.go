package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/callcheck"
	"github.com/lockstep-workflows/lockstep/internal/nodetest"
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
	calls callcheck.Calls

	mu      sync.Mutex
	starts  map[string]string // the instance, by name
	events  map[string]bool
	next    int
	stop    chan struct{}
	workers sync.WaitGroup
}

func newLoad(t *testing.T, s *servers) *load {
	t.Helper()
	l := &load{servers: s, starts: map[string]string{}, events: map[string]bool{}, stop: make(chan struct{})}
	service := httptest.NewServer(&l.calls)
	t.Cleanup(service.Close)
	for text := range strings.SplitSeq(strings.ReplaceAll(definitions, "SERVICE", service.URL), "---\n") {
		if _, _, err := s.at(0).API.DeployDefinition(t.Context(), []byte(text), client.Deploy{}); err != nil {
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
				if !l.until(fmt.Sprint("n", n), []func(*nodetest.Node, string) error{l.start, l.event}[n%2]) {
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
func (l *load) until(name string, send func(*nodetest.Node, string) error) bool {
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

func (l *load) start(n *nodetest.Node, name string) error {
	in, err := n.API.StartInstance(context.Background(), "started", client.Start{Key: name, Input: api.Data(fmt.Sprintf(`{"n":%q}`, name))})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts[name] = in.ID
	return nil
}

func (l *load) event(n *nodetest.Node, name string) error {
	got, err := n.API.SendEvents(context.Background(), api.Data(fmt.Sprintf(`{"specversion":"1.0","type":"go","source":"test","id":%q,"data":{"n":%q}}`, name, name)))
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
func (l *load) check() callcheck.Verdict {
	t := l.t
	t.Helper()
	l.eventually("everything is over", func(ctx context.Context) bool {
		stats, err := l.at(0).API.GetStats(ctx)
		return err == nil && stats.Statuses["completed"] == stats.Total && stats.Total >= int64(2*len(l.starts)+len(l.events))
	})
	ledger := callcheck.Ledger{Calls: &l.calls, Steps: steps}
	for name, id := range l.starts {
		ledger.Acknowledged("started", name, id)
		ledger.Acknowledged("echo", name, "") // by the event with which it ends
	}
	for name := range l.events {
		ledger.Acknowledged("heard", name, "")
	}
	for in, err := range client.All(func(after string) (api.Page[api.Instance], error) {
		return l.any().API.ListInstances(t.Context(), client.InstanceQuery{Paging: client.Paging{Limit: 500, After: after}})
	}) {
		if err != nil {
			t.Fatal(err)
		}
		ledger.Found(in, l.history(in))
	}
	v := ledger.Verdict()
	if len(v.Problems) > 0 {
		t.Error(v.Text())
	}
	l.doctor()
	return v
}

// doctor lets the program itself look for what does not fit together.
func (l *load) doctor() {
	path, err := nodetest.Program()
	if err != nil {
		l.t.Fatal(err)
	}
	if out, err := exec.Command(path, "doctor", "--store", l.database).CombinedOutput(); err != nil {
		l.t.Errorf("doctor: %v\n%s", err, out)
	}
}

func (l *load) history(in api.Instance) []api.Record {
	var page api.Page[api.Record]
	l.eventually("a history can be read", func(ctx context.Context) (ok bool) {
		var err error
		page, err = l.any().API.GetHistory(ctx, in.ID, client.Paging{Limit: 1000})
		return err == nil
	})
	return page.Items
}
