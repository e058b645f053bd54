package server

import (
	"fmt"
	"net/http"
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

// readyz asks the store for something.
func (s *Server) readyz(w http.ResponseWriter, r *request) error {
	select {
	case <-s.stopping:
		p := problem(CodeStopping, "the server is being stopped")
		p.retry = 1
		return p
	default:
	}
	if err := s.engine.Ready(r.Context()); err != nil {
		p := problem(CodeNotReady, "the store cannot be read")
		p.retry, p.cause = 1, fmt.Errorf("read the store: %w", err)
		return p
	}
	return answerText(w, http.StatusOK, "text/plain; charset=utf-8", []byte("ready\n"))
}
