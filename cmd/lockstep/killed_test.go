package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/callcheck"
	"github.com/lockstep-workflows/lockstep/internal/cli"
)

var (
	kills = flag.Int("kills", 10, "how often TestKilledUnderLoad and TestKilledUnderLoadOf10 kill the server")
	terms = flag.Int("terms", 5, "how often TestTerminatedUnderLoad ends the server with SIGTERM")
)

// TestKilledUnderLoad kills a server under load, again and again, and counts afterwards: what
// was acknowledged is there, nothing happened twice, except calls under the same key, and who
// looked on saw all of it.
func TestKilledUnderLoad(t *testing.T) {
	l := newLoad(t)
	look := newOnlooker(t, l)
	l.begin()
	for round := range *kills {
		l.up()
		l.work(1 + rand.IntN(40)) // the kill comes somewhere behind so many acknowledgements
		l.down()
		if t.Failed() {
			t.Fatalf("in round %d", round+1)
		}
	}
	l.up()
	l.finish()
	look.check(l.check())
	t.Logf("%d kills", *kills)
	if code, err := l.server.stop(); code != 0 || err != nil {
		t.Errorf("the server ended with %d, %v:\n%s", code, err, l.server.stderr())
	}
	var out, told strings.Builder
	if code := lockstep([]string{"doctor", "--store", "sqlite:" + l.database}, strings.NewReader(""), &out, &told); code != cli.ExitOK {
		t.Errorf("doctor: %s%s", out.String(), told.String())
	}
}

// TestTerminatedUnderLoad: a server that gets SIGTERM under load ends with 0 each time, and nothing is lost or doubled. Other than
// one that is killed, it lets calls in flight finish and stores their answers: none is made again.
func TestTerminatedUnderLoad(t *testing.T) {
	l := newLoad(t)
	l.begin()
	for range *terms {
		l.up()
		l.work(1 + rand.IntN(40))
		if code, err := l.server.stop(); code != 0 || err != nil {
			t.Fatalf("the server ended with %d, %v:\n%s", code, err, l.server.stderr())
		}
		l.server = nil
	}
	l.up()
	l.finish()
	l.check()
	if l.verdict.Again > 0 {
		t.Errorf("%d calls were made again: those in flight were not let finish", l.verdict.Again)
	}
	t.Logf("%d times SIGTERM, each ended with 0", *terms)
}

// workers is how many requests are under way at a time.
const workers = 16

// workload sends starts and events, each until it is acknowledged.
type workload struct {
	t        *testing.T
	dir      string
	database string
	calls    callcheck.Calls
	verdict  callcheck.Verdict
	server   *process
	one      func(c *client.Client, n int, name string) error // sends an item

	mu      sync.Mutex
	client  *client.Client // of the process that runs
	change  chan struct{}  // closed when another one does
	starts  map[string]string
	events  map[string]string // the instance that an event started, by the event's id
	acks    chan struct{}
	next    int
	closing bool
	workers sync.WaitGroup
}

const (
	startedDefinition = `
id: started
name: Started by a request
version: "1"
functions: [{name: call, operation: "SERVICE/call#POST"}]
states:
- {name: First, type: operation, start: {kind: default}, actions: [{functionRef: {refName: call, parameters: {n: "{{ $.n }}", step: first}}}], transition: {nextState: Second}}
- {name: Second, type: operation, actions: [{functionRef: {refName: call, parameters: {n: "{{ $.n }}", step: second}}}], end: {kind: default}}
`
	eventDefinition = `
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
`
)

func newLoad(t *testing.T) *workload {
	l := &workload{t: t}
	l.one = func(c *client.Client, n int, name string) error {
		if n%2 == 0 {
			return l.event(c, name)
		}
		return l.start(c, name)
	}
	l.deploy(&l.calls, startedDefinition, eventDefinition)
	return l
}

// deploy starts the service that instances call, and a server with definitions that call it.
func (l *workload) deploy(calls http.Handler, definitions ...string) {
	t := l.t
	l.dir, l.change, l.acks = t.TempDir(), make(chan struct{}), make(chan struct{})
	l.starts, l.events = map[string]string{}, map[string]string{}
	l.database = filepath.Join(l.dir, "lockstep.db")
	service := httptest.NewServer(calls)
	t.Cleanup(service.Close)
	l.up()
	for _, text := range definitions {
		text = strings.ReplaceAll(text, "SERVICE", service.URL)
		if _, _, err := l.client.DeployDefinition(t.Context(), []byte(text), client.Deploy{}); err != nil {
			t.Fatal(err)
		}
	}
}

// begin lets the workers begin.
func (l *workload) begin() {
	for range workers {
		l.workers.Go(l.send)
	}
}

// current is the client of the process that runs.
func (l *workload) current() *client.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.client
}

// up starts a process over the same database, if none runs.
func (l *workload) up() {
	if l.server != nil {
		return
	}
	p, err := launch(l.dir, os.Environ(), "serve", "--north", "127.0.0.1:0", "--store", "sqlite:"+l.database, "--outbound-allow", "127.0.0.1", "--log-level", "warn")
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(p.kill)
	c, err := client.New(client.Options{URL: p.url, Attempts: 1})
	if err != nil {
		l.t.Fatal(err)
	}
	l.server = p
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client = c
	close(l.change)
	l.change = make(chan struct{})
}

// work waits for a number of acknowledgements.
func (l *workload) work(n int) {
	for range n {
		select {
		case <-l.acks:
		case err := <-l.server.over:
			l.server.over <- err
			l.t.Fatalf("the server ended by itself: %v\n%s", err, l.server.stderr())
		case <-time.After(2 * time.Minute):
			l.t.Fatalf("nothing is acknowledged any more:\n%s", l.server.stderr())
		}
	}
}

// down kills the process.
func (l *workload) down() {
	l.server.kill()
	l.server = nil
}

// item gives a worker its next number, and false when it is time to end.
func (l *workload) item() (int, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return l.next, !l.closing
}

// send is a worker: it sends one start or event after the other, each until a server took it.
func (l *workload) send() {
	for {
		n, more := l.item()
		if !more {
			return
		}
		name := fmt.Sprintf("n%d", n)
		for {
			l.mu.Lock()
			c, change := l.client, l.change
			l.mu.Unlock()
			err := l.one(c, n, name)
			if err == nil {
				break
			}
			var problem *client.Problem
			if errors.As(err, &problem) {
				l.t.Errorf("%s was refused: %v", name, err)
				return
			}
			select {
			case <-change: // the same again, to the next process
			case <-l.t.Context().Done():
				return
			}
		}
		select {
		case l.acks <- struct{}{}:
		case <-l.t.Context().Done():
			return
		}
	}
}

func (l *workload) start(c *client.Client, name string) error {
	in, err := c.StartInstance(context.Background(), "started", client.Start{Key: name, Input: api.Data(fmt.Sprintf(`{"n":%q}`, name))})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts[name] = in.ID
	return nil
}

func (l *workload) event(c *client.Client, name string) error {
	got, err := c.SendEvents(context.Background(), api.Data(fmt.Sprintf(`{"specversion":"1.0","type":"go","source":"test","id":%q,"data":{"n":%q}}`, name, name)))
	if err != nil {
		return err
	}
	if got.Accepted+got.Duplicates != 1 {
		l.t.Errorf("event %s: %+v", name, got)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events[name] = ""
	if len(got.Events[0].Started) == 1 {
		l.events[name] = got.Events[0].Started[0]
	}
	return nil
}

// finish lets the workers end with what they are at.
func (l *workload) finish() {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		l.workers.Wait()
		close(ended)
	}()
	for {
		select {
		case <-l.acks:
		case <-ended:
			return
		case <-time.After(2 * time.Minute):
			l.t.Fatalf("workers do not end:\n%s", l.server.stderr())
		}
	}
}

// killedSteps are those that an instance of a definition calls, in order.
var killedSteps = map[string][]string{"started": {"first", "second"}, "heard": {"heard"}}

// check counts, and returns all instances.
func (l *workload) check() (instances []string) {
	t, ctx := l.t, l.t.Context()
	ledger := callcheck.Ledger{Calls: &l.calls, Steps: killedSteps}
	for name, id := range l.starts {
		ledger.Acknowledged("started", name, id)
	}
	for name, id := range l.events {
		ledger.Acknowledged("heard", name, id)
	}
	for in, err := range client.All(func(after string) (api.Page[api.Instance], error) {
		return l.client.ListInstances(ctx, client.InstanceQuery{Paging: client.Paging{Limit: 1000, After: after}})
	}) {
		if err != nil {
			t.Fatal(err)
		}
		if in, err = l.client.GetInstance(ctx, in.ID, time.Minute); err != nil {
			t.Fatal(err)
		}
		if in.Status != api.Completed {
			t.Errorf("instance %s is %s: %+v", in.ID, in.Status, in.Error)
			continue
		}
		instances = append(instances, in.ID)
		history, err := l.client.GetHistory(ctx, in.ID, client.Paging{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		ledger.Found(in, history.Items)
	}
	l.verdict = ledger.Verdict()
	if len(l.verdict.Problems) > 0 {
		t.Error(l.verdict.Text())
	}
	t.Log(l.verdict)
	return instances
}
