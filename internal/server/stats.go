package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
)

func (s *Server) getStats(w http.ResponseWriter, r *request) error {
	stats, err := s.engine.Stats(r.Context())
	if err != nil {
		return err
	}
	out := api.Stats{Statuses: map[string]int64{}, Definitions: []api.DefinitionStats{}}
	for _, stat := range stats { // by definition
		n := len(out.Definitions)
		if n == 0 || out.Definitions[n-1].ID != stat.Definition {
			out.Definitions = append(out.Definitions, api.DefinitionStats{ID: stat.Definition, Statuses: map[string]int64{}})
			n++
		}
		d := &out.Definitions[n-1]
		d.Total += stat.Count
		d.Statuses[string(stat.Status)] += stat.Count
		out.Total += stat.Count
		out.Statuses[string(stat.Status)] += stat.Count
	}
	return answer(w, http.StatusOK, out)
}

func (s *Server) healthz(w http.ResponseWriter, _ *request) error {
	return answerText(w, http.StatusOK, "text/plain; charset=utf-8", []byte("ok\n"))
}

// readyz lists every reason not to send requests to this node. Another node may be ready.
func (s *Server) readyz(w http.ResponseWriter, r *request) error {
	select {
	case <-s.stopping:
		p := problem(api.CodeStopping, "the server is being stopped")
		p.retry = 1
		return p
	default:
	}
	reasons := s.engine.Ready(r.Context())
	if len(reasons) == 0 {
		return answerText(w, http.StatusOK, "text/plain; charset=utf-8", []byte("ready\n"))
	}
	p := problem(api.CodeNotReady, "")
	p.retry = 1
	var texts []string
	for _, reason := range reasons {
		texts = append(texts, reason.Text)
		p.Errors = append(p.Errors, api.ProblemDetail{Code: reason.Code, Message: reason.Text})
		p.cause = errors.Join(p.cause, fmt.Errorf("%s: %w", reason.Code, reason.Err))
	}
	p.Detail = strings.Join(texts, "; ")
	return p
}
