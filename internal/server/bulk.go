package server

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// maxBulk is how many instances one request may intervene in ("bulk-items").
const maxBulk = 1000

// bulkWorkers is how many of them are changed at a time, so that they share commits.
const bulkWorkers = 8

// bulkVerbs are the interventions that need no data of each instance.
var bulkVerbs = map[string]core.Verb{
	api.VerbRetry: core.VerbRetry, api.VerbPause: core.VerbSuspend, api.VerbResume: core.VerbResume,
	api.VerbCancel: core.VerbCancel, api.VerbTerminate: core.VerbTerminate,
}

// controlInstances makes the same intervention in many instances. An error of one is in its result and
// does not affect the others.
func (s *Server) controlInstances(w http.ResponseWriter, r *request) error {
	c, targets, err := s.bulkRequest(r)
	if err != nil {
		return err
	}
	out := api.BulkResults{Items: make([]api.BulkResult, len(targets))}
	errs := s.controlAll(r, c, targets, out.Items)
	trouble := 0
	for i, err := range errs {
		if err == nil {
			out.Done++
			continue
		}
		p := problemOf(err)
		if p.Status >= http.StatusInternalServerError {
			trouble++
		}
		out.Items[i].Code, out.Items[i].Detail = p.Code, p.Detail
		out.Refused++
	}
	if trouble == len(targets) {
		return errs[0] // nothing happened to any instance
	}
	s.log.InfoContext(r.Context(), "interventions", "verb", c.Verb, "done", out.Done, "refused", out.Refused, "who", r.who.name)
	return answer(w, http.StatusOK, out)
}

// controlAll changes the targets, some at a time.
func (s *Server) controlAll(r *request, c core.Control, targets []api.BulkTarget, results []api.BulkResult) []error {
	errs := make([]error, len(targets))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(bulkWorkers, len(targets)) {
		workers.Go(func() {
			for i := range next {
				results[i].ID = targets[i].ID
				results[i].Status, errs[i] = s.controlOne(r, c, targets[i])
			}
		})
	}
	for i := range targets {
		next <- i
	}
	close(next)
	workers.Wait()
	return errs
}

func (s *Server) controlOne(r *request, c core.Control, t api.BulkTarget) (api.Status, error) {
	if err := r.Context().Err(); err != nil {
		return "", err
	}
	if err := s.controlAt(r.Context(), t.ID, c, t.Rev); err != nil {
		return "", err
	}
	row, err := s.engine.Get(r.Context(), t.ID)
	return api.Status(row.Status), err
}

// bulkRequest reads the intervention and its targets.
func (s *Server) bulkRequest(r *request) (c core.Control, targets []api.BulkTarget, err error) {
	body, err := s.object(r, "verb", "instances", "reason", "compensate", "failedItems")
	if err != nil {
		return c, nil, err
	}
	verb := body.Str("verb")
	if body.Err() != nil {
		return c, nil, memberProblem(body)
	}
	c.Verb = bulkVerbs[verb]
	if c.Verb == "" {
		p := badMember("/verb", fmt.Sprintf("verb: %.100q cannot be applied in bulk", verb))
		return c, nil, p.hint("the verbs are retry, pause, resume, cancel, terminate")
	}
	c.Actor, err = r.actor(body)
	if err != nil {
		return c, nil, err
	}
	if _, given := body.Get("compensate"); given && c.Verb != core.VerbCancel {
		return c, nil, badMember("/compensate", "compensate is for cancel only")
	}
	if _, given := body.Get("failedItems"); given && c.Verb != core.VerbRetry {
		return c, nil, badMember("/failedItems", "failedItems is for retry only")
	}
	c.Compensate, c.Items = body.Flag("compensate", false), body.Flag("failedItems", false)
	if body.Err() != nil {
		return c, nil, memberProblem(body)
	}
	targets, err = bulkTargets(body)
	return c, targets, err
}

func bulkTargets(body *dialect.Members) ([]api.BulkTarget, error) {
	list, _ := body.Get("instances")
	if !list.IsArray() || list.Len() == 0 {
		return nil, badMember("/instances", "instances is required: an array of {id, rev}")
	}
	if list.Len() > maxBulk {
		p := problem(api.CodeTooLarge, fmt.Sprintf("there are %d instances; one request may change at most %d (limit bulk-items)", list.Len(), maxBulk))
		p.Limit = "bulk-items"
		return nil, p.hint("send them in several requests")
	}
	out := make([]api.BulkTarget, 0, list.Len())
	seen := map[string]bool{}
	for i, item := range list.Items() {
		at := fmt.Sprintf("/instances/%d", i)
		one := dialect.ReadMembers(item, fmt.Sprintf("instances[%d]", i), at, "id", "rev")
		id := one.Name("id")
		rev, given := one.Get("rev")
		n, whole := rev.Int()
		switch {
		case one.Err() != nil:
			return nil, memberProblem(one)
		case seen[id]:
			return nil, badMember(at+"/id", fmt.Sprintf("duplicate instance %.100q", id))
		case given && (!whole || n <= 0):
			return nil, badMember(at+"/rev", "rev must be the rev of the instance as it was read")
		}
		seen[id] = true
		out = append(out, api.BulkTarget{ID: id, Rev: n})
	}
	return out, nil
}
