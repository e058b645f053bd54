package server

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// maxFailureGroups is how many kinds of failures are told; those with most instances.
const maxFailureGroups = 50

// failureGroup is what failed in the same way at the same place.
type failureGroup struct {
	Definition string    `json:"definition"`
	Error      string    `json:"error"`
	State      string    `json:"state,omitempty"`
	Count      int       `json:"count"`
	Newest     time.Time `json:"newest"`
	Instance   string    `json:"instance"`
	Detail     string    `json:"detail,omitempty"`
}

type failuresView struct {
	Items []*failureGroup `json:"items"`
	Exact bool            `json:"exact"`
}

// listFailures groups failed instances by definition, error and state. It reads the
// newest, as many as a filter may compare.
func (s *Server) listFailures(w http.ResponseWriter, r *request) error {
	type key struct{ definition, fault, state string }
	groups := map[key]*failureGroup{}
	out := failuresView{Items: []*failureGroup{}, Exact: true}
	q := store.Query{Status: []core.Status{core.Failed}, Newest: true}
	for seen := 0; ; {
		if q.Limit = min(scanBatch, s.limits.QueryScan-seen); q.Limit <= 0 {
			out.Exact = false
			break
		}
		rows, err := s.engine.Query(r.Context(), q)
		if err != nil {
			return err
		}
		for i := range rows {
			row := &rows[i]
			k := key{definition: row.Definition, state: failedIn(row)}
			if row.Fault != nil {
				k.fault = row.Fault.Name
			}
			g := groups[k]
			if g == nil { // the newest of its kind
				g = &failureGroup{Definition: k.definition, Error: k.fault, State: k.state, Newest: row.Updated.Std(), Instance: row.ID}
				if row.Fault != nil {
					g.Detail = row.Fault.Detail
				}
				groups[k] = g
				out.Items = append(out.Items, g)
			}
			g.Count++
		}
		if len(rows) < q.Limit {
			break
		}
		seen += len(rows)
		q.After = rows[len(rows)-1].Seq
	}
	slices.SortStableFunc(out.Items, func(a, b *failureGroup) int { return cmp.Compare(b.Count, a.Count) })
	if len(out.Items) > maxFailureGroups {
		out.Items, out.Exact = out.Items[:maxFailureGroups], false
	}
	return answer(w, http.StatusOK, out)
}

// failedIn is a state by which the filter finds a failed instance: where the fault arose,
// unless that is a part of a state.
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
