package server

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// maxBulk is how many instances one request may intervene in ("bulk-items").
const maxBulk = 1000

// bulkWorkers is how many of them are changed at a time: they share commits.
const bulkWorkers = 8

// bulkVerbs are the interventions that need nothing of each instance.
var bulkVerbs = map[string]core.Verb{
	"retry": core.VerbRetry, "pause": core.VerbSuspend, "resume": core.VerbResume,
	"cancel": core.VerbCancel, "terminate": core.VerbTerminate,
}

// target is an instance of a bulk request; rev 0: as it is.
type target struct {
	id  string
	rev int64
}

// bulkResult is what became of one.
type bulkResult struct {
	ID     string      `json:"id"`
	Status core.Status `json:"status,omitempty"`
	Code   Code        `json:"code,omitempty"`
	Detail string      `json:"detail,omitempty"`
}

type bulkResults struct {
	Done    int          `json:"done"`
	Refused int          `json:"refused"`
	Items   []bulkResult `json:"items"`
}

// controlInstances does the same to many instances. What goes wrong with one is told, and
// does not keep the others from it.
func (s *Server) controlInstances(w http.ResponseWriter, r *request) error {
	c, targets, err := s.bulkRequest(r)
	if err != nil {
		return err
	}
	out := bulkResults{Items: make([]bulkResult, len(targets))}
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
		return errs[0] // nothing happened to any of them
	}
	s.log.InfoContext(r.Context(), "interventions", "verb", c.Verb, "done", out.Done, "refused", out.Refused, "who", r.who.name)
	return answer(w, http.StatusOK, out)
}

// controlAll changes the targets, some at a time.
func (s *Server) controlAll(r *request, c core.Control, targets []target, results []bulkResult) []error {
	errs := make([]error, len(targets))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(bulkWorkers, len(targets)) {
		workers.Go(func() {
			for i := range next {
				results[i].ID = targets[i].id
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

func (s *Server) controlOne(r *request, c core.Control, t target) (core.Status, error) {
	if err := r.Context().Err(); err != nil {
		return "", err
	}
	var err error
	if t.rev == 0 {
		err = s.engine.Control(r.Context(), t.id, c)
	} else {
		err = s.engine.ControlAt(r.Context(), t.id, c, t.rev)
	}
	if err != nil {
		return "", err
	}
	row, err := s.engine.Get(r.Context(), t.id)
	return row.Status, err
}

// bulkRequest reads what is to be done, and to which.
func (s *Server) bulkRequest(r *request) (c core.Control, targets []target, err error) {
	body, err := s.object(r, "verb", "instances", "reason", "compensate")
	if err != nil {
		return c, nil, err
	}
	verb, err := text(body, "", "verb")
	if err != nil {
		return c, nil, err
	}
	c.Verb = bulkVerbs[verb]
	if c.Verb == "" {
		p := badMember("/verb", fmt.Sprintf("verb: %.100q is nothing that can be done to many", verb))
		return c, nil, p.hint("the verbs are retry, pause, resume, cancel, terminate")
	}
	reason, err := text(body, "", "reason")
	if err != nil {
		return c, nil, err
	}
	if len(reason) > maxReason {
		return c, nil, tooLarge("reason", maxReason)
	}
	if c.Actor = r.who.name; reason != "" {
		c.Actor += ": " + reason
	}
	compensate, given := body.Get("compensate")
	if given && (compensate.Kind() != expr.KindBool || c.Verb != core.VerbCancel) {
		return c, nil, badMember("/compensate", "compensate is true or false, and only cancel has it")
	}
	c.Compensate = given && compensate.Bool()
	targets, err = bulkTargets(body)
	return c, targets, err
}

func bulkTargets(body expr.Value) ([]target, error) {
	list, _ := body.Get("instances")
	if !list.IsArray() || list.Len() == 0 {
		return nil, badMember("/instances", "instances must list those that are meant")
	}
	if list.Len() > maxBulk {
		p := problem(CodeTooLarge, fmt.Sprintf("there are %d instances; at most %d are changed by one request (limit bulk-items)", list.Len(), maxBulk))
		p.Limit = "bulk-items"
		return nil, p.hint("send them in several requests")
	}
	out := make([]target, 0, list.Len())
	seen := map[string]bool{}
	for i, item := range list.Items() {
		at := fmt.Sprintf("/instances/%d", i)
		if err := onlyMembers(at, item, "id", "rev"); err != nil {
			return nil, err
		}
		id, err := text(item, at, "id")
		if err != nil {
			return nil, err
		}
		rev, given := item.Get("rev")
		n, whole := rev.Int()
		switch {
		case id == "":
			return nil, badMember(at+"/id", "id is required")
		case seen[id]:
			return nil, badMember(at+"/id", fmt.Sprintf("instance %.100q is there twice", id))
		case given && (!whole || n <= 0):
			return nil, badMember(at+"/rev", "rev must be the rev of the instance as it was read")
		}
		seen[id] = true
		out = append(out, target{id, n})
	}
	return out, nil
}
