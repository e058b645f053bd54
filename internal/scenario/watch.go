package scenario

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// watchedStore is a store that remembers what scenarios ask about. All that ever
// happens to an instance passes through Commit, so nothing is missed there.
type watchedStore struct {
	store.Store

	// fires is the definition whose schedule starts an instance, once unless again is set; those of
	// the others stay silent.
	fires string
	again bool

	lifecycles map[workflowKey]*engine.Lifecycle // of the definitions that have such events; nil: nobody asks for them
	occurred   []expr.Value                      // lifecycle events

	calls     []call
	instances []*history // in order of their first record
	byID      map[string]*history
}

// workflowKey names a version of a definition.
type workflowKey struct{ id, version string }

// call is one that an instance decided on, with what orders it among others.
type call struct {
	Call
	instance string
	visit    int // of states, retries included, by the instance before it
	pos      ir.Pos
}

// history is what one instance did: of its records those that show its path, without
// the data, which a long scenario could not hold.
type history struct {
	id      string
	visits  int
	records []core.Record
}

// Commit notes calls and records once they are durable.
func (s *watchedStore) Commit(ctx context.Context, c store.Commit) error {
	if err := s.Store.Commit(ctx, c); err != nil {
		return err
	}
	h := s.byID[c.Instance.ID]
	if h == nil {
		h = &history{id: c.Instance.ID}
		s.byID[h.id] = h
		s.instances = append(s.instances, h)
	}
	if l := s.lifecycles[workflowKey{c.Instance.Definition, c.Instance.Version}]; l != nil {
		for _, e := range l.Events(h.id, c.Instance.Version, c.Records) {
			e.ID, e.Source = fmt.Sprintf("%s/%d", h.id, len(s.occurred)+1), "lockstep/scenario"
			s.occurred = append(s.occurred, e.Value())
		}
	}
	for _, r := range c.Records {
		switch r.Type {
		case core.RecEntered, core.RecLeft, core.RecCaught, core.RecCompensating, core.RecTaken, core.RecFinished:
			h.records = append(h.records, core.Record{
				Type: r.Type, Frame: r.Frame, Depth: r.Depth, Node: r.Node, Name: r.Name, Text: r.Text, Status: r.Status,
			})
		}
		switch r.Type {
		case core.RecEntered, core.RecRetrying:
			h.visits++
		case core.RecCalled:
			if !slices.ContainsFunc(c.Calls, func(o store.Call) bool { return o.Ticket == r.Ticket }) &&
				!slices.ContainsFunc(c.Children, func(o store.NewInstance) bool { return o.Instance.Ticket == r.Ticket }) {
				continue // taken back within the same step: it was never made
			}
			made := Call{Time: r.Time.Std(), Function: r.Name, Arguments: r.Data}
			s.calls = append(s.calls, call{made, h.id, h.visits, r.Pos})
		}
	}
	return nil
}

// PutDefinitions leaves out schedules that must stay silent.
func (s *watchedStore) PutDefinitions(ctx context.Context, ds []store.Deployment, move bool) ([]store.Definition, error) {
	for i := range ds {
		if ds[i].ID != s.fires {
			ds[i].Schedule = nil
		}
	}
	return s.Store.PutDefinitions(ctx, ds, move)
}

// Advance ends a schedule after its first fire time, unless it goes on.
func (s *watchedStore) Advance(ctx context.Context, was store.Schedule, next *core.Time, fires string) error {
	if !s.again {
		next = nil
	}
	return s.Store.Advance(ctx, was, next, fires)
}

// made lists the calls in order of time. Those that one visit of a state makes at
// one instant come in the order in which the definition declares them.
func (s *watchedStore) made() []Call {
	for from := 0; from < len(s.calls); {
		to := from + 1
		for to < len(s.calls) && s.calls[to].together(s.calls[from]) {
			to++
		}
		slices.SortStableFunc(s.calls[from:to], func(a, b call) int {
			return cmp.Or(cmp.Compare(a.pos.Line, b.pos.Line), cmp.Compare(a.pos.Column, b.pos.Column))
		})
		from = to
	}
	out := make([]Call, len(s.calls))
	for i, c := range s.calls {
		out[i] = c.Call
	}
	return out
}

func (c call) together(o call) bool {
	return c.instance == o.instance && c.visit == o.visit && c.Time.Equal(o.Time)
}

// path lists the states an instance entered in its outermost scope.
func (h *history) path() []string {
	path := []string{}
	for _, r := range h.records {
		if r.Type == core.RecEntered && r.Depth == 0 {
			path = append(path, r.Node)
		}
	}
	return path
}
