package server

import (
	"net/http"
	"time"
)

type nodeView struct {
	ID      string    `json:"id,omitempty"`
	Name    string    `json:"name"`
	Address string    `json:"address,omitempty"`
	Version string    `json:"version,omitempty"`
	Since   time.Time `json:"since"`
	Seen    time.Time `json:"seen"`
	Shards  int       `json:"shards"`
	Of      int       `json:"of"`
	Calls   int       `json:"calls"`
}

// listNodes tells which processes share the work of this namespace.
func (s *Server) listNodes(w http.ResponseWriter, r *request) error {
	nodes, err := s.engine.Nodes(r.Context())
	if err != nil {
		return err
	}
	out := struct {
		Items []nodeView `json:"items"`
	}{[]nodeView{}}
	for _, n := range nodes {
		out.Items = append(out.Items, nodeView{n.ID, n.Name, n.Address, n.Version, n.Since.UTC(), n.Seen.UTC(), n.Shards, n.Of, n.InFlight})
	}
	return answer(w, http.StatusOK, out)
}
