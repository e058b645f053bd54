package hostile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// The definitions of the tenant: one waits for a timer, one for an event of its own.
var (
	reminder = definition("reminder", `
states:
- {name: Wait, type: delay, timeDelay: PT0.1S, start: {kind: default}, end: {kind: default}}
`)
	payment = definition("payment", `
events:
- {name: Paid, type: paid, source: till, correlation: [{contextAttributeName: order, contextAttributeValue: "{{ $.order }}"}]}
states:
- {name: Pay, type: event, start: {kind: default}, onEvents: [{eventRefs: [Paid], actions: []}], end: {kind: default}}
`)
)

// definition is a document of Serverless Workflow 0.5.
func definition(id, rest string) string {
	return fmt.Sprintf("id: %s\nname: n\nversion: \"1\"%s", id, rest)
}

const chores = `{"name": "chores", "states": [{"name": "OPEN"}, {"name": "BUSY"}, {"name": "DONE"}],
		"transitions": [{"from": "OPEN", "to": "BUSY", "eligible": "CLIENT"}, {"from": "BUSY", "to": "DONE", "eligible": "CLIENT"}]}`

// tenant works with the server as usual: an operator with workflows and a device with jobs.
type tenant struct {
	s    *target
	api  *client.Client
	http *http.Client

	mu      sync.Mutex
	refused []string
	took    map[string][]time.Duration // by what was done
}

func newTenant(s *target) *tenant {
	p := &tenant{s: s, api: s.api(s.operator), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}, took: map[string][]time.Duration{}}
	s.t.Cleanup(p.http.CloseIdleConnections)
	admin := s.api(s.admin)
	for _, definition := range []string{reminder, payment} {
		if _, _, err := admin.DeployDefinition(s.t.Context(), []byte(definition), client.Deploy{}); err != nil {
			s.t.Fatal(err)
		}
	}
	if status, answer, err := send(s.t.Context(), p.http, "POST", s.node.URL+"/api/wfx/v1/workflows", s.admin, []byte(chores)); err != nil || status != 201 {
		s.t.Fatalf("POST /workflows: %d %s %v", status, answer, err)
	}
	return p
}

// do does one thing for the tenant and notes how long that took, or that it was refused.
func (p *tenant) do(what string, f func() error) {
	began := time.Now()
	err := f()
	took := time.Since(began)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took[what] = append(p.took[what], took)
	if err != nil {
		p.refused = append(p.refused, fmt.Sprintf("%s, after %v: %v", what, took.Round(time.Millisecond), err))
	}
}

// work is one round of everything that the tenant does.
func (p *tenant) work(ctx context.Context, name string) {
	p.do("timer of 100 ms", func() error {
		in, err := p.api.StartInstance(ctx, "reminder", client.Start{})
		return p.ends(ctx, in, err)
	})
	p.do("event", func() error {
		in, err := p.api.StartInstance(ctx, "payment", client.Start{Input: api.Data(fmt.Sprintf(`{"order": %q}`, name))})
		if err != nil {
			return err
		}
		_, err = p.api.SendEvents(ctx, api.Data(fmt.Sprintf(`{"specversion": "1.0", "id": %q, "source": "till", "type": "paid", "order": %q}`, name, name)))
		return p.ends(ctx, in, err)
	})
	p.do("list", func() error {
		_, err := p.api.ListInstances(ctx, client.InstanceQuery{})
		return err
	})
	p.do("session", func() error { return p.session(ctx) })
	p.do("job", func() error { return p.job(ctx) })
}

// ends waits for the end of an instance.
func (p *tenant) ends(ctx context.Context, in api.Instance, err error) error {
	for err == nil && in.Status != api.Completed {
		if in.Status == api.Failed {
			return fmt.Errorf("instance %s failed", in.ID)
		}
		in, err = p.api.GetInstance(ctx, in.ID, 10*time.Second)
	}
	return err
}

// session signs in, as the page does.
func (p *tenant) session(ctx context.Context) error {
	body, _ := json.Marshal(map[string]string{"token": p.s.operator})
	return p.expect(ctx, "POST", p.s.node.URL+"/api/v1/session", "", body, 200, nil)
}

// job creates a job, and its device does it.
func (p *tenant) job(ctx context.Context) error {
	var job struct{ ID string }
	north, south := p.s.node.URL+"/api/wfx/v1", p.s.node.Devices+"/api/wfx/v1"
	if err := p.expect(ctx, "POST", north+"/jobs", p.s.operator, []byte(`{"clientId": "dana", "workflow": "chores"}`), 201, &job); err != nil {
		return err
	}
	for _, state := range []string{"BUSY", "DONE"} {
		if err := p.expect(ctx, "PUT", south+"/jobs/"+job.ID+"/status", p.s.dana, fmt.Appendf(nil, `{"state": %q}`, state), 200, nil); err != nil {
			return err
		}
	}
	return p.expect(ctx, "GET", south+"/jobs/"+job.ID, p.s.dana, nil, 200, &job)
}

func (p *tenant) expect(ctx context.Context, method, url, token string, body []byte, want int, into any) error {
	status, answer, err := send(ctx, p.http, method, url, token, body)
	switch {
	case err != nil:
		return err
	case status != want:
		return fmt.Errorf("%s %s: %d %.300s", method, url, status, answer)
	case into != nil:
		return json.Unmarshal(answer, into)
	}
	return nil
}

// latencies prints how long things took: the median, the 99th percentile and the longest.
func (p *tenant) latencies(t *testing.T, when string) {
	var text strings.Builder
	for _, what := range slices.SortedFunc(maps.Keys(p.took), cmp.Compare[string]) {
		all := slices.Sorted(slices.Values(p.took[what]))
		at := func(share int) time.Duration { return all[min(len(all)*share/100, len(all)-1)].Round(time.Millisecond) }
		fmt.Fprintf(&text, "\n  %-16s %4d times, p50 %v, p99 %v, max %v", what, len(all), at(50), at(99), at(100))
	}
	t.Logf("%s:%s", when, text.String())
	clear(p.took)
}
