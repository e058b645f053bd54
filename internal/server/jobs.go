package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// jobView is what an instance that is a job has beside.
type jobView struct {
	Client  string     `json:"client"`
	State   string     `json:"state"`
	Group   string     `json:"group,omitempty"`
	Allowed []moveView `json:"allowed"`
}

// moveView is a way out of a job's state.
type moveView struct {
	Actor string `json:"actor"`
	State string `json:"state"`
}

// viewJob is nil for an instance that is no job. To send the state that the job is in is
// always allowed, and not told.
func viewJob(row *store.Instance) *jobView {
	if row.Job.State == "" {
		return nil
	}
	v := &jobView{row.Job.Client, row.Job.State, row.Job.Group, []moveView{}}
	for _, o := range row.Offers {
		if m := (moveView{o.Actor, o.Choice}); o.Choice != row.Job.State && !slices.Contains(v.Allowed, m) {
			v.Allowed = append(v.Allowed, m)
		}
	}
	return v
}

type bulkView struct {
	Created int        `json:"created"`
	Failed  int        `json:"failed,omitempty"`
	Items   []bulkItem `json:"items"`
}

type bulkItem struct {
	Client string `json:"client"`
	ID     string `json:"id,omitempty"`
	Error  string `json:"error,omitempty"`
}

// createJobs creates the same job for many clients. What is wrong with the request is told
// before the first is created; what goes wrong later is told of each client.
func (s *Server) createJobs(w http.ResponseWriter, r *request) error {
	key, err := r.idempotencyKey()
	if err != nil {
		return err
	}
	requests, err := s.jobRequests(r, key)
	if err != nil {
		return err
	}
	if err := engine.CheckBulk(requests); err != nil {
		return err
	}
	jobs, known, err := s.makeJobs(r.Context(), requests, key)
	failed := bulkErrors(err)
	if err != nil && len(jobs) == 0 {
		return refusedJobs(err, failed)
	}
	out := bulkView{Items: []bulkItem{}}
	for i, request := range requests {
		item := bulkItem{Client: request.Client, ID: jobs[i].ID}
		if err := failed[i]; err != nil && !known[i] {
			item.ID, item.Error = "", problemOf(err).Detail
			out.Failed++
		} else if !known[i] {
			out.Created++
		}
		out.Items = append(out.Items, item)
	}
	if out.Created == 0 && out.Failed > 0 {
		return err
	}
	s.log.InfoContext(r.Context(), "jobs created", "workflow", requests[0].Workflow, "created", out.Created, "failed", out.Failed, "who", r.who.name)
	return answer(w, http.StatusCreated, out)
}

// jobRequests reads the body: a request for each client.
func (s *Server) jobRequests(r *request, key string) ([]engine.JobRequest, error) {
	body, err := s.object(r, "workflow", "clients", "tags", "definition")
	if err != nil {
		return nil, err
	}
	workflow, err := text(body, "", "workflow")
	if err != nil {
		return nil, err
	}
	clients, err := textList(body, "clients")
	if err != nil {
		return nil, err
	}
	tags, err := textList(body, "tags")
	if err != nil {
		return nil, err
	}
	definition, given := body.Get("definition")
	if given && !definition.IsObject() {
		return nil, badMember("/definition", "definition must be an object, not "+definition.Kind().String())
	}
	if len(clients) == 0 {
		return nil, badMember("/clients", "clients must name those whom jobs are for")
	}
	seen := map[string]int{}
	var out []engine.JobRequest
	for i, client := range clients {
		if first, twice := seen[client]; twice {
			return nil, badMember(fmt.Sprintf("/clients/%d", i), fmt.Sprintf("client %.100q is there twice, first at %d; nobody gets two jobs of one request", client, first))
		}
		seen[client] = i
		request := engine.JobRequest{Workflow: workflow, Client: client, Tags: tags, Definition: definition}
		if key != "" {
			request.ID = keyedJob(key, workflow, client)
		}
		out = append(out, request)
	}
	return out, nil
}

func badMember(pointer, message string) *Problem {
	p := problem(CodeInput, message)
	p.Errors = []Detail{{Pointer: pointer, Message: message}}
	return p
}

// textList reads a member that is a list of texts.
func textList(body expr.Value, name string) ([]string, error) {
	m, ok := body.Get(name)
	if !ok {
		return nil, nil
	}
	if !m.IsArray() {
		return nil, badMember("/"+name, name+" must be a list of texts, not "+m.Kind().String())
	}
	var out []string
	for i, it := range m.Items() {
		if it.Kind() != expr.KindString {
			return nil, badMember(fmt.Sprintf("/%s/%d", name, i), name+" must be a list of texts")
		}
		out = append(out, it.Str())
	}
	return out, nil
}

// keyedJob is the id of the job that a client gets under an idempotency key: a UUID, the
// same one each time.
func keyedJob(key, workflow, client string) string {
	sum := sha256.Sum256([]byte("jobs\x00" + key + "\x00" + workflow + "\x00" + client))
	return engine.UUID([16]byte(sum[:16]), 8) // of the version that is made in a way of one's own
}

// makeJobs creates those jobs that are not there yet; known are those that are, from the
// same request before.
func (s *Server) makeJobs(ctx context.Context, requests []engine.JobRequest, key string) (jobs []engine.Job, known map[int]bool, err error) {
	known = map[int]bool{}
	if key == "" {
		jobs, err = s.engine.CreateJobs(ctx, requests)
		return jobs, known, err
	}
	jobs = make([]engine.Job, len(requests))
	var missing []engine.JobRequest
	var at []int
	for i, request := range requests {
		jobs[i].ID = request.ID
		switch err := s.sameJob(ctx, request, key); {
		case err == nil:
			known[i] = true
		case !isNotFound(err):
			return nil, known, err
		default:
			missing, at = append(missing, request), append(at, i)
		}
	}
	if len(missing) == 0 {
		return jobs, known, nil
	}
	made, err := s.engine.CreateJobs(ctx, missing)
	if err != nil && made == nil {
		return nil, known, err
	}
	var errs []error
	for i, failed := range bulkErrors(err) {
		if _, exists := as[*engine.ExistsError](failed); exists { // the same request came twice at once
			known[at[i]] = true
			continue
		}
		errs = append(errs, &engine.BulkError{Index: at[i], Err: failed})
	}
	return jobs, known, errors.Join(errs...)
}

func isNotFound(err error) bool {
	_, ok := as[*engine.NotFoundError](err)
	return ok
}

// sameJob compares a request with the one that a job was created by.
func (s *Server) sameJob(ctx context.Context, request engine.JobRequest, key string) error {
	page, err := s.engine.HistoryPage(ctx, request.ID, 0, 8)
	if err != nil {
		return err
	}
	for _, r := range page.Records {
		if r.Type != core.RecStarted {
			continue
		}
		definition, _ := r.Data.Get(core.JobDefinition)
		tags, _ := r.Data.Get(core.JobTags)
		var had []string
		for _, tag := range tags.Items() {
			had = append(had, tag.Str())
		}
		want := slices.Compact(slices.Sorted(slices.Values(request.Tags)))
		if !expr.Equal(definition, request.Definition) || !slices.Equal(had, want) {
			return &engine.KeyConflictError{Key: key, ID: request.ID}
		}
	}
	return nil
}

// bulkErrors are the errors of single requests by their place.
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

// maxBulkErrors is how many errors of a bulk request are told.
const maxBulkErrors = 100

// refusedJobs tells every client whose job cannot be created.
func refusedJobs(err error, failed map[int]error) error {
	if len(failed) == 0 {
		return err
	}
	if e, ok := as[*engine.NotFoundError](failed[0]); ok && e.Kind == "workflow" {
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
		p.Errors = append(p.Errors, Detail{Pointer: fmt.Sprintf("/clients/%d", i), Message: problemOf(failed[i]).Detail})
	}
	return &p
}

// writeJobs tells how many jobs are in which state, and how many status updates came by
// this server. Without jobs it tells nothing.
func (s *Server) writeJobs(ctx context.Context, x *exposition) {
	stats, err := s.engine.JobStats(ctx)
	if err == nil && len(stats) > 0 { // else lockstep_store_up tells
		x.family("lockstep_jobs", "gauge", "Jobs by workflow, state and group.")
		for _, stat := range stats {
			x.sample("lockstep_jobs", stat.Count, "workflow", stat.Definition, "state", stat.State, "group", stat.Group)
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
