package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/query"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func instancePath(id string) string { return "/api/v1/instances/" + url.PathEscape(id) }

func (s *Server) startInstance(w http.ResponseWriter, r *request) error {
	wait, err := s.wait(r)
	if err != nil {
		return err
	}
	key, err := r.idempotencyKey()
	if err != nil {
		return err
	}
	input, given, err := s.json(r)
	if err != nil {
		return err
	}
	if given && input.IsNull() {
		return problem(api.CodeInput, "the workflow input must be a JSON object, not null").hint("send no body, or {}, for none")
	}
	start := engine.StartRequest{
		Definition: r.PathValue("definition"), Version: r.query.Get("version"), Input: input, ID: r.query.Get("id"), Name: r.query.Get("name"),
	}
	if start.Labels, err = r.labels(); err != nil {
		return err
	}
	if err := r.visit.start(1); err != nil {
		return err
	}
	var id string
	switch {
	case r.query.Has("id") && start.ID == "":
		return &engine.IDError{}
	case start.ID != "" && key != "":
		return badParameter("id", "cannot be given together with an Idempotency-Key")
	case start.ID == "" && key == "":
		id, err = s.engine.Start(r.Context(), start)
	default:
		id, _, err = s.engine.StartOnce(r.Context(), start, key)
	}
	if err != nil {
		return err
	}
	row, err := s.await(r, id, wait)
	if err != nil {
		return err
	}
	setHeader(w, "Location", instancePath(id))
	status := http.StatusAccepted
	if row.Status.Final() {
		status = http.StatusOK
	}
	return answerInstance(w, status, &row)
}

// await reads an instance once it has ended or the time is up. A request that waits does not count
// among the requests in flight.
func (s *Server) await(r *request, id string, wait time.Duration) (store.Instance, error) {
	if wait == 0 {
		return s.engine.Get(r.Context(), id)
	}
	place, err := r.visit.take(r.visit.pools.waiting, 1)
	if err != nil {
		return s.engine.Get(r.Context(), id) // too many wait: the client can ask again
	}
	defer place.Release()
	r.visit.place.Release()
	return s.engine.WaitUntil(r.Context(), id, s.alarms.after(wait), s.stopping)
}

func (s *Server) getInstance(w http.ResponseWriter, r *request) error {
	wait, err := s.wait(r)
	if err != nil {
		return err
	}
	row, err := s.await(r, r.PathValue("instance"), wait)
	if err != nil {
		return err
	}
	return answerInstance(w, http.StatusOK, &row)
}

func (s *Server) deleteInstance(w http.ResponseWriter, r *request) error {
	rev, err := r.ifMatch()
	if err != nil {
		return err
	}
	id := r.PathValue("instance")
	if row, err := s.engine.Get(r.Context(), id); err == nil { // one that is damaged can be deleted, too
		r.deed.before = fmt.Sprintf("definition=%s version=%s %s", row.Definition, row.Version, statusOf(&row))
	}
	if err := s.engine.DeleteInstance(r.Context(), id, rev); err != nil {
		return s.notAllowed(r, id, err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *Server) getOutput(w http.ResponseWriter, r *request) error {
	row, err := s.engine.Get(r.Context(), r.PathValue("instance"))
	if err != nil {
		return err
	}
	if row.Status != core.Completed {
		return problem(api.CodeNoOutput, "the instance is "+string(row.Status)+"; only a completed one has an output")
	}
	return answer(w, http.StatusOK, row.Output)
}

// filter reads the filter of a request.
func (s *Server) filter(r *request) (*query.Filter, error) {
	return query.Parse(r.query.Get("q"), core.TimeOf(s.cfg.Clock.Now()))
}

func (s *Server) listInstances(w http.ResponseWriter, r *request) error {
	f, err := s.filter(r)
	if err != nil {
		return err
	}
	limit, err := s.limit(r)
	if err != nil {
		return err
	}
	fold, err := r.flag("fold")
	if err != nil {
		return err
	}
	f.Query.Root = f.Query.Root || fold && f.Browses()
	order, err := r.choice("order", "newest", "oldest")
	if err != nil {
		return err
	}
	f.Query.Newest = order == "newest"
	if f.Query.After, f.Query.AfterTime, err = r.afterInstance(f.Query.Newest); err != nil {
		return err
	}
	rows, last, err := s.scan(r.Context(), f, limit, s.limits.QueryScan)
	if err != nil {
		return err
	}
	out := s.newPage(limit)
	for i := range rows {
		fits, err := out.add(viewBrief(&rows[i]))
		if err != nil {
			return err
		}
		if !fits {
			last = &rows[i-1]
			break
		}
	}
	if last != nil {
		out.Next = cursorBehind(last, f.Query.Newest)
	}
	return answer(w, http.StatusOK, out)
}

// scan lists up to limit instances that a filter selects. Where they must be compared with it, these are
// among the first most that the index leads to. If there may be more, last is the one to continue behind.
func (s *Server) scan(ctx context.Context, f *query.Filter, limit, most int) (out []store.Instance, last *store.Instance, err error) {
	q, whole := f.Query.Indexed()
	if q.Limit = most; whole && f.Exact {
		q.Limit = limit + 1
	}
	rows, err := s.engine.Query(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	for i := range rows {
		if !f.Selects(&rows[i]) {
			continue
		}
		if len(out) == limit {
			return out, &out[limit-1], nil
		}
		out = append(out, rows[i])
	}
	if len(rows) == q.Limit {
		last = &rows[len(rows)-1]
	}
	return out, last, nil
}

func (s *Server) countInstances(w http.ResponseWriter, r *request) error {
	f, err := s.filter(r)
	if err != nil {
		return err
	}
	q, whole := f.Query.Indexed()
	if !whole || !f.Exact {
		rows, last, err := s.scan(r.Context(), f, s.limits.QueryScan, s.limits.QueryScan)
		if err != nil {
			return err
		}
		return answer(w, http.StatusOK, api.Count{Count: int64(len(rows)), Exact: last == nil})
	}
	if !q.Counted() {
		q.Limit = s.limits.Count + 1
	}
	n, err := s.engine.Count(r.Context(), q)
	if err != nil {
		return err
	}
	if q.Limit > 0 && n == int64(q.Limit) {
		return answer(w, http.StatusOK, api.Count{Count: n - 1, Exact: false})
	}
	return answer(w, http.StatusOK, api.Count{Count: n, Exact: true})
}
