package server

import (
	"fmt"
	"net/http"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

func (s *Server) listCalls(w http.ResponseWriter, r *request) error {
	limit, err := s.limit(r)
	if err != nil {
		return err
	}
	parked, err := r.flag("parked")
	if err != nil {
		return err
	}
	after, err := r.afterNumber('c')
	if err != nil {
		return err
	}
	calls, err := s.engine.OpenCalls(r.Context(), r.query.Get("instance"))
	if err != nil {
		return err
	}
	out := s.newPage(limit)
	var last int64
	for _, c := range calls {
		if c.Seq <= after || parked && !c.Parked {
			continue
		}
		fits, err := out.add(api.Call{
			Instance: c.Instance, Ticket: c.Ticket.String(), Function: c.Function.Name, Operation: c.Function.Operation,
			Node: c.Node, Arguments: dataOf(c.Args), Attempt: c.Attempt, Parked: c.Parked,
		})
		if err != nil {
			return err
		}
		if !fits {
			out.Next = cursor('c', itoa(last))
			break
		}
		last = c.Seq
	}
	return answer(w, http.StatusOK, out)
}

// answerCall answers a call with the result or the error in the body.
func (s *Server) answerCall(w http.ResponseWriter, r *request) error {
	id := r.PathValue("instance")
	ticket, err := core.ParseTicket(r.PathValue("ticket"))
	if err != nil {
		return problem(api.CodeNotFound, fmt.Sprintf("there is no call %q: a ticket is two numbers separated by a dot", r.PathValue("ticket")))
	}
	body, err := s.object(r, "result", "error")
	if err != nil {
		return err
	}
	out, err := outcome(body)
	if err != nil {
		return err
	}
	if _, err := s.engine.Get(r.Context(), id); err != nil {
		return err
	}
	if err := s.engine.Answer(r.Context(), id, ticket, out); err != nil {
		return s.notAllowed(r, id, err)
	}
	row, err := s.engine.Get(r.Context(), id)
	if err != nil {
		return err
	}
	r.deed.after = fmt.Sprintf("call=%s answer=result", ticket)
	if out.Failure != nil {
		r.deed.after = fmt.Sprintf("call=%s answer=error", ticket)
	}
	s.log.InfoContext(r.Context(), "call answered by hand", "instance", id, "ticket", ticket.String(), "who", r.who.name)
	return answerInstance(w, http.StatusOK, &row)
}

func outcome(body *dialect.Members) (effect.Outcome, error) {
	result, given := body.Get("result")
	failure, failed := body.Get("error")
	if given == failed {
		return effect.Outcome{}, problem(api.CodeInput, "the body must have exactly one of result and error")
	}
	if given {
		return effect.Outcome{Value: result}, nil
	}
	m := dialect.ReadMembers(failure, "the error", "/error", "name", "code", "status", "title", "type", "detail", "data")
	f := effect.Failure{
		Name: m.Name("name"), Code: m.Str("code"), Status: m.Str("status"),
		Title: m.Str("title"), Type: m.Str("type"), Detail: m.Str("detail"),
	}
	f.Data, _ = m.Get("data")
	return effect.Fail(f), memberProblem(m)
}
