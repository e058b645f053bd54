package server

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// maxBulk is how many instances one request may intervene in ("bulk-items").
const maxBulk = 1000

// maxBulkOutput is how many bytes of output one request may write, for all its instances together ("bulk-output"): each
// of them keeps the whole.
const maxBulkOutput = 16 << 20

// bulkWorkers is how many of them are changed at a time, so that they share commits.
const bulkWorkers = 8

// bulkVerbs are the interventions that need no data of each instance. To skip, all get the same output.
var bulkVerbs = map[string]core.Verb{
	api.VerbRetry: core.VerbRetry, api.VerbSkip: core.VerbSkip, api.VerbPause: core.VerbSuspend, api.VerbResume: core.VerbResume,
	api.VerbCancel: core.VerbCancel, api.VerbTerminate: core.VerbTerminate,
}

// bulkDeed is what a request does to each of its targets.
type bulkDeed struct {
	verb    string
	control core.Control // unless the verb is delete
}

// controlInstances does the same to many instances. An error of one is in its result and
// does not affect the others.
func (s *Server) controlInstances(w http.ResponseWriter, r *request) error {
	deed, targets, err := s.bulkRequest(r)
	if err != nil {
		return err
	}
	out := api.BulkResults{Items: make([]api.BulkResult, len(targets))}
	errs := s.controlAll(r, deed, targets, out.Items)
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
	ids := make([]string, len(targets))
	for i, t := range targets {
		ids[i] = t.ID
	}
	r.deed.after = fmt.Sprintf("verb=%s done=%d refused=%d instances=%s", deed.verb, out.Done, out.Refused, strings.Join(ids, ","))
	s.log.InfoContext(r.Context(), "interventions", "verb", deed.verb, "done", out.Done, "refused", out.Refused, "who", r.who.name)
	return answer(w, http.StatusOK, out)
}

// controlAll changes the targets, some at a time.
func (s *Server) controlAll(r *request, deed bulkDeed, targets []api.BulkTarget, results []api.BulkResult) []error {
	errs := make([]error, len(targets))
	abreast(len(targets), bulkWorkers, func(i int) {
		results[i].ID = targets[i].ID
		results[i].Status, errs[i] = s.controlOne(r, deed, targets[i])
	})
	return errs
}

// abreast does n things, at most so many at a time.
func abreast(n, workers int, do func(i int)) {
	next := make(chan int)
	var all sync.WaitGroup
	for range min(workers, n) {
		all.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

func (s *Server) controlOne(r *request, deed bulkDeed, t api.BulkTarget) (api.Status, error) {
	if err := r.Context().Err(); err != nil {
		return "", err
	}
	if deed.verb == api.VerbDelete {
		return "", s.engine.DeleteInstance(r.Context(), t.ID, t.Rev)
	}
	if err := s.controlAt(r.Context(), t.ID, deed.control, t.Rev); err != nil {
		return "", err
	}
	row, err := s.engine.Get(r.Context(), t.ID)
	return api.Status(row.Status), err
}

// bulkRequest reads what is to be done, and to which instances.
func (s *Server) bulkRequest(r *request) (deed bulkDeed, targets []api.BulkTarget, err error) {
	body, err := s.object(r, "verb", "instances", "reason", "compensate", "failedItems", "output")
	if err != nil {
		return deed, nil, err
	}
	deed.verb = body.Str("verb")
	if body.Err() != nil {
		return deed, nil, memberProblem(body)
	}
	c := &deed.control
	c.Verb = bulkVerbs[deed.verb]
	if c.Verb == "" && deed.verb != api.VerbDelete {
		p := badMember("/verb", fmt.Sprintf("verb: %.100q cannot be applied in bulk", deed.verb))
		return deed, nil, p.hint("the verbs are retry, skip, pause, resume, cancel, terminate, delete")
	}
	c.Actor, err = r.actor(body)
	if err != nil {
		return deed, nil, err
	}
	for _, of := range [][2]string{{"compensate", api.VerbCancel}, {"failedItems", api.VerbRetry}, {"output", api.VerbSkip}} {
		if _, given := body.Get(of[0]); given && deed.verb != of[1] {
			return deed, nil, badMember("/"+of[0], of[0]+" is for "+of[1]+" only")
		}
	}
	c.Compensate, c.Items = body.Flag("compensate", false), body.Flag("failedItems", false)
	c.Data, c.HasData = body.Object("output"), deed.verb == api.VerbSkip
	switch {
	case body.Err() != nil:
		return deed, nil, memberProblem(body)
	case c.HasData && c.Data.IsNull():
		return deed, nil, badMember("/output", "skip needs \"output\", the output that the failed states should have had")
	}
	if targets, err = bulkTargets(body); err != nil {
		return deed, nil, err
	}
	if n := len(c.Data.AppendJSON(nil)); c.HasData && n > maxBulkOutput/len(targets) {
		return deed, nil, overLimit("bulk-output", fmt.Sprintf("an output of %d bytes for each of %d instances has more than %d bytes", n, len(targets), maxBulkOutput)).
			hint("skip them in several requests, or with less output")
	}
	return deed, targets, nil
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
