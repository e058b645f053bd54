package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

func instancePath(id string, more ...string) string {
	return pathOf(append([]string{"api", "v1", "instances", id}, more...)...)
}

// Start says how to start an instance.
type Start struct {
	Input   Data          // an object; nil is {}
	Version string        // "": the current one
	Wait    time.Duration // for its end, at most a minute
	Key     string        // Idempotency-Key; "": one of its own
}

// StartInstance starts an instance. Once it returns, the instance is durable.
func (c *Client) StartInstance(ctx context.Context, definition string, s Start) (Instance, error) {
	if s.Input == nil {
		s.Input = Data("{}")
	}
	if s.Key == "" {
		s.Key = newKey()
	}
	r := request{method: http.MethodPost, path: pathOf("api", "v1", "definitions", definition, "instances"), body: s.Input, repeatable: true}
	r = r.withHeader("Content-Type", "application/json").withHeader("Idempotency-Key", s.Key).with("version", s.Version).with("wait", milliseconds(s.Wait))
	in, _, err := call[Instance](ctx, c, r)
	return in, err
}

// JobsRequest asks for the same job for many clients.
type JobsRequest struct {
	Workflow   string   `json:"workflow"`
	Clients    []string `json:"clients"`
	Tags       []string `json:"tags,omitempty"`
	Definition Data     `json:"definition,omitempty"`

	Key string `json:"-"` // Idempotency-Key; "": one of its own
}

// JobsCreated is what became of it, by client in the order of the request.
type JobsCreated struct {
	Created int         `json:"created"` // how many are new
	Failed  int         `json:"failed,omitempty"`
	Items   []ClientJob `json:"items"`
}

// ClientJob is the job of one client.
type ClientJob struct {
	Client string `json:"client"`
	ID     string `json:"id,omitempty"`
	Error  string `json:"error,omitempty"`
}

// CreateJobs creates the same job for many clients. Everything is checked before the first is created.
func (c *Client) CreateJobs(ctx context.Context, j JobsRequest) (JobsCreated, error) {
	if j.Key == "" {
		j.Key = newKey()
	}
	r, err := request{method: http.MethodPost, path: "/api/v1/jobs", repeatable: true}.withHeader("Idempotency-Key", j.Key).withJSON(j)
	if err != nil {
		return JobsCreated{}, err
	}
	out, _, err := call[JobsCreated](ctx, c, r)
	return out, err
}

// InstanceQuery selects instances.
type InstanceQuery struct {
	Paging
	Filter string // such as status:failed def:order
	Oldest bool   // oldest first
}

// ListInstances lists instances, newest first.
func (c *Client) ListInstances(ctx context.Context, q InstanceQuery) (Page[Instance], error) {
	r := q.add(get("/api/v1/instances")).with("q", q.Filter)
	if q.Oldest {
		r = r.with("order", "oldest")
	}
	page, _, err := call[Page[Instance]](ctx, c, r)
	return page, err
}

// CountInstances counts the instances that a filter selects.
func (c *Client) CountInstances(ctx context.Context, filter string) (Count, error) {
	n, _, err := call[Count](ctx, c, get("/api/v1/instances/count").with("q", filter))
	return n, err
}

// GetInstance reads an instance; with a wait, once it is over or the time is up.
func (c *Client) GetInstance(ctx context.Context, id string, wait time.Duration) (Instance, error) {
	in, _, err := call[Instance](ctx, c, get(instancePath(id)).with("wait", milliseconds(wait)))
	return in, err
}

// DeleteInstance deletes an instance that is over. rev is the revision that was read, or 0.
func (c *Client) DeleteInstance(ctx context.Context, id string, rev int64) error {
	r := request{method: http.MethodDelete, path: instancePath(id), repeatable: true}
	_, _, err := c.text(ctx, r.withHeader("If-Match", etag(rev)))
	return err
}

// GetHistory reads what happened to an instance, oldest first.
func (c *Client) GetHistory(ctx context.Context, id string, p Paging) (Page[Record], error) {
	page, _, err := call[Page[Record]](ctx, c, p.add(get(instancePath(id, "history"))))
	return page, err
}

// GetLatestHistory lists what happened to an instance, newest first.
func (c *Client) GetLatestHistory(ctx context.Context, id string, p Paging) (Page[Record], error) {
	page, _, err := call[Page[Record]](ctx, c, p.add(get(instancePath(id, "history"))).with("order", "newest"))
	return page, err
}

// GetWhy asks why an instance does not go on.
func (c *Client) GetWhy(ctx context.Context, id string) (Why, error) {
	why, _, err := call[Why](ctx, c, get(instancePath(id, "why")))
	return why, err
}

// GetOutput reads the output of an instance.
func (c *Client) GetOutput(ctx context.Context, id string) (Data, error) {
	out, _, err := call[Data](ctx, c, get(instancePath(id, "output")))
	return out, err
}

// Control is what interventions have in common.
type Control struct {
	Reason string // kept in the history
	Rev    int64  // that was read: where the instance changed since, nothing happens; or 0
}

// body of an intervention.
type controlBody struct {
	Reason     string `json:"reason,omitempty"`
	Data       Data   `json:"data,omitempty"`
	Output     Data   `json:"output,omitempty"`
	Compensate bool   `json:"compensate,omitempty"`
}

func (c *Client) control(ctx context.Context, id, verb string, o Control, body controlBody) (Instance, error) {
	body.Reason = o.Reason
	r, err := request{method: http.MethodPost, path: instancePath(id, verb)}.withHeader("If-Match", etag(o.Rev)).withJSON(body)
	if err != nil {
		return Instance{}, err
	}
	in, _, err := call[Instance](ctx, c, r)
	return in, err
}

func etag(rev int64) string {
	if rev == 0 {
		return ""
	}
	return `"` + strconv.FormatInt(rev, 10) + `"`
}

// RetryInstance runs a failed instance on from the failed node; where data is not nil, that
// is the input that the failed state gets.
func (c *Client) RetryInstance(ctx context.Context, id string, data Data, o Control) (Instance, error) {
	return c.control(ctx, id, "retry", o, controlBody{Data: data})
}

// SkipInstance lets a failed instance go on as if the failed state had given this output.
func (c *Client) SkipInstance(ctx context.Context, id string, output Data, o Control) (Instance, error) {
	return c.control(ctx, id, "skip", o, controlBody{Output: output})
}

// PauseInstance pauses an instance.
func (c *Client) PauseInstance(ctx context.Context, id string, o Control) (Instance, error) {
	return c.control(ctx, id, "pause", o, controlBody{})
}

// ResumeInstance lets a paused instance go on, or one in quarantine try again.
func (c *Client) ResumeInstance(ctx context.Context, id string, o Control) (Instance, error) {
	return c.control(ctx, id, "resume", o, controlBody{})
}

// CancelInstance asks an instance to stop; with compensate, what it completed is undone first.
func (c *Client) CancelInstance(ctx context.Context, id string, compensate bool, o Control) (Instance, error) {
	return c.control(ctx, id, "cancel", o, controlBody{Compensate: compensate})
}

// TerminateInstance stops an instance now.
func (c *Client) TerminateInstance(ctx context.Context, id string, o Control) (Instance, error) {
	return c.control(ctx, id, "terminate", o, controlBody{})
}

// Restart says how to repeat an instance.
type Restart struct {
	Input   Data   // nil: the old one's
	Version string // "": the old one's
	Key     string // Idempotency-Key; "": one of its own
	Rev     int64  // of the old one, that was read; or 0
}

// RestartInstance starts a new instance with the input of this one.
func (c *Client) RestartInstance(ctx context.Context, id string, o Restart) (Instance, error) {
	if o.Key == "" {
		o.Key = newKey()
	}
	body := struct {
		Input   Data   `json:"input,omitempty"`
		Version string `json:"version,omitempty"`
	}{o.Input, o.Version}
	r := request{method: http.MethodPost, path: instancePath(id, "restart"), repeatable: true}
	r, err := r.withHeader("If-Match", etag(o.Rev)).withHeader("Idempotency-Key", o.Key).withJSON(body)
	if err != nil {
		return Instance{}, err
	}
	in, _, err := call[Instance](ctx, c, r)
	return in, err
}

// CallQuery selects open calls.
type CallQuery struct {
	Paging
	Instance string
	Parked   bool // only those that must be answered by hand
}

// ListCalls lists the calls without an answer, oldest first.
func (c *Client) ListCalls(ctx context.Context, q CallQuery) (Page[Call], error) {
	r := q.add(get("/api/v1/calls")).with("instance", q.Instance).with("parked", flag(q.Parked))
	page, _, err := call[Page[Call]](ctx, c, r)
	return page, err
}

// Answer is what a call gave: a result (null where it is nil), or an error.
type Answer struct {
	Result Data
	Error  *CallError
}

// AnswerCall answers a function call by hand.
func (c *Client) AnswerCall(ctx context.Context, instance, ticket string, a Answer) (Instance, error) {
	body := map[string]any{"result": a.Result}
	if a.Error != nil {
		body = map[string]any{"error": a.Error}
	}
	r, err := request{method: http.MethodPost, path: instancePath(instance, "calls", ticket)}.withJSON(body)
	if err != nil {
		return Instance{}, err
	}
	in, _, err := call[Instance](ctx, c, r)
	return in, err
}
