package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/lockstep-workflows/lockstep/engine"
	"github.com/lockstep-workflows/lockstep/event"
	eventhttp "github.com/lockstep-workflows/lockstep/event/http"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/store"
)

type eventsView struct {
	Accepted   int         `json:"accepted"`
	Duplicates int         `json:"duplicates"`
	Matched    int         `json:"matched"`
	Refused    int         `json:"refused"`
	Events     []eventView `json:"events"`
}

type eventView struct {
	Source  string   `json:"source"`
	ID      string   `json:"id"`
	Result  string   `json:"result"`
	Matched []string `json:"matched,omitempty"`
	Started []string `json:"started,omitempty"`
	Why     []string `json:"why,omitempty"`
}

// sendEvents takes events one after the other, each durably, in the order of the batch.
func (s *Server) sendEvents(w http.ResponseWriter, r *request) error {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return problem(CodeMediaType, "bodies are taken as they are, not compressed")
	}
	list, mode, err := eventhttp.Read(r.Request, s.limits.Events)
	if err != nil {
		if problemOf(err).Code == CodeStore { // it is not: only the body can fail here
			err = fmt.Errorf("%w: %w", errBody, err)
		}
		return err
	}
	out := eventsView{Events: []eventView{}}
	for i, e := range list {
		if err := s.send(r.Context(), &out, e, mode); err != nil {
			if mode != eventhttp.ModeBatch || i == 0 {
				return err
			}
			p := *problemOf(err)
			p.Detail = fmt.Sprintf("%s; the first %d of %d events were taken; send the batch again, they are recognised", p.Detail, i, len(list))
			return &p
		}
	}
	s.figures.events(out)
	return answer(w, http.StatusAccepted, out)
}

func (s *Server) send(ctx context.Context, out *eventsView, e event.Event, mode eventhttp.Mode) error {
	sent, err := s.engine.Send(ctx, e)
	v := eventView{Source: e.Source, ID: e.ID, Matched: sent.Matched, Started: sent.Started, Why: sent.Why}
	_, conflict := as[*engine.EventConflictError](err)
	switch {
	case conflict && mode == eventhttp.ModeBatch:
		v.Result, v.Why = "refused", []string{err.Error()}
		out.Refused++
	case err != nil:
		if conflict {
			s.figures.events(eventsView{Refused: 1})
		}
		return err
	case sent.Duplicate:
		v.Result = "duplicate"
		out.Duplicates++
	default:
		v.Result = "accepted"
		out.Accepted++
		if len(sent.Matched)+len(sent.Started) > 0 {
			out.Matched++
		}
	}
	out.Events = append(out.Events, v)
	return nil
}

type keptView struct {
	Event    expr.Value `json:"event"`
	Received time.Time  `json:"received"`
	Until    time.Time  `json:"until"`
	Taken    bool       `json:"taken"`
	Producer string     `json:"producer,omitempty"`
	For      []string   `json:"for,omitempty"`
	Used     []string   `json:"used,omitempty"`
	Why      []string   `json:"why,omitempty"`
}

func viewKept(e store.Event) keptView {
	return keptView{e.Event.Value(), e.Received.Std(), e.Until.Std(), e.Taken, e.Producer, e.For, e.Used, e.Why}
}

func (s *Server) listEvents(w http.ResponseWriter, r *request) error {
	limit, err := s.limit(r)
	if err != nil {
		return err
	}
	unmatched, err := r.flag("unmatched")
	if err != nil {
		return err
	}
	before, err := r.afterNumber('e')
	if err != nil {
		return err
	}
	rows, more, err := s.engine.EventPage(r.Context(), engine.EventQuery{
		Unmatched: unmatched, Type: r.query.Get("type"), Before: before, Limit: limit,
	})
	if err != nil {
		return err
	}
	out := s.newPage(limit)
	for _, row := range rows {
		fits, err := out.add(viewKept(row))
		if err != nil {
			return err
		}
		if !fits {
			more = true
			break
		}
	}
	if more {
		out.Next = cursor('e', itoa(rows[len(out.Items)-1].Seq))
	}
	return answer(w, http.StatusOK, out)
}
