package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// control carries out an intervention, and answers with the instance after it.
func (s *Server) control(w http.ResponseWriter, r *request, body *dialect.Members, c core.Control) error {
	rev, err := r.ifMatch()
	if err != nil {
		return err
	}
	c.Actor, err = r.actor(body)
	if err != nil {
		return err
	}
	id := r.PathValue("instance")
	s.noteBefore(r, id)
	if err := s.controlAt(r.Context(), id, c, rev); err != nil {
		return s.notAllowed(r, id, err)
	}
	row, err := s.engine.Get(r.Context(), id)
	if err != nil {
		return err
	}
	r.deed.after = statusOf(&row)
	s.log.InfoContext(r.Context(), "intervention", "instance", id, "verb", c.Verb, "who", r.who.name)
	return answerInstance(w, http.StatusOK, &row)
}

// controlAt makes an intervention in an instance that must be at a revision; 0: at any.
func (s *Server) controlAt(ctx context.Context, id string, c core.Control, rev int64) error {
	if rev == 0 {
		return s.engine.Control(ctx, id, c)
	}
	return s.engine.ControlAt(ctx, id, c, rev)
}

// notAllowed adds the verbs that are possible now to a refusal.
func (s *Server) notAllowed(r *request, id string, err error) error {
	if p := problemOf(err); p.Code == api.CodeNotAllowedNow || p.Code == api.CodeQuarantine {
		if row, err := s.engine.Get(r.Context(), id); err == nil {
			p.Allowed = allowed(&row)
		}
		return p
	}
	return err
}

// maxReason bounds the reason of an intervention, in bytes ("reason").
const maxReason = 4096

// reason is the reason that the body gives, which the audit log has as well.
func (r *request) reason(body *dialect.Members) (string, error) {
	reason := body.Str("reason")
	r.deed.reason = reason
	switch {
	case body.Err() != nil:
		return "", memberProblem(body)
	case len(reason) > maxReason:
		return "", tooLarge("reason", maxReason)
	}
	return reason, nil
}

// actor is who intervenes, with the reason that the body gives.
func (r *request) actor(body *dialect.Members) (string, error) {
	reason, err := r.reason(body)
	if err != nil || reason == "" {
		return r.who.name, err
	}
	return r.who.name + ": " + reason, nil
}

// intervene is the handler of an intervention without data.
func intervene(verb core.Verb) func(*Server, http.ResponseWriter, *request) error {
	return func(s *Server, w http.ResponseWriter, r *request) error {
		body, err := s.object(r, "reason")
		if err != nil {
			return err
		}
		return s.control(w, r, body, core.Control{Verb: verb})
	}
}

func (s *Server) cancelInstance(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "reason", "compensate")
	if err != nil {
		return err
	}
	compensate := body.Flag("compensate", false)
	if wrong, ok := errors.AsType[*dialect.MemberError](body.Err()); ok {
		return memberProblemAs(api.CodeUnknownField, wrong)
	}
	return s.control(w, r, body, core.Control{Verb: core.VerbCancel, Compensate: compensate})
}

func (s *Server) retryInstance(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "reason", "data", "failedItems")
	if err != nil {
		return err
	}
	data := body.Object("data")
	items := body.Flag("failedItems", false)
	switch {
	case body.Err() != nil:
		return memberProblem(body)
	case items && data.IsObject():
		return badMember("/failedItems", "give either data or failedItems: failed items run with the data that is there")
	}
	return s.control(w, r, body, core.Control{Verb: core.VerbRetry, Data: data, HasData: data.IsObject(), Items: items})
}

func (s *Server) skipInstance(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "reason", "output")
	if err != nil {
		return err
	}
	output := body.Object("output")
	switch {
	case body.Err() != nil:
		return memberProblem(body)
	case output.IsNull():
		return badMember("/output", "skip needs \"output\", the output that the failed state should have had")
	}
	return s.control(w, r, body, core.Control{Verb: core.VerbSkip, Data: output, HasData: true})
}

func (s *Server) restartInstance(w http.ResponseWriter, r *request) error {
	key, err := r.idempotencyKey()
	if err != nil {
		return err
	}
	rev, err := r.ifMatch()
	if err != nil {
		return err
	}
	body, err := s.object(r, "input", "version")
	if err != nil {
		return err
	}
	version := body.Str("version")
	if body.Err() != nil {
		return memberProblem(body)
	}
	input, given := body.Get("input")
	old := r.PathValue("instance")
	s.noteBefore(r, old)
	if err := r.visit.start(1); err != nil {
		return err
	}
	id, _, err := s.engine.Restart(r.Context(), old, engine.RestartRequest{
		Input: input, HasInput: given, Version: version, Key: key, Rev: rev,
	})
	if err != nil {
		return s.notAllowed(r, old, err)
	}
	r.deed.after = "instance=" + id
	row, err := s.engine.Get(r.Context(), id)
	if err != nil {
		return fmt.Errorf("read the new instance: %w", err)
	}
	s.log.InfoContext(r.Context(), "intervention", "instance", old, "verb", "restart", "started", id, "who", r.who.name)
	w.Header().Set("Location", instancePath(id))
	return answerInstance(w, http.StatusCreated, &row)
}
