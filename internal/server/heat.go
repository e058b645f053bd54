package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// getHeat counts the instances of a definition by state: those that are in it, and those that failed
// in it. The store counts jobs; other instances are counted up to the limit count-items.
func (s *Server) getHeat(w http.ResponseWriter, r *request) error {
	row, err := s.definition(r)
	if err != nil {
		return err
	}
	out := api.Heat{States: []api.StateHeat{}, Exact: true}
	stats, err := s.engine.JobStats(r.Context())
	if err != nil {
		return err
	}
	for _, stat := range stats {
		if stat.Definition == row.ID {
			out.States = append(out.States, api.StateHeat{State: stat.State, Group: stat.Group, Now: stat.Count})
		}
	}
	if len(out.States) == 0 {
		if err := s.heat(r.Context(), row.ID, r.query.Get("version"), &out); err != nil {
			return err
		}
	}
	return answer(w, http.StatusOK, out)
}

func (s *Server) heat(ctx context.Context, definition, version string, out *api.Heat) error {
	byState := map[string]*api.StateHeat{}
	at := func(state string) *api.StateHeat {
		if byState[state] == nil {
			byState[state] = &api.StateHeat{State: state}
		}
		return byState[state]
	}
	alive := store.Query{Definition: definition, Version: version, Newest: true, Status: []core.Status{core.Running, core.Waiting, core.Paused}}
	whole, err := s.eachInstance(ctx, alive, func(in *store.Instance) {
		for _, state := range slices.Compact(slices.Sorted(slices.Values(in.Active))) {
			at(state).Now++
		}
	})
	if err != nil {
		return err
	}
	failed := store.Query{Definition: definition, Version: version, Newest: true, Status: []core.Status{core.Failed}}
	wholeToo, err := s.eachInstance(ctx, failed, func(in *store.Instance) {
		if in.Fault != nil && in.Fault.Node != "" {
			at(in.Fault.Node).Failed++
		}
	})
	if err != nil {
		return err
	}
	for _, h := range byState {
		out.States = append(out.States, *h)
	}
	slices.SortFunc(out.States, func(a, b api.StateHeat) int { return cmp.Compare(a.State, b.State) })
	out.Exact = whole && wholeToo
	return nil
}

// eachInstance calls look with the first Count instances of a query, and reports whether there are no
// more.
func (s *Server) eachInstance(ctx context.Context, q store.Query, look func(*store.Instance)) (whole bool, err error) {
	q.Limit = s.limits.Count + 1
	rows, err := s.engine.Query(ctx, q)
	for i := range rows[:min(len(rows), s.limits.Count)] {
		look(&rows[i])
	}
	return len(rows) < q.Limit, err
}
