package client

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
)

func instancePath(id string, more ...string) string {
	return pathOf(append([]string{"api", "v1", "instances", id}, more...)...)
}

// Start says how to start an instance.
type Start struct {
	Input   api.Data      // an object; nil is {}
	Version string        // empty: the current one
	Wait    time.Duration // how long to wait for the end, at most a minute
	Key     string        // Idempotency-Key; empty: the client makes one, unless there is an ID

	ID     string            // of the instance; empty: the server chooses one
	Name   string            // as people call it; empty: as the definition says
	Labels map[string]string // in place of those of the definition that have the same names
}

// StartInstance starts an instance. Once it returns, the instance is durable.
func (c *Client) StartInstance(ctx context.Context, definition string, s Start) (api.Instance, error) {
	if s.Input == nil {
		s.Input = api.Data("{}")
	}
	if s.Key == "" && s.ID == "" {
		s.Key = newKey()
	}
	path := pathOf("api", "v1", "definitions", definition, "instances")
	r := request{method: http.MethodPost, path: path, body: s.Input, repeatable: true}
	r = r.withHeader("Content-Type", "application/json").withHeader("Idempotency-Key", s.Key)
	r = r.with("version", s.Version).with("wait", milliseconds(s.Wait)).with("id", s.ID).with("name", s.Name)
	for name, value := range s.Labels {
		r = r.adding("label", name+"="+value)
	}
	return call[api.Instance](ctx, c, r)
}

// StartInstances starts many instances of a definition in one request, at most 1000. An error means that none was started;
// otherwise each start has its own result. key is the Idempotency-Key of starts that have neither a key nor an
// id; if it is empty the client makes one.
func (c *Client) StartInstances(ctx context.Context, definition string, s api.StartsRequest, key string) (api.StartResults, error) {
	if key == "" {
		key = newKey()
	}
	path := pathOf("api", "v1", "definitions", definition, "instances", "bulk")
	r := request{method: http.MethodPost, path: path, repeatable: true}.withHeader("Idempotency-Key", key)
	return call[api.StartResults](ctx, c, r.withJSON(s))
}

// CreateJobs creates the same job for many clients. The server checks everything before it creates
// the first. key is the Idempotency-Key; if it is empty the client makes one.
func (c *Client) CreateJobs(ctx context.Context, j api.JobsRequest, key string) (api.JobsCreated, error) {
	if key == "" {
		key = newKey()
	}
	r := request{method: http.MethodPost, path: "/api/v1/jobs", repeatable: true}.withHeader("Idempotency-Key", key)
	return call[api.JobsCreated](ctx, c, r.withJSON(j))
}

// InstanceQuery selects instances.
type InstanceQuery struct {
	Paging
	Filter string // such as status:failed def:order
	Oldest bool   // oldest first
	Fold   bool   // without instances that others spawned, unless the filter searches for something they may have
}

// ListInstances lists instances, newest first.
func (c *Client) ListInstances(ctx context.Context, q InstanceQuery) (api.Page[api.Instance], error) {
	r := q.add(get("/api/v1/instances")).with("q", q.Filter)
	if q.Oldest {
		r = r.with("order", "oldest")
	}
	if q.Fold {
		r = r.with("fold", "true")
	}
	return call[api.Page[api.Instance]](ctx, c, r)
}

// CountInstances counts the instances that a filter selects.
func (c *Client) CountInstances(ctx context.Context, filter string) (api.Count, error) {
	return call[api.Count](ctx, c, get("/api/v1/instances/count").with("q", filter))
}

// GetInstance reads an instance; with a wait, once it is over or the time is up.
func (c *Client) GetInstance(ctx context.Context, id string, wait time.Duration) (api.Instance, error) {
	return call[api.Instance](ctx, c, get(instancePath(id)).with("wait", milliseconds(wait)))
}

// DeleteInstance deletes an instance that is over. rev is the revision that was read, or 0.
func (c *Client) DeleteInstance(ctx context.Context, id string, rev int64) error {
	r := request{method: http.MethodDelete, path: instancePath(id), repeatable: true}
	_, _, err := c.text(ctx, r.withHeader("If-Match", etag(rev)))
	return err
}

// GetHistory reads what happened to an instance, oldest first.
func (c *Client) GetHistory(ctx context.Context, id string, p Paging) (api.Page[api.Record], error) {
	return call[api.Page[api.Record]](ctx, c, p.add(get(instancePath(id, "history"))))
}

// GetLatestHistory lists what happened to an instance, newest first.
func (c *Client) GetLatestHistory(ctx context.Context, id string, p Paging) (api.Page[api.Record], error) {
	return call[api.Page[api.Record]](ctx, c, p.add(get(instancePath(id, "history"))).with("order", "newest"))
}

// GetWhy asks why an instance does not continue.
func (c *Client) GetWhy(ctx context.Context, id string) (api.Why, error) {
	return call[api.Why](ctx, c, get(instancePath(id, "why")))
}

// ListItems lists items of a foreach that an instance runs or failed in, by their index. state is its name, ""
// for the first one; with statuses, only items that have one of them.
func (c *Client) ListItems(ctx context.Context, id, state string, statuses []string, p Paging) (api.Page[api.ForeachItem], error) {
	r := p.add(get(instancePath(id, "items"))).with("state", state).with("status", strings.Join(statuses, ","))
	return call[api.Page[api.ForeachItem]](ctx, c, r)
}

// GetOutput reads the output of an instance.
func (c *Client) GetOutput(ctx context.Context, id string) (api.Data, error) {
	return call[api.Data](ctx, c, get(instancePath(id, "output")))
}

// GetScenario records a run as a scenario file.
func (c *Client) GetScenario(ctx context.Context, id string) ([]byte, error) {
	text, _, err := c.text(ctx, get(instancePath(id, "scenario")))
	return text, err
}

// Control is what interventions have in common.
type Control struct {
	Reason string // kept in the history
	Rev    int64  // the revision that was read, or 0: if the instance has changed since, nothing happens

	// FailedItems, of retry: only the items of the foreach that the instance failed in which did not complete.
	FailedItems bool
}

func (c *Client) control(ctx context.Context, id, verb string, o Control, body api.ControlRequest) (api.Instance, error) {
	body.Reason, body.FailedItems = o.Reason, o.FailedItems
	r := request{method: http.MethodPost, path: instancePath(id, verb)}.withHeader("If-Match", etag(o.Rev)).withJSON(body)
	return call[api.Instance](ctx, c, r)
}

func etag(rev int64) string {
	if rev == 0 {
		return ""
	}
	return `"` + strconv.FormatInt(rev, 10) + `"`
}

// RetryInstance continues a failed instance at the failed state. If data is not nil it replaces the
// input of that state.
func (c *Client) RetryInstance(ctx context.Context, id string, data api.Data, o Control) (api.Instance, error) {
	return c.control(ctx, id, api.VerbRetry, o, api.ControlRequest{Data: data})
}

// SkipInstance continues a failed instance after the failed state, with this output of the state.
func (c *Client) SkipInstance(ctx context.Context, id string, output api.Data, o Control) (api.Instance, error) {
	return c.control(ctx, id, api.VerbSkip, o, api.ControlRequest{Output: output})
}

// PauseInstance pauses an instance.
func (c *Client) PauseInstance(ctx context.Context, id string, o Control) (api.Instance, error) {
	return c.control(ctx, id, api.VerbPause, o, api.ControlRequest{})
}

// ResumeInstance continues a paused instance, or retries one in quarantine.
func (c *Client) ResumeInstance(ctx context.Context, id string, o Control) (api.Instance, error) {
	return c.control(ctx, id, api.VerbResume, o, api.ControlRequest{})
}

// CancelInstance asks an instance to stop; with compensate it first undoes what it completed.
func (c *Client) CancelInstance(ctx context.Context, id string, compensate bool, o Control) (api.Instance, error) {
	return c.control(ctx, id, api.VerbCancel, o, api.ControlRequest{Compensate: compensate})
}

// TerminateInstance stops an instance at once.
func (c *Client) TerminateInstance(ctx context.Context, id string, o Control) (api.Instance, error) {
	return c.control(ctx, id, api.VerbTerminate, o, api.ControlRequest{})
}

// Restart says how to start an instance anew.
type Restart struct {
	Input   api.Data // nil: that of the old instance
	Version string   // empty: that of the old instance
	Key     string   // Idempotency-Key; empty: the client makes one
	Rev     int64    // the revision of the old instance that was read, or 0
}

// RestartInstance starts a new instance with the input of this one.
func (c *Client) RestartInstance(ctx context.Context, id string, o Restart) (api.Instance, error) {
	if o.Key == "" {
		o.Key = newKey()
	}
	r := request{method: http.MethodPost, path: instancePath(id, api.VerbRestart), repeatable: true}
	r = r.withHeader("If-Match", etag(o.Rev)).withHeader("Idempotency-Key", o.Key)
	return call[api.Instance](ctx, c, r.withJSON(api.RestartRequest{Input: o.Input, Version: o.Version}))
}

// CallQuery selects open calls.
type CallQuery struct {
	Paging
	Instance string
	Parked   bool // only calls that must be answered by hand
}

// ListCalls lists the calls without a result, oldest first.
func (c *Client) ListCalls(ctx context.Context, q CallQuery) (api.Page[api.Call], error) {
	r := q.add(get("/api/v1/calls")).with("instance", q.Instance).with("parked", flag(q.Parked))
	return call[api.Page[api.Call]](ctx, c, r)
}

// AnswerCall answers a function call by hand. Without a result and an error the result is null.
func (c *Client) AnswerCall(ctx context.Context, instance, ticket string, a api.CallAnswer) (api.Instance, error) {
	if a.Error == nil && a.Result == nil {
		a.Result = api.Data("null")
	}
	r := request{method: http.MethodPost, path: instancePath(instance, "calls", ticket)}.withJSON(a)
	return call[api.Instance](ctx, c, r)
}

// ControlInstances makes the same intervention in many instances.
func (c *Client) ControlInstances(ctx context.Context, b api.BulkRequest) (api.BulkResults, error) {
	r := request{method: http.MethodPost, path: "/api/v1/instances/bulk"}.withJSON(b)
	return call[api.BulkResults](ctx, c, r)
}

// ListFailures groups failed instances by definition, error and state.
func (c *Client) ListFailures(ctx context.Context) (api.Failures, error) {
	return call[api.Failures](ctx, c, get("/api/v1/failures"))
}
