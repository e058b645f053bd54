package server

import (
	"fmt"
	"net/http"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// control carries out an intervention, and answers with the instance after it.
func (s *Server) control(w http.ResponseWriter, r *request, body expr.Value, c core.Control) error {
	rev, err := r.ifMatch()
	if err != nil {
		return err
	}
	reason, err := text(body, "", "reason")
	if err != nil {
		return err
	}
	if len(reason) > maxReason {
		return tooLarge("reason", maxReason)
	}
	c.Actor = r.who.name
	if reason != "" {
		c.Actor += ": " + reason
	}
	id := r.PathValue("instance")
	if rev == 0 {
		err = s.engine.Control(r.Context(), id, c)
	} else {
		err = s.engine.ControlAt(r.Context(), id, c, rev)
	}
	if err != nil {
		return s.notAllowed(r, id, err)
	}
	row, err := s.engine.Get(r.Context(), id)
	if err != nil {
		return err
	}
	s.log.InfoContext(r.Context(), "intervention", "instance", id, "verb", c.Verb, "who", r.who.name)
	return answerInstance(w, http.StatusOK, &row)
}

// notAllowed adds to a refusal what would be allowed.
func (s *Server) notAllowed(r *request, id string, err error) error {
	if p := problemOf(err); p.Code == CodeNotAllowedNow || p.Code == CodeQuarantine {
		if row, err := s.engine.Get(r.Context(), id); err == nil {
			p.Allowed = allowed(&row)
		}
		return p
	}
	return err
}

// maxReason is how long the reason of an intervention may be ("reason").
const maxReason = 4096

// notAnObject refuses data that a state could not have.
func notAnObject(name string, v expr.Value) error {
	p := problem(CodeInput, fmt.Sprintf("%s must be an object, as the data of every state is, not %s", name, v.Kind()))
	p.Errors = []Detail{{Pointer: "/" + name, Message: "must be an object"}}
	return p
}

// simple is an intervention without data.
func (s *Server) simple(w http.ResponseWriter, r *request, verb core.Verb) error {
	body, err := s.object(r, "reason")
	if err != nil {
		return err
	}
	return s.control(w, r, body, core.Control{Verb: verb})
}

func (s *Server) pauseInstance(w http.ResponseWriter, r *request) error {
	return s.simple(w, r, core.VerbSuspend)
}

func (s *Server) resumeInstance(w http.ResponseWriter, r *request) error {
	return s.simple(w, r, core.VerbResume)
}

func (s *Server) terminateInstance(w http.ResponseWriter, r *request) error {
	return s.simple(w, r, core.VerbTerminate)
}

func (s *Server) cancelInstance(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "reason", "compensate")
	if err != nil {
		return err
	}
	compensate, given := body.Get("compensate")
	if given && compensate.Kind() != expr.KindBool {
		p := problem(CodeUnknownField, "compensate must be true or false")
		p.Errors = []Detail{{Pointer: "/compensate", Message: "must be true or false"}}
		return p
	}
	return s.control(w, r, body, core.Control{Verb: core.VerbCancel, Compensate: compensate.Bool()})
}

func (s *Server) retryInstance(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "reason", "data")
	if err != nil {
		return err
	}
	data, given := body.Get("data")
	if given && !data.IsObject() {
		return notAnObject("data", data)
	}
	return s.control(w, r, body, core.Control{Verb: core.VerbRetry, Data: data, HasData: given})
}

func (s *Server) skipInstance(w http.ResponseWriter, r *request) error {
	body, err := s.object(r, "reason", "output")
	if err != nil {
		return err
	}
	output, given := body.Get("output")
	if !given {
		p := problem(CodeInput, "skip needs the output that the failed state should have given")
		p.Errors = []Detail{{Pointer: "/output", Message: "is required"}}
		return p
	}
	if !output.IsObject() {
		return notAnObject("output", output)
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
	version, err := text(body, "", "version")
	if err != nil {
		return err
	}
	input, given := body.Get("input")
	old := r.PathValue("instance")
	id, _, err := s.engine.Restart(r.Context(), old, engine.RestartRequest{
		Input: input, HasInput: given, Version: version, Key: key, Rev: rev,
	})
	if err != nil {
		return s.notAllowed(r, old, err)
	}
	row, err := s.engine.Get(r.Context(), id)
	if err != nil {
		return fmt.Errorf("read the new instance: %w", err)
	}
	s.log.InfoContext(r.Context(), "intervention", "instance", old, "verb", "restart", "started", id, "who", r.who.name)
	w.Header().Set("Location", instancePath(id))
	return answerInstance(w, http.StatusCreated, &row)
}
