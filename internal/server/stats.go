package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

type statsView struct {
	Total       int64             `json:"total"`
	Statuses    map[string]int64  `json:"statuses"`
	Definitions []definitionStats `json:"definitions"`
}

type definitionStats struct {
	ID       string           `json:"id"`
	Total    int64            `json:"total"`
	Statuses map[string]int64 `json:"statuses"`
}

func (s *Server) getStats(w http.ResponseWriter, r *request) error {
	stats, err := s.engine.Stats(r.Context())
	if err != nil {
		return err
	}
	out := statsView{Statuses: map[string]int64{}, Definitions: []definitionStats{}}
	for _, stat := range stats { // by definition
		n := len(out.Definitions)
		if n == 0 || out.Definitions[n-1].ID != stat.Definition {
			out.Definitions = append(out.Definitions, definitionStats{ID: stat.Definition, Statuses: map[string]int64{}})
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

// readyz lists every reason not to send requests here. What is in the way of one node is often not
// in the way of another.
func (s *Server) readyz(w http.ResponseWriter, r *request) error {
	select {
	case <-s.stopping:
		p := problem(CodeStopping, "the server is being stopped")
		p.retry = 1
		return p
	default:
	}
	reasons := s.engine.Ready(r.Context())
	if len(reasons) == 0 {
		return answerText(w, http.StatusOK, "text/plain; charset=utf-8", []byte("ready\n"))
	}
	p := problem(CodeNotReady, "")
	p.retry = 1
	var texts []string
	for _, reason := range reasons {
		texts = append(texts, reason.Text)
		p.Errors = append(p.Errors, Detail{Code: reason.Code, Message: reason.Text})
		p.cause = errors.Join(p.cause, fmt.Errorf("%s: %w", reason.Code, reason.Err))
	}
	p.Detail = strings.Join(texts, "; ")
	return p
}
