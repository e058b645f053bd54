package server

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// maxFailureGroups is how many groups are listed: those with the most instances.
const maxFailureGroups = 50

// listFailures groups failed instances by definition, error and state. It reads the newest, up to the
// limit count-items.
func (s *Server) listFailures(w http.ResponseWriter, r *request) error {
	type key struct{ definition, fault, state string }
	groups := map[key]int{} // index into Items
	out := api.Failures{Items: []api.FailureGroup{}}
	failed := store.Query{Status: []core.Status{core.Failed}, Newest: true}
	exact, err := s.eachInstance(r.Context(), failed, func(row *store.Instance) {
		k := key{definition: row.Definition, state: failedIn(row)}
		if row.Fault != nil {
			k.fault = row.Fault.Name
		}
		i, known := groups[k]
		if !known { // the newest of its kind
			i = len(out.Items)
			groups[k] = i
			g := api.FailureGroup{Definition: k.definition, Error: k.fault, State: k.state, Newest: row.Updated.Std(), Instance: row.ID}
			if row.Fault != nil {
				g.Detail = row.Fault.Detail
			}
			out.Items = append(out.Items, g)
		}
		out.Items[i].Count++
	})
	if err != nil {
		return err
	}
	out.Exact = exact
	slices.SortStableFunc(out.Items, func(a, b api.FailureGroup) int { return cmp.Compare(b.Count, a.Count) })
	if len(out.Items) > maxFailureGroups {
		out.Items, out.Exact = out.Items[:maxFailureGroups], false
	}
	return answer(w, http.StatusOK, out)
}

// failedIn is the state in which an instance failed, as the filter state: finds it: where the fault
// arose, unless that is a node inside a state.
func failedIn(row *store.Instance) string {
	switch {
	case row.Fault != nil && row.Fault.Node != "" && row.InState(row.Fault.Node):
		return row.Fault.Node
	case row.Job.State != "":
		return row.Job.State
	case len(row.Active) > 0:
		return row.Active[0]
	}
	return ""
}
