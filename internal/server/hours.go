package server

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// defaultHours is how many hours are told of.
const defaultHours = 24

// getHours tells what happened in each of the last hours, and how long it took by definition.
func (s *Server) getHours(w http.ResponseWriter, r *request) error {
	n := defaultHours
	if r.query.Has("hours") {
		var err error
		if n, err = strconv.Atoi(r.query.Get("hours")); err != nil || n < 1 || n > store.TallyHours {
			return badParameter("hours", "must be a number from 1 to %d (limit tally-hours)", store.TallyHours)
		}
	}
	now := store.HourOf(core.TimeOf(s.cfg.Clock.Now()))
	from := now - core.Time(n-1)*core.Time(time.Hour)
	hours, err := s.engine.Tallies(r.Context(), from, now+core.Time(time.Hour))
	if err != nil {
		return err
	}
	out := api.Hours{From: from.Std().UTC(), Hours: make([]api.HourStats, n), Definitions: []api.DefinitionHours{}}
	for i := range out.Hours {
		out.Hours[i].At = out.From.Add(time.Duration(i) * time.Hour)
	}
	only := r.query.Get("definition")
	var all []store.Tally
	for _, h := range hours {
		for _, t := range h.Tallies {
			if only != "" && t.Definition != only {
				continue
			}
			all = append(all, t)
			hour := &out.Hours[(h.At-from)/core.Time(time.Hour)]
			hour.Started += t.Started
			hour.Completed += t.Completed
			hour.Failed += t.Failed
			hour.Cancelled += t.Cancelled
		}
	}
	for _, t := range busiest(all) {
		d := api.DefinitionHours{ID: t.Definition, Started: t.Started, Completed: t.Completed, Failed: t.Failed, Cancelled: t.Cancelled}
		if t.Durations.Count() > 0 {
			p50, p95 := t.Durations.Quantile(0.5).Seconds(), t.Durations.Quantile(0.95).Seconds()
			d.P50, d.P95 = &p50, &p95
		}
		out.Definitions = append(out.Definitions, d)
	}
	return answer(w, http.StatusOK, out)
}

// busiest adds up tallies by definition, the one with most first. Those of definitions beyond the limit are one, which is the last.
func busiest(all []store.Tally) []store.Tally {
	sums := map[string]*store.Tally{}
	var ids []string
	for _, t := range all {
		sum := sums[t.Definition]
		if sum == nil {
			sum = &store.Tally{Definition: t.Definition}
			sums[t.Definition] = sum
			ids = append(ids, t.Definition)
		}
		sum.Add(t)
	}
	busy := func(id string) int64 { return sums[id].Total() }
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(busy(b), busy(a)), cmp.Compare(a, b)) })
	others := store.Tally{Definition: store.OtherDefinitions}
	var out []store.Tally
	for _, id := range ids {
		if id == store.OtherDefinitions || len(out) >= store.MaxTallied {
			others.Add(*sums[id])
		} else {
			out = append(out, *sums[id])
		}
	}
	if others.Total() > 0 {
		out = append(out, others)
	}
	return out
}
