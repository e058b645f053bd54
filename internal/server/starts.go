package server

import (
	"fmt"
	"net/http"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// maxStarts is how many instances one request may start ("bulk-starts").
const maxStarts = 1000

// startWorkers is how many of them start at a time, so that they share commits.
const startWorkers = 64

// oneStart is one start of a request for many.
type oneStart struct {
	engine.StartRequest
	key string // "": it is not repeatable, unless it has an ID
}

// startInstances starts many instances of a definition. Mistakes in the request are found before the first one starts; a
// start that is refused later is in its result and does not affect the others.
func (s *Server) startInstances(w http.ResponseWriter, r *request) error {
	starts, err := s.startRequests(r)
	if err != nil {
		return err
	}
	if err := r.visit.start(len(starts)); err != nil {
		return err
	}
	out := api.StartResults{Items: make([]api.StartResult, len(starts))}
	errs := s.startAll(r, starts, out.Items)
	same := true // all are refused, for the same reason
	for i, err := range errs {
		item := &out.Items[i]
		switch {
		case err != nil:
			p := problemOf(err)
			*item = api.StartResult{Code: p.Code, Detail: p.Detail}
			out.Refused++
		case item.Found:
			out.Found++
		default:
			out.Started++
		}
		same = same && item.Code != "" && item.Code == out.Items[0].Code
	}
	if same {
		return errs[0]
	}
	return answer(w, http.StatusOK, out)
}

// startAll starts instances, some at a time.
func (s *Server) startAll(r *request, starts []oneStart, results []api.StartResult) []error {
	errs := make([]error, len(starts))
	abreast(len(starts), startWorkers, func(i int) {
		results[i].ID, results[i].Found, errs[i] = s.startOne(r, &starts[i])
	})
	return errs
}

func (s *Server) startOne(r *request, o *oneStart) (id string, found bool, err error) {
	if err := r.Context().Err(); err != nil {
		return "", false, err
	}
	if o.ID == "" && o.key == "" {
		id, err = s.engine.Start(r.Context(), o.StartRequest)
		return id, false, err
	}
	return s.engine.StartOnce(r.Context(), o.StartRequest, o.key)
}

// startRequests reads the body. A start without a key and an id has the key of the request, with a space and its place.
func (s *Server) startRequests(r *request) ([]oneStart, error) {
	key, err := r.idempotencyKey()
	if err != nil {
		return nil, err
	}
	if most := maxKey - len(" 999"); len(key) > most {
		return nil, badParameter("Idempotency-Key", "must have at most %d characters here: each start adds its place", most)
	}
	body, err := s.object(r, "version", "starts")
	if err != nil {
		return nil, err
	}
	version := body.Str("version")
	list, _ := body.Get("starts")
	switch {
	case body.Err() != nil:
		return nil, memberProblem(body)
	case !list.IsArray() || list.Len() == 0:
		return nil, badMember("/starts", "starts is required: an array of {input, key, id, name, labels}")
	case list.Len() > maxStarts:
		return nil, overLimit("bulk-starts", fmt.Sprintf("there are %d starts; one request may start at most %d instances", list.Len(), maxStarts)).hint("send them in several requests")
	}
	out := make([]oneStart, 0, list.Len())
	seen := map[[2]string]int{}
	for i, item := range list.Items() {
		at := fmt.Sprintf("/starts/%d", i)
		one, err := readStart(item, i, at)
		if err != nil {
			return nil, err
		}
		one.Definition, one.Version = r.PathValue("definition"), version
		if named := [2]string{one.key, one.ID}; named != [2]string{} {
			if first, twice := seen[named]; twice {
				return nil, badMember(at, fmt.Sprintf("it has the key or id of the start at %d", first))
			}
			seen[named] = i
		} else if key != "" {
			one.key = fmt.Sprintf("%s %d", key, i) // no key that is given has a space
		}
		out = append(out, one)
	}
	return out, nil
}

// readStart reads one start.
func readStart(v expr.Value, i int, at string) (out oneStart, err error) {
	one := dialect.ReadMembers(v, fmt.Sprintf("starts[%d]", i), at, "input", "key", "id", "name", "labels")
	input, given := one.Get("input")
	out.Input = input
	out.key, out.ID, out.Name = one.Str("key"), one.Str("id"), one.Str("name")
	labels := one.Object("labels")
	for _, m := range labels.Members() {
		if m.Value.Kind() != expr.KindString {
			return out, badMember(at+"/labels", fmt.Sprintf("the label %q must be a string", m.Key))
		}
		if out.Labels == nil {
			out.Labels = map[string]string{}
		}
		out.Labels[m.Key] = m.Value.Str()
	}
	_, keyed := one.Get("key")
	_, named := one.Get("id")
	switch {
	case one.Err() != nil:
		return out, memberProblem(one)
	case given && input.IsNull():
		return out, badMember(at+"/input", "the workflow input must be a JSON object, not null")
	case keyed && !validKey(out.key):
		return out, badMember(at+"/key", fmt.Sprintf("a key must have 1 to %d visible ASCII characters (limit idempotency-key)", maxKey))
	case keyed && named:
		return out, badMember(at+"/id", "id cannot be given together with a key")
	case named && out.ID == "":
		return out, &engine.IDError{}
	}
	return out, nil
}
