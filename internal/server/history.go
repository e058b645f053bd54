package server

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/event"
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
	out := s.newPage(limit)
	for n := range part.Records {
		i := n
		if newest {
			i = len(part.Records) - 1 - n
		}
		fits, err := out.add(ViewRecord(part.First+int64(i), &part.Records[i]))
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

// maxNearMisses is how many near misses are listed: the newest.
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

func viewWhy(in engine.Waiting, calls []engine.OpenCall, children []store.Instance) api.Why {
	row := &in.Instance
	v := api.Why{
		Instance: row.ID, Status: api.Status(row.Status), States: row.Active, Waits: []api.Wait{}, NearMisses: []api.NearMiss{},
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
	slices.SortStableFunc(v.Waits, func(a, b api.Wait) int { return cmp.Compare(byTime(a.At), byTime(b.At)) })
	misses := in.NearMisses
	slices.SortStableFunc(misses, func(a, b engine.NearMiss) int { return cmp.Compare(b.Event.Seq, a.Event.Seq) })
	for _, m := range misses[:min(len(misses), maxNearMisses)] {
		e := m.Event.Event
		v.NearMisses = append(v.NearMisses, api.NearMiss{
			Name: m.Name, Why: m.Why,
			Event: api.EventRef{ID: e.ID, Source: e.Source, Type: e.Type, Received: m.Event.Received.Std()},
		})
	}
	v.Summary = summary(row, v.Waits)
	return v
}

func viewWait(o core.Open, subs []store.Subscription, calls []engine.OpenCall, children []store.Instance) api.Wait {
	v := api.Wait{Ticket: o.Ticket.String(), Kind: o.Kind.String(), Node: o.Node, At: timeOf(o.At), Event: o.Event}
	for _, c := range calls {
		if c.Ticket == o.Ticket && o.Kind == core.WaitCall {
			v.Function, v.Arguments, v.Attempt, v.Parked = c.Function.Name, dataOf(c.Args), c.Attempt, c.Parked
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

func viewMatch(f event.Filter) *api.Match {
	v := &api.Match{Source: f.Source, Type: f.Type}
	for _, k := range f.Keys {
		a := api.Attribute{Name: k.Name, Impossible: k.Void}
		if k.Fixed {
			a.Value = &k.Value
		}
		v.Attributes = append(v.Attributes, a)
	}
	return v
}

// summary says in one sentence why an instance does not continue.
func summary(row *store.Instance, waits []api.Wait) string {
	switch {
	case row.Quarantine != "":
		first, _, _ := strings.Cut(row.Quarantine, "\n")
		return "It is in quarantine because an invariant was violated: " + first
	case row.Status == core.Failed && row.Fault != nil:
		return strings.TrimSuffix(fmt.Sprintf("It failed in %q with %s: %s", row.Fault.Node, row.Fault.Name, row.Fault.Detail), ": ")
	case row.Status.Final():
		return "It has ended: " + string(row.Status) + "."
	case row.Status == core.Paused && row.PauseReason == core.TooExpensive:
		return "It paused because it is too expensive: its expressions did more work without waiting than the limit work-without-waiting allows. resume lets it do as much again; terminate ends it."
	case row.Status == core.Paused:
		return "It is paused; resume continues it."
	case len(waits) == 0 && row.Status == core.Waiting:
		return "It waits for nothing: it stays until it is ended from outside."
	case len(waits) == 0:
		return "It waits for nothing; it is about to continue."
	}
	parts := make([]string, 0, len(waits))
	for i := range waits {
		w := &waits[i]
		if w.Choice == "" || w.Choice != row.Job.State { // a job always accepts its current state
			parts = append(parts, phrase(w))
		}
	}
	if len(parts) == 0 {
		return "It stays in this state; no actor can move it."
	}
	const most = 5
	if n := len(parts) - most; n > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d more things", n))
	}
	return "It waits for " + strings.Join(parts, ", ") + "."
}

// byTime is 1 for a wait that ends at a time: people look for the others first.
func byTime(at time.Time) int {
	if at.IsZero() {
		return 0
	}
	return 1
}

func phrase(w *api.Wait) string {
	at := ""
	if !w.At.IsZero() {
		at = " at " + w.At.Format(time.RFC3339)
	}
	switch w.Kind {
	case api.WaitCall:
		if w.Parked {
			return fmt.Sprintf("an operator to answer the call of %q", w.Function)
		}
		if w.Child != "" {
			return fmt.Sprintf("the job %q of client %q, which is in %s", w.Child, w.Client, w.State)
		}
		return fmt.Sprintf("the answer of %q", w.Function)
	case api.WaitEvent, api.WaitListen:
		return fmt.Sprintf("the event %q", w.Event)
	case api.WaitTimer:
		return "a timer" + at
	case api.WaitDeadline, api.WaitTotal:
		return "its timeout" + at
	case api.WaitRetry:
		return "the next attempt" + at
	case api.WaitChild:
		return fmt.Sprintf("the instance %q", w.Child)
	}
	if w.Choice != "" {
		return w.Actor + " to choose " + w.Choice
	}
	return "a choice"
}
