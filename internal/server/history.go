package server

import (
	"net/http"
	"slices"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

func (s *Server) getHistory(w http.ResponseWriter, r *request) error {
	limit, err := s.limit(r)
	if err != nil {
		return err
	}
	order, err := r.choice("order", "oldest", "newest")
	if err != nil {
		return err
	}
	newest := order == "newest"
	kind, read := byte('h'), s.engine.HistoryPage
	if newest {
		kind, read = 'b', s.engine.HistoryBefore
	}
	from, err := r.afterNumber(kind)
	if err != nil {
		return err
	}
	part, err := read(r.Context(), r.PathValue("instance"), from, limit)
	if err != nil {
		return err
	}
	var row engine.Instance
	if slices.ContainsFunc(part.Records, func(r core.Record) bool { return r.Type == core.RecCalled }) {
		if row, err = s.engine.Get(r.Context(), r.PathValue("instance")); err != nil {
			return err
		}
	}
	out := s.newPage(limit)
	for n := range part.Records {
		i := n
		if newest {
			i = len(part.Records) - 1 - n
		}
		v := ViewRecord(part.First+int64(i), &part.Records[i])
		if v.Type == api.RecordCalled {
			v.Key = engine.KeyOf(&row, part.Records[i].Ticket)
		}
		fits, err := out.add(v)
		if err != nil {
			return err
		}
		if !fits {
			part.More = true
			break
		}
	}
	if part.More {
		last := part.First + int64(len(out.Items)) - 1
		if newest {
			last = part.First + int64(len(part.Records)-len(out.Items))
		}
		out.Next = cursor(kind, itoa(last))
	}
	return answer(w, http.StatusOK, out)
}
