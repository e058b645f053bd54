package server

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/effect/builtin"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// listFunctions tells what a definition calls, and whether this server can call it.
func (s *Server) listFunctions(w http.ResponseWriter, r *request) error {
	row, err := s.definition(r)
	if err != nil {
		return err
	}
	p, err := ir.Decode(row.Program)
	if err != nil {
		return fmt.Errorf("%w: read program of %s: %w", errInternal, row.ID, err)
	}
	out := api.Page[api.Function]{Items: []api.Function{}}
	for _, f := range builtin.Functions(p, s.cfg.AllowExec, func(name string) bool { return slices.Contains(s.functionNames(), name) }) {
		out.Items = append(out.Items, api.Function{
			Name: f.Name, Kind: f.Kind, Target: f.Target, Places: f.Places, Callable: f.Problem == "", Reason: f.Problem,
		})
	}
	setDigest(w, row)
	return answer(w, http.StatusOK, out)
}

// functionNames are the names in the catalogue of functions now.
func (s *Server) functionNames() []string {
	if s.cfg.Functions == nil {
		return nil
	}
	return s.cfg.Functions()
}
