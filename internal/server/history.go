package server

import (
	"cmp"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
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
	read := s.historyForwards
	if order == "newest" {
		read = s.historyBackwards
	}
	out, err := read(r, limit)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, out)
}

func (s *Server) historyForwards(r *request, limit int) (*page, error) {
	after, err := r.afterNumber('h')
	if err != nil {
		return nil, err
	}
	part, err := s.engine.HistoryPage(r.Context(), r.PathValue("instance"), after, limit)
	if err != nil {
		return nil, err
	}
	return s.historyPage(limit, part, slices.All(part.Records), func(shown int) string {
		return cursor('h', itoa(part.First+int64(shown)-1))
	})
}

// historyBackwards is a page of a history with its newest record first.
func (s *Server) historyBackwards(r *request, limit int) (*page, error) {
	before, err := r.afterNumber('b')
	if err != nil {
		return nil, err
	}
	part, err := s.engine.HistoryBefore(r.Context(), r.PathValue("instance"), before, limit)
	if err != nil {
		return nil, err
	}
	return s.historyPage(limit, part, slices.Backward(part.Records), func(shown int) string {
		return cursor('b', itoa(part.First+int64(len(part.Records)-shown)))
	})
}

// historyPage shows records as long as they fit; next is the cursor behind so many of them.
func (s *Server) historyPage(limit int, part engine.History, records iter.Seq2[int, core.Record], next func(shown int) string) (*page, error) {
	out := s.newPage(limit)
	for i, record := range records {
		fits, err := out.add(viewRecord(part.First+int64(i), &record))
		if err != nil {
			return nil, err
		}
		if !fits {
			part.More = true
			break
		}
	}
	if part.More {
		out.Next = next(len(out.Items))
	}
	return out, nil
}

type whyView struct {
	Instance   string         `json:"instance"`
	Status     core.Status    `json:"status"`
	States     []string       `json:"states,omitempty"`
	Summary    string         `json:"summary"`
	Waits      []waitView     `json:"waits"`
	NearMisses []nearMissView `json:"nearMisses"`
	NextWake   *time.Time     `json:"nextWake,omitempty"`
	Error      *faultView     `json:"error,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	Quarantine string         `json:"quarantine,omitempty"`
}

type waitView struct {
	Ticket    string      `json:"ticket"`
	Kind      string      `json:"kind"`
	Node      string      `json:"node,omitempty"`
	At        *time.Time  `json:"at,omitempty"`
	Function  string      `json:"function,omitempty"`
	Arguments *expr.Value `json:"arguments,omitempty"`
	Attempt   int         `json:"attempt,omitempty"`
	Parked    bool        `json:"parked,omitempty"`
	Child     string      `json:"child,omitempty"`
	Client    string      `json:"client,omitempty"`
	State     string      `json:"state,omitempty"`
	Event     string      `json:"event,omitempty"`
	Match     *matchView  `json:"match,omitempty"`
	Actor     string      `json:"actor,omitempty"`
	Choice    string      `json:"choice,omitempty"`
}

type matchView struct {
	Source     string          `json:"source,omitempty"`
	Type       string          `json:"type,omitempty"`
	Attributes []attributeView `json:"attributes,omitempty"`
}

type attributeView struct {
	Name       string  `json:"name"`
	Value      *string `json:"value,omitempty"`
	Impossible bool    `json:"impossible,omitempty"`
}

type nearMissView struct {
	Name  string       `json:"name"`
	Why   string       `json:"why"`
	Event eventRefView `json:"event"`
}

type eventRefView struct {
	ID       string    `json:"id"`
	Source   string    `json:"source"`
	Type     string    `json:"type"`
	Received time.Time `json:"received"`
}

// maxNearMisses is how many events are told that nearly matched; the newest.
const maxNearMisses = 20

func (s *Server) getWhy(w http.ResponseWriter, r *request) error {
	id := r.PathValue("instance")
	waiting, err := s.engine.Waiting(r.Context(), id)
	if err != nil {
		return err
	}
	calls, err := s.engine.OpenCalls(r.Context(), id)
	if err != nil {
		return err
	}
	children, err := s.engine.Query(r.Context(), store.Query{Parent: id})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, viewWhy(waiting, calls, children))
}

func viewWhy(in engine.Waiting, calls []engine.OpenCall, children []store.Instance) whyView {
	row := &in.Instance
	v := whyView{
		Instance: row.ID, Status: row.Status, States: row.Active, Waits: []waitView{}, NearMisses: []nearMissView{},
		Error: viewFault(row.Fault), Reason: row.PauseReason, Quarantine: row.Quarantine,
	}
	if row.HasWake && !row.Status.Final() {
		v.NextWake = timeOf(row.Wake)
	}
	for _, o := range in.Open {
		w := viewWait(o, in.Subscriptions, calls, children)
		if i := slices.IndexFunc(row.Offers, func(offer store.Offer) bool { return offer.Ticket == o.Ticket }); i >= 0 {
			w.Actor, w.Choice = row.Offers[i].Actor, row.Offers[i].Choice
		}
		v.Waits = append(v.Waits, w)
	}
	slices.SortStableFunc(v.Waits, func(a, b waitView) int { return cmp.Compare(a.clockwork(), b.clockwork()) })
	misses := in.NearMisses
	slices.SortStableFunc(misses, func(a, b engine.NearMiss) int { return cmp.Compare(b.Event.Seq, a.Event.Seq) })
	for _, m := range misses[:min(len(misses), maxNearMisses)] {
		e := m.Event.Event
		v.NearMisses = append(v.NearMisses, nearMissView{m.Name, m.Why, eventRefView{e.ID, e.Source, e.Type, m.Event.Received.Std()}})
	}
	v.Summary = summary(row, v.Waits)
	return v
}

func viewWait(o core.Open, subs []store.Subscription, calls []engine.OpenCall, children []store.Instance) waitView {
	v := waitView{Ticket: o.Ticket.String(), Kind: o.Kind.String(), Node: o.Node, At: timeOf(o.At), Event: o.Event}
	for _, c := range calls {
		if c.Ticket == o.Ticket && o.Kind == core.WaitCall {
			args := c.Args
			v.Function, v.Arguments, v.Attempt, v.Parked = c.Function.Name, &args, c.Attempt, c.Parked
		}
	}
	for _, s := range subs {
		if s.Ticket == o.Ticket {
			v.Match = viewMatch(s.Filter)
		}
	}
	for _, c := range children {
		if c.Ticket == o.Ticket && (o.Kind == core.WaitChild || o.Kind == core.WaitCall) { // a call may create a job
			v.Child, v.Client, v.State = c.ID, c.Job.Client, c.Job.State
		}
	}
	return v
}

func viewMatch(f event.Filter) *matchView {
	v := &matchView{Source: f.Source, Type: f.Type}
	for _, k := range f.Keys {
		a := attributeView{Name: k.Name, Impossible: k.Void}
		if k.Fixed {
			a.Value = &k.Value
		}
		v.Attributes = append(v.Attributes, a)
	}
	return v
}

// summary says in a sentence why an instance does not go on.
func summary(row *store.Instance, waits []waitView) string {
	switch {
	case row.Quarantine != "":
		first, _, _ := strings.Cut(row.Quarantine, "\n")
		return "It is set aside because an invariant broke: " + first
	case row.Status == core.Failed && row.Fault != nil:
		return strings.TrimSuffix(fmt.Sprintf("It failed in %q with %s: %s", row.Fault.Node, row.Fault.Name, row.Fault.Detail), ": ")
	case row.Status.Final():
		return "It is over: " + string(row.Status) + "."
	case row.Status == core.Paused && row.PauseReason == core.TooExpensive:
		return "It paused because it is too expensive: its expressions did more work without waiting than the limit work-without-waiting allows. resume lets it do as much again; terminate gives it up."
	case row.Status == core.Paused:
		return "It is paused; resume lets it go on."
	case len(waits) == 0:
		return "It waits for nothing; it is about to go on."
	}
	parts := make([]string, 0, len(waits))
	for _, w := range waits {
		if w.Choice == "" || w.Choice != row.Job.State { // a job may always report from where it is
			parts = append(parts, w.phrase())
		}
	}
	if len(parts) == 0 {
		return "It stays in this state; nobody can move it."
	}
	const most = 5
	if n := len(parts) - most; n > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d more things", n))
	}
	return "It waits for " + strings.Join(parts, ", ") + "."
}

// clockwork is 1 for what time alone brings: people look for the rest first.
func (w waitView) clockwork() int {
	if w.At != nil {
		return 1
	}
	return 0
}

func (w waitView) phrase() string {
	at := ""
	if w.At != nil {
		at = " at " + w.At.Format(time.RFC3339)
	}
	switch w.Kind {
	case "call":
		if w.Parked {
			return fmt.Sprintf("somebody to answer the call of %q", w.Function)
		}
		if w.Child != "" {
			return fmt.Sprintf("the job %q of client %q, which is in %s", w.Child, w.Client, w.State)
		}
		return fmt.Sprintf("the answer of %q", w.Function)
	case "event", "listen":
		return fmt.Sprintf("the event %q", w.Event)
	case "timer":
		return "a timer" + at
	case "deadline", "total":
		return "its timeout" + at
	case "retry":
		return "the next attempt" + at
	case "child":
		return fmt.Sprintf("the instance %q", w.Child)
	}
	if w.Choice != "" {
		return w.Actor + " to choose " + w.Choice
	}
	return "a choice"
}
