package server

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	eventhttp "github.com/lockstep-workflows/lockstep/internal/event/http"
	"github.com/lockstep-workflows/lockstep/internal/store"
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
		if err := s.send(r, &out, e, mode); err != nil {
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

// send takes one event. Who may not read is not told of instances and what they wait for.
func (s *Server) send(r *request, out *eventsView, e event.Event, mode eventhttp.Mode) error {
	sent, err := s.engine.Send(r.Context(), e)
	v := eventView{Source: e.Source, ID: e.ID}
	if slices.Contains(readers, r.who.role) {
		v.Matched, v.Started, v.Why = sent.Matched, sent.Started, sent.Why
	}
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
	found, err := s.engine.EventPage(r.Context(), store.EventQuery{
		Untaken: unmatched, Type: r.query.Get("type"), Newest: true, After: before, Limit: limit,
	})
	if err != nil {
		return err
	}
	out := s.newPage(limit)
	next := found.Next
	for i, row := range found.Events {
		fits, err := out.add(viewKept(row))
		if err != nil {
			return err
		}
		if !fits {
			next = found.Events[i-1].Seq // the first one always fits
			break
		}
	}
	if next != 0 {
		out.Next = cursor('e', itoa(next))
	}
	return answer(w, http.StatusOK, out)
}
