package client_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// jobUses calls every method of [client.Jobs] with everything set that can be.
var jobUses = map[string]func(t *testing.T, j *client.Jobs){
	"listWorkflows": func(t *testing.T, j *client.Jobs) {
		_, _ = j.ListWorkflows(t.Context(), client.WorkflowQuery{Limit: 1, Offset: 2, Descending: true, Total: true})
	},
	"createWorkflow": func(t *testing.T, j *client.Jobs) {
		_, _ = j.CreateWorkflow(t.Context(), api.Data(`{"name":"k","states":[{"name":"A"}],"transitions":[]}`))
	},
	"getWorkflow":    func(t *testing.T, j *client.Jobs) { _, _ = j.GetWorkflow(t.Context(), odd) },
	"deleteWorkflow": func(t *testing.T, j *client.Jobs) { _ = j.DeleteWorkflow(t.Context(), odd) },
	"listJobs": func(t *testing.T, j *client.Jobs) {
		now := time.Now()
		_, _ = j.ListJobs(t.Context(), client.JobQuery{
			ClientID: "c", State: "S", Workflow: "w", Groups: []string{"G"}, Tags: []string{"t"},
			CreatedFrom: now, CreatedTo: now, ChangedFrom: now, ChangedTo: now, Limit: 1, Offset: 2, Descending: true, Total: true,
		})
	},
	"createJob": func(t *testing.T, j *client.Jobs) {
		_, _ = j.CreateJob(t.Context(), api.JobRequest{ClientID: "c", Workflow: "w", Tags: []string{"t"}, Definition: api.Data(`{"a":1}`)})
		_, _ = j.CreateJob(t.Context(), api.JobRequest{ClientID: "c", Workflow: "w"})
	},
	"followJobs": func(t *testing.T, j *client.Jobs) {
		for range j.JobEvents(t.Context(), client.JobEventQuery{ClientIDs: []string{"c"}, JobIDs: []string{"j"}, Workflows: []string{"w"}, Actions: []string{"CREATE"}, Tags: []string{"t"}, After: "3"}) {
			break
		}
	},
	"getJob":    func(t *testing.T, j *client.Jobs) { _, _ = j.GetJob(t.Context(), odd, true) },
	"deleteJob": func(t *testing.T, j *client.Jobs) { _ = j.DeleteJob(t.Context(), odd) },
	"getStatus": func(t *testing.T, j *client.Jobs) { _, _ = j.GetStatus(t.Context(), odd) },
	"updateStatus": func(t *testing.T, j *client.Jobs) {
		half := 50
		_, _ = j.UpdateStatus(t.Context(), odd, api.JobStatus{State: "S", ClientID: "c", Progress: &half, Message: "m", Context: api.Data(`{"a":1}`)})
	},
	"getJobDefinition": func(t *testing.T, j *client.Jobs) { _, _ = j.GetJobDefinition(t.Context(), odd) },
	"updateJobDefinition": func(t *testing.T, j *client.Jobs) {
		_, _ = j.UpdateJobDefinition(t.Context(), odd, api.Data(`{"a":1}`))
	},
	"getTags":    func(t *testing.T, j *client.Jobs) { _, _ = j.GetTags(t.Context(), odd) },
	"addTags":    func(t *testing.T, j *client.Jobs) { _, _ = j.AddTags(t.Context(), odd, "a") },
	"deleteTags": func(t *testing.T, j *client.Jobs) { _, _ = j.DeleteTags(t.Context(), odd, "a") },
	"getHealth":  func(t *testing.T, j *client.Jobs) { _, _ = j.Health(t.Context()) },
	"getVersion": func(t *testing.T, j *client.Jobs) { _, _ = j.ServerVersion(t.Context()) },
}

// documents are operations that this client has no use for.
var documents = []string{"getOpenAPI", "getSwagger", "getRoot"}

// TestJobsKeepToTheContract: each operation of the wfx interface has a method, which sends it with all
// parameters that it has and no others, and a body that adheres to its schema.
func TestJobsKeepToTheContract(t *testing.T) {
	c := readContract(t, "../internal/server/wfx/openapi.yaml", "/api/wfx/v1")
	for id, use := range jobUses {
		op, ok := c.operations[id]
		if !ok {
			t.Errorf("the contract has no operation %s", id)
			continue
		}
		rec := &recorder{}
		j, err := client.NewJobs(client.JobsOptions{Options: client.Options{URL: "http://server", HTTP: &http.Client{Transport: rec}}})
		if err != nil {
			t.Fatal(err)
		}
		use(t, j)
		if len(rec.requests) == 0 {
			t.Errorf("%s sends nothing", id)
		}
		sent := map[string]bool{}
		for i, req := range rec.requests {
			c.checkRequest(t, id, op, req, rec.bodies[i], sent)
		}
		for _, name := range op.parameters["query"] {
			if !sent[name] {
				t.Errorf("%s never sends %s", id, name)
			}
		}
	}
	for id := range c.operations {
		if jobUses[id] == nil && !slices.Contains(documents, id) {
			t.Errorf("the client does not have the operation %s", id)
		}
	}
}
