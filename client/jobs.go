package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
)

// jobsBase is the common prefix of the paths of the wfx API.
const jobsBase = "/api/wfx/v1"

// Jobs is a client of the wfx API at one of the two addresses of a server: the south-bound address is
// for devices, the north-bound one for operators.
type Jobs struct {
	c      *Client
	client string
}

// JobsOptions are options of a client of jobs.
type JobsOptions struct {
	Options
	ClientID string // sent as X-Client-Id: only jobs of this client are visible
}

// NewJobs returns a client of jobs. The address is without /api/wfx/v1.
func NewJobs(o JobsOptions) (*Jobs, error) {
	o.URL = strings.TrimSuffix(strings.TrimSuffix(o.URL, "/"), jobsBase)
	c, err := New(o.Options)
	if err != nil {
		return nil, err
	}
	c.problem = readRefusal
	return &Jobs{c: c, client: o.ClientID}, nil
}

// URL is the address of the server.
func (j *Jobs) URL() string { return j.c.URL() }

// Close closes idle connections.
func (j *Jobs) Close() { j.c.Close() }

// JobsCall is one request of the wfx API whose answer is returned as text.
type JobsCall struct {
	Method string
	Path   []string // below /api/wfx/v1, such as "jobs", ID, "status"
	Query  url.Values
	Body   any    // encoded as JSON
	Filter string // jq, which the server applies to its answer
}

func (j *Jobs) request(call JobsCall) request {
	r := request{method: call.Method, path: jobsBase + pathOf(call.Path...), query: call.Query, repeatable: call.Method == http.MethodGet}
	r = r.withHeader("Accept", "application/json").withHeader("X-Response-Filter", call.Filter).withHeader("X-Client-Id", j.client)
	if call.Filter != "" {
		r = r.withHeader("Accept", "application/json, text/plain")
	}
	if call.Body == nil {
		return r
	}
	return r.withJSON(call.Body)
}

// Do sends a request and returns the text of the answer.
func (j *Jobs) Do(ctx context.Context, call JobsCall) ([]byte, error) {
	text, resp, err := j.c.text(ctx, j.request(call))
	if err != nil {
		return nil, err
	}
	if why := resp.Header.Get("X-Response-Filter-Error"); why != "" {
		return nil, &FilterError{why}
	}
	return text, nil
}

// FilterError says that a response filter failed. The request itself was carried out.
type FilterError struct{ Why string }

func (e *FilterError) Error() string { return "the filter failed: " + e.Why }

// Ask sends a request and decodes the answer. With a filter, which may return anything, use Do.
func Ask[T any](ctx context.Context, j *Jobs, call JobsCall) (out T, err error) {
	text, err := j.Do(ctx, call)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return out, fmt.Errorf("the answer to %s /%s cannot be read; does %s have the wfx API? %w", call.Method, strings.Join(call.Path, "/"), j.URL(), err)
	}
	return out, nil
}

// CreateJob creates a job (north-bound).
func (j *Jobs) CreateJob(ctx context.Context, job api.JobRequest) (api.Job, error) {
	return Ask[api.Job](ctx, j, JobsCall{Method: http.MethodPost, Path: []string{"jobs"}, Body: job})
}

// GetJob reads a job, with its history if asked for.
func (j *Jobs) GetJob(ctx context.Context, id string, history bool) (api.Job, error) {
	call := JobsCall{Method: http.MethodGet, Path: []string{"jobs", id}}
	if history {
		call.Query = url.Values{"history": {"true"}}
	}
	return Ask[api.Job](ctx, j, call)
}

// ListJobs lists a part of the jobs that a query selects, oldest first unless it says otherwise.
func (j *Jobs) ListJobs(ctx context.Context, q JobQuery) (api.JobPage[api.Job], error) {
	return Ask[api.JobPage[api.Job]](ctx, j, JobsCall{Method: http.MethodGet, Path: []string{"jobs"}, Query: q.Values()})
}

// CountJobs counts the jobs that a query selects.
func (j *Jobs) CountJobs(ctx context.Context, q JobQuery) (int64, error) {
	q.Limit, q.Offset, q.Total = 1, 0, true
	page, err := j.ListJobs(ctx, q)
	switch {
	case err != nil:
		return 0, err
	case page.Pagination == nil:
		return 0, fmt.Errorf("the server at %s does not count jobs", j.URL())
	}
	return page.Pagination.Total, nil
}

// DeleteJob deletes a job in any state (north-bound).
func (j *Jobs) DeleteJob(ctx context.Context, id string) error {
	_, err := j.Do(ctx, JobsCall{Method: http.MethodDelete, Path: []string{"jobs", id}})
	return err
}

// GetStatus reads the status of a job.
func (j *Jobs) GetStatus(ctx context.Context, id string) (api.JobStatus, error) {
	return Ask[api.JobStatus](ctx, j, JobsCall{Method: http.MethodGet, Path: []string{"jobs", id, "status"}})
}

// UpdateStatus replaces the status of a job, and so moves it to a state. It returns the status after it and
// after immediate transitions.
func (j *Jobs) UpdateStatus(ctx context.Context, id string, status api.JobStatus) (api.JobStatus, error) {
	return Ask[api.JobStatus](ctx, j, JobsCall{Method: http.MethodPut, Path: []string{"jobs", id, "status"}, Body: status})
}

// GetJobDefinition reads the definition of a job; null if it has none.
func (j *Jobs) GetJobDefinition(ctx context.Context, id string) (api.Data, error) {
	return Ask[api.Data](ctx, j, JobsCall{Method: http.MethodGet, Path: []string{"jobs", id, "definition"}})
}

// UpdateJobDefinition replaces the definition of a job.
func (j *Jobs) UpdateJobDefinition(ctx context.Context, id string, definition api.Data) (api.Data, error) {
	return Ask[api.Data](ctx, j, JobsCall{Method: http.MethodPut, Path: []string{"jobs", id, "definition"}, Body: definition})
}

// GetTags reads the tags of a job.
func (j *Jobs) GetTags(ctx context.Context, id string) ([]string, error) {
	return Ask[[]string](ctx, j, JobsCall{Method: http.MethodGet, Path: []string{"jobs", id, "tags"}})
}

// AddTags adds tags to a job, and returns all that it then has (north-bound).
func (j *Jobs) AddTags(ctx context.Context, id string, tags ...string) ([]string, error) {
	return Ask[[]string](ctx, j, JobsCall{Method: http.MethodPost, Path: []string{"jobs", id, "tags"}, Body: tags})
}

// DeleteTags removes tags from a job, and returns the remaining ones (north-bound).
func (j *Jobs) DeleteTags(ctx context.Context, id string, tags ...string) ([]string, error) {
	return Ask[[]string](ctx, j, JobsCall{Method: http.MethodDelete, Path: []string{"jobs", id, "tags"}, Body: tags})
}

// CreateWorkflow loads a workflow, which is immutable from then on (north-bound). The workflow is JSON.
func (j *Jobs) CreateWorkflow(ctx context.Context, workflow api.Data) (api.Workflow, error) {
	return Ask[api.Workflow](ctx, j, JobsCall{Method: http.MethodPost, Path: []string{"workflows"}, Body: workflow})
}

// GetWorkflow reads a workflow.
func (j *Jobs) GetWorkflow(ctx context.Context, name string) (api.Workflow, error) {
	return Ask[api.Workflow](ctx, j, JobsCall{Method: http.MethodGet, Path: []string{"workflows", name}})
}

// ListWorkflows lists workflows by name.
func (j *Jobs) ListWorkflows(ctx context.Context, q WorkflowQuery) (api.JobPage[api.Workflow], error) {
	return Ask[api.JobPage[api.Workflow]](ctx, j, JobsCall{Method: http.MethodGet, Path: []string{"workflows"}, Query: q.Values()})
}

// DeleteWorkflow unloads a workflow to which no job refers (north-bound).
func (j *Jobs) DeleteWorkflow(ctx context.Context, name string) error {
	_, err := j.Do(ctx, JobsCall{Method: http.MethodDelete, Path: []string{"workflows", name}})
	return err
}

// ServerVersion reads the version of the server.
func (j *Jobs) ServerVersion(ctx context.Context) ([]byte, error) {
	return j.Do(ctx, JobsCall{Method: http.MethodGet, Path: []string{"version"}})
}

// Health reads whether the server is up. A server that is down answers with status 503.
func (j *Jobs) Health(ctx context.Context) ([]byte, error) {
	return j.Do(ctx, JobsCall{Method: http.MethodGet, Path: []string{"health"}})
}

// readRefusal reads an error of the wfx API, in one of its two shapes: an object with errors, or
// plain text. Lockstep refuses unauthorized requests with its own shape.
func readRefusal(resp *http.Response) *Problem {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media == "application/problem+json" {
		return readProblem(resp)
	}
	p := plainProblem(resp)
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	p.Body = text
	var body api.ErrorResponse
	switch {
	case json.Unmarshal(text, &body) == nil && len(body.Errors) > 0:
		p.Code, p.Detail = body.Errors[0].Code, body.Errors[0].Message
		for _, e := range body.Errors {
			p.Errors = append(p.Errors, api.ProblemDetail{Code: string(e.Code), Message: e.Message})
		}
	case media == "text/plain" && len(strings.TrimSpace(string(text))) > 0:
		p.Detail = strings.TrimSpace(string(text))
	case resp.StatusCode == http.StatusForbidden:
		p.Detail = "the server at " + resp.Request.URL.Host + " refuses this; it is for operators, at the north-bound address"
	case resp.StatusCode == http.StatusNotFound && strings.TrimSpace(string(text)) == "{}":
		p.Code, p.Detail = api.CodeJobNotFound, "there is no such job"
	default:
		p.Detail = fmt.Sprintf("the server answered %s", resp.Status)
	}
	return p
}
