package server

import (
	"net/http"

	"github.com/lockstep-workflows/lockstep/api"
)

// listNodes lists the processes that share the work of this namespace.
func (s *Server) listNodes(w http.ResponseWriter, r *request) error {
	nodes, err := s.engine.Nodes(r.Context())
	if err != nil {
		return err
	}
	out := api.Nodes{Items: []api.Node{}}
	for _, n := range nodes {
		out.Items = append(out.Items, api.Node{
			ID: n.ID, Name: n.Name, Address: n.Address, Version: n.Version, Since: n.Since.UTC(), Seen: n.Seen.UTC(),
			Shards: n.Shards, Of: n.Of, Calls: n.InFlight,
		})
	}
	if size, ok := s.engine.StoreSize(r.Context()); ok {
		out.StoreBytes = &size
	}
	out.QueuedCalls, _ = s.engine.QueuedCalls()
	for _, reason := range s.engine.Ready(r.Context()) {
		out.Unready = append(out.Unready, reason.Text)
	}
	return answer(w, http.StatusOK, out)
}
