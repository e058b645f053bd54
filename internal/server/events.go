package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	eventhttp "github.com/lockstep-workflows/lockstep/internal/event/http"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// sendEvents stores events one after the other, each durably, in the order of the batch.
func (s *Server) sendEvents(w http.ResponseWriter, r *request) error {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return problem(api.CodeMediaType, "compressed bodies are not supported")
	}
	list, mode, err := eventhttp.Read(r.Request, s.limits.Events)
	if err != nil {
		return err
	}
	for _, e := range list { // all of them before the first is stored
		if err := r.who.maySend(e); err != nil {
			return err
		}
	}
	out := api.EventsAccepted{Events: []api.EventResult{}}
	for i, e := range list {
		if err := s.send(r, &out, e, mode); err != nil {
			if mode != eventhttp.ModeBatch || i == 0 {
				return err
			}
			p := *problemOf(err)
			p.Detail = fmt.Sprintf("%s; the first %d of %d events were accepted; send the batch again, they count as duplicates", p.Detail, i, len(list))
			return &p
		}
	}
	s.figures.events(out)
	return answer(w, http.StatusAccepted, out)
}

// send stores one event. Roles that may not read do not learn of instances and their subscriptions.
func (s *Server) send(r *request, out *api.EventsAccepted, e event.Event, mode eventhttp.Mode) error {
	sent, err := s.engine.Send(r.Context(), e)
	v := ViewSent(e, sent)
	if !slices.Contains(readers, r.who.role) {
		v.Matched, v.Started, v.Why, v.Misses = nil, nil, nil, nil
	}
	_, conflict := errors.AsType[*engine.EventConflictError](err)
	switch {
	case conflict && mode == eventhttp.ModeBatch:
		v.Result, v.Why = api.EventRefused, []string{err.Error()}
		out.Refused++
	case err != nil:
		if conflict {
			s.figures.events(api.EventsAccepted{Refused: 1})
		}
		return err
	case sent.Duplicate:
		out.Duplicates++
	default:
		out.Accepted++
		switch {
		case len(sent.Matched)+len(sent.Started) > 0:
			out.Matched++
		case mode != eventhttp.ModeBatch && v.Why != nil:
			v.Why = append(v.Why, s.meantType(e.Type)...)
		}
	}
	out.Events = append(out.Events, v)
	return nil
}

// meantType says which type was most likely meant by one that no definition consumes.
func (s *Server) meantType(typ string) []string {
	types := s.engine.Names().EventTypes
	if _, known := slices.BinarySearch(types, typ); known {
		return nil
	}
	if name := near(typ, types); name != "" {
		return []string{fmt.Sprintf("did you mean the type %q?", name)}
	}
	return nil
}

// ViewSent is what became of an event, as the API shows it.
func ViewSent(e event.Event, sent engine.Sent) api.EventResult {
	v := api.EventResult{
		Source: e.Source, ID: e.ID, Result: api.EventAccepted,
		Matched: sent.Matched, Started: sent.Started, Why: sent.Why, Misses: viewMisses(sent.Why),
	}
	if sent.Duplicate {
		v.Result = api.EventDuplicate
	}
	return v
}

func viewKept(e store.Event) api.KeptEvent {
	return api.KeptEvent{
		Event: dataOf(e.Event.Value()), Received: e.Received.Std(), Until: e.Until.Std(), Taken: e.Taken,
		Producer: e.Producer, For: e.For, Used: e.Used, Why: e.Why, Misses: viewMisses(e.Why),
	}
}

// viewMisses are the reasons that are near misses.
func viewMisses(reasons []string) (out []api.Miss) {
	for _, why := range reasons {
		if m, ok := engine.ReadMiss(why); ok {
			out = append(out, api.Miss{
				Why: why, Instance: m.Instance, Definition: m.Definition, Name: m.Name, Differs: m.Differs,
				Attribute: m.Attribute, Has: m.Has, Wants: m.Wants,
			})
		}
	}
	return out
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
	outside, err := r.flag("outside")
	if err != nil {
		return err
	}
	near, err := r.flag("near")
	if err != nil {
		return err
	}
	before, err := r.afterNumber('e')
	if err != nil {
		return err
	}
	q := store.EventQuery{Untaken: unmatched || near, Outside: outside, Type: r.query.Get("type"), Newest: true, After: before, Limit: limit}
	if near {
		q.Limit = 0 // most of what the store finds is left out
	}
	found, err := s.engine.EventPage(r.Context(), q)
	if err != nil {
		return err
	}
	out := s.newPage(limit)
	next := found.Next
	for i, row := range found.Events {
		v := viewKept(row)
		if near && !slices.ContainsFunc(v.Misses, func(m api.Miss) bool { return m.Instance != "" }) {
			continue
		}
		fits, err := out.add(v)
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
