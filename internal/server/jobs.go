package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/metric"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// viewJob is nil for an instance that is not a job. A job may always be sent the state that it is in,
// so that move is not listed.
func viewJob(row *store.Instance) *api.InstanceJob {
	if row.Job.State == "" {
		return nil
	}
	v := &api.InstanceJob{Client: row.Job.Client, State: row.Job.State, Group: row.Job.Group, Allowed: []api.Move{}}
	for _, o := range row.Offers {
		if m := (api.Move{Actor: o.Actor, State: o.Choice}); o.Choice != row.Job.State && !slices.Contains(v.Allowed, m) {
			v.Allowed = append(v.Allowed, m)
		}
	}
	return v
}

// createJobs creates the same job for many clients. Errors in the request are found before the first
// job is created; a later error is in the item of its client.
func (s *Server) createJobs(w http.ResponseWriter, r *request) error {
	key, err := r.idempotencyKey()
	if err != nil {
		return err
	}
	requests, err := s.jobRequests(r, key)
	if err != nil {
		return err
	}
	if err := r.visit.start(len(requests)); err != nil {
		return err
	}
	jobs, existing, err := s.engine.CreateJobs(r.Context(), requests)
	failed := bulkErrors(err)
	if err != nil && len(jobs) == 0 {
		return refusedJobs(err, failed)
	}
	out := api.JobsCreated{Items: []api.ClientJob{}}
	for i, request := range requests {
		item := api.ClientJob{Client: request.Client, ID: jobs[i].ID}
		switch err := failed[i]; {
		case err != nil:
			item.ID, item.Error = "", problemOf(err).Detail
			out.Failed++
		case !existing[i]:
			out.Created++
		}
		out.Items = append(out.Items, item)
	}
	if out.Created == 0 && out.Failed > 0 {
		return err
	}
	r.deed.after = fmt.Sprintf("workflow=%s created=%d failed=%d", requests[0].Workflow, out.Created, out.Failed)
	s.log.InfoContext(r.Context(), "jobs created", "workflow", requests[0].Workflow, "created", out.Created, "failed", out.Failed, "who", r.who.name)
	return answer(w, http.StatusCreated, out)
}

// jobRequests reads the body: a request for each client.
func (s *Server) jobRequests(r *request, key string) ([]engine.JobRequest, error) {
	body, err := s.object(r, "workflow", "clients", "tags", "definition")
	if err != nil {
		return nil, err
	}
	workflow := body.Str("workflow")
	clients := body.Strings("clients")
	tags := body.Strings("tags")
	definition := body.Object("definition")
	switch {
	case body.Err() != nil:
		return nil, memberProblem(body)
	case len(clients) == 0:
		return nil, badMember("/clients", "clients is required: an array of client ids")
	}
	seen := map[string]int{}
	var out []engine.JobRequest
	for i, client := range clients {
		if first, twice := seen[client]; twice {
			return nil, badMember(fmt.Sprintf("/clients/%d", i), fmt.Sprintf("client %.100q is listed twice, first at %d", client, first))
		}
		seen[client] = i
		out = append(out, engine.JobRequest{Workflow: workflow, Client: client, Tags: tags, Definition: definition, Key: key})
	}
	return out, nil
}

func badMember(pointer, message string) *problemError {
	p := problem(api.CodeInput, message)
	p.Errors = []api.ProblemDetail{{Pointer: pointer, Message: message}}
	return p
}

// bulkErrors are the errors of single requests by index.
func bulkErrors(err error) map[int]error {
	out := map[int]error{}
	var walk func(err error)
	walk = func(err error) {
		if e, ok := err.(*engine.BulkError); ok {
			out[e.Index] = e.Err
			return
		}
		if list, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range list.Unwrap() {
				walk(e)
			}
		}
	}
	walk(err)
	return out
}

// maxBulkErrors is how many errors of a bulk request are listed.
const maxBulkErrors = 100

// refusedJobs is the problem of a request of which no job was created, with an error for each client.
func refusedJobs(err error, failed map[int]error) error {
	if len(failed) == 0 {
		return err
	}
	if e, ok := errors.AsType[*engine.NotFoundError](failed[0]); ok && e.Kind == "workflow" {
		return badMember("/workflow", e.Error())
	}
	places := make([]int, 0, len(failed))
	for i := range failed {
		places = append(places, i)
	}
	slices.Sort(places)
	p := *problemOf(failed[places[0]])
	p.Errors = nil
	for _, i := range places[:min(len(places), maxBulkErrors)] {
		p.Errors = append(p.Errors, api.ProblemDetail{Pointer: fmt.Sprintf("/clients/%d", i), Message: problemOf(failed[i]).Detail})
	}
	return &p
}

// writeJobs writes the metrics of jobs: how many are in which state, and how many status updates this
// server took. Without jobs there are none.
func (s *Server) writeJobs(ctx context.Context, x *exposition) {
	stats, err := s.engine.JobStats(ctx)
	if err == nil && len(stats) > 0 { // an error shows in lockstep_store_up
		x.family("lockstep_jobs", "gauge", "Jobs by workflow, state and group.")
		type place struct{ workflow, state, group string }
		of := func(s store.JobStat) (place, int64) { return place{s.Definition, s.State, s.Group}, s.Count }
		kept, rest := most(stats, of), int64(0)
		for _, stat := range stats {
			if at, n := of(stat); kept[at] {
				x.sample("lockstep_jobs", n, "workflow", at.workflow, "state", at.state, "group", at.group)
			} else {
				rest += n
			}
		}
		if rest > 0 {
			x.sample("lockstep_jobs", rest, "workflow", metric.Other, "state", metric.Other, "group", metric.Other)
		}
	}
	updates := s.jobs.Updates()
	if len(updates) == 0 {
		return
	}
	keys := make([]wfx.Update, 0, len(updates))
	for key := range updates {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b wfx.Update) int {
		return cmp.Or(cmp.Compare(a.Workflow, b.Workflow), cmp.Compare(a.State, b.State), cmp.Compare(a.Actor, b.Actor))
	})
	x.family("lockstep_job_updates_total", "counter", "Status updates that were taken, by workflow, the state that was sent, and actor.")
	for _, key := range keys {
		x.sample("lockstep_job_updates_total", updates[key], "workflow", key.Workflow, "state", key.State, "actor", key.Actor)
	}
}
