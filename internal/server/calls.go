package server

import (
	"fmt"
	"net/http"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

type callView struct {
	Instance  string     `json:"instance"`
	Ticket    string     `json:"ticket"`
	Function  string     `json:"function"`
	Operation string     `json:"operation,omitempty"`
	Node      string     `json:"node,omitempty"`
	Arguments expr.Value `json:"arguments"`
	Attempt   int        `json:"attempt"`
	Parked    bool       `json:"parked"`
}

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
		fits, err := out.add(callView{
			c.Instance, c.Ticket.String(), c.Function.Name, c.Function.Operation, c.Node, c.Args, c.Attempt, c.Parked,
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

// answerCall gives a call the outcome that the body tells.
func (s *Server) answerCall(w http.ResponseWriter, r *request) error {
	id := r.PathValue("instance")
	ticket, err := core.ParseTicket(r.PathValue("ticket"))
	if err != nil {
		return problem(CodeNotFound, fmt.Sprintf("there is no call %q: a ticket is two numbers with a dot between", r.PathValue("ticket")))
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
	s.log.InfoContext(r.Context(), "call answered by hand", "instance", id, "ticket", ticket.String(), "who", r.who.name)
	return answerInstance(w, http.StatusOK, &row)
}

func outcome(body expr.Value) (effect.Outcome, error) {
	result, given := body.Get("result")
	failure, failed := body.Get("error")
	if given == failed {
		return effect.Outcome{}, problem(CodeInput, "the body must have exactly one of result and error")
	}
	if given {
		return effect.Outcome{Value: result}, nil
	}
	if err := onlyMembers("/error", failure, "name", "code", "status", "title", "type", "detail", "data"); err != nil {
		return effect.Outcome{}, err
	}
	var f effect.Failure
	for name, field := range map[string]*string{
		"name": &f.Name, "code": &f.Code, "status": &f.Status, "title": &f.Title, "type": &f.Type, "detail": &f.Detail,
	} {
		var err error
		if *field, err = text(failure, "/error", name); err != nil {
			return effect.Outcome{}, err
		}
	}
	if f.Name == "" {
		p := problem(CodeInput, "an error needs a name")
		p.Errors = []Detail{{Pointer: "/error/name", Message: "is required"}}
		return effect.Outcome{}, p
	}
	f.Data, _ = failure.Get("data")
	return effect.Fail(f), nil
}
