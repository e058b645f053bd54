package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

var itemStatuses = []string{api.ItemPending, api.ItemInFlight, api.ItemDone, api.ItemFailed, api.ItemCancelled}

func (s *Server) listItems(w http.ResponseWriter, r *request) error {
	limit, err := s.limit(r)
	if err != nil {
		return err
	}
	from, err := r.afterNumber('e')
	if err != nil {
		return err
	}
	q := core.ItemQuery{State: r.query.Get("state"), From: int(min(from, 1<<31-1)), Limit: limit}
	if text := r.query.Get("status"); text != "" {
		for one := range strings.SplitSeq(text, ",") {
			if !slices.Contains(itemStatuses, one) {
				return badParameter("status", "%.100q must be one of %s", one, strings.Join(itemStatuses, ", "))
			}
			q.Status = append(q.Status, core.ItemStatus(one))
		}
	}
	items, next, err := s.engine.Items(r.Context(), r.PathValue("instance"), q)
	if err != nil {
		return err
	}
	out := s.newPage(limit)
	for i := range items {
		fits, err := out.add(viewItem(&items[i]))
		if err != nil {
			return err
		}
		if !fits {
			next = items[i].Index
			break
		}
	}
	if next != 0 {
		out.Next = cursor('e', itoa(int64(next)))
	}
	return answer(w, http.StatusOK, out)
}

func viewItem(it *core.ListedItem) api.ForeachItem {
	v := api.ForeachItem{Index: it.Index, Status: string(it.Status), Error: briefFault(it.Fault), Attempt: it.Attempt}
	if it.HasItem {
		v.Item, v.Cut = dataOf(it.Value), it.Cut
	}
	for _, t := range it.Tickets {
		v.Tickets = append(v.Tickets, t.String())
	}
	return v
}
