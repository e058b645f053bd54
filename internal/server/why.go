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

// Bounds of what an answer to why lists.
const (
	maxNearMisses   = 20      // near misses
	maxWaits        = 200     // waits one by one ("why-waits"); groups count all
	maxWaitBytes    = 1 << 20 // the arguments of calls among them, in all ("why-bytes")
	maxWaitChildren = 1000    // children that are named
)

// timeText is how sentences for people write a time.
const timeText = time.RFC3339

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
	children, err := s.engine.Query(r.Context(), store.Query{
		Parent: id, Status: []core.Status{core.Running, core.Waiting, core.Paused}, Newest: true, Limit: maxWaitChildren,
	})
	if err != nil {
		return err
	}
	v, row := viewWhy(waiting, calls, children), &waiting.Instance
	if paused, _ := s.engine.Decisions(row.Definition); paused != nil && !row.Status.Final() && row.Quarantine == "" {
		held := fmt.Sprintf("It stands still: %v.", &engine.PausedError{Definition: row.Definition, Mark: *paused})
		if len(v.Waits) > 0 || row.Status == core.Paused {
			held += " " + v.Summary
		}
		v.Summary = held
	}
	return answer(w, http.StatusOK, v)
}

func viewWhy(in engine.Waiting, calls []engine.OpenCall, children []store.Instance) api.Why {
	row := &in.Instance
	v := api.Why{
		Instance: row.ID, Status: api.Status(row.Status), States: row.Active, Groups: []api.WaitGroup{}, Waits: []api.Wait{},
		Progress: viewProgress(row.Progress, true), NearMisses: []api.NearMiss{}, OtherEvents: in.Others,
		Error: viewFault(row.Fault), Reason: row.PauseReason, Quarantine: row.Quarantine,
	}
	if row.HasWake && !row.Status.Final() {
		v.NextWake = timeOf(row.Wake)
	}
	all := waitsOf(&in, calls, children)
	v.Groups = append(v.Groups, groupWaits(all, row.Progress)...)
	bytes := 0
	for i := range all[:min(len(all), maxWaits)] {
		w := &all[i].Wait
		if bytes += len(w.Arguments); bytes > maxWaitBytes {
			w.Arguments = nil
		}
		v.Waits = append(v.Waits, *w)
	}
	v.Omitted = len(all) - len(v.Waits)
	for _, m := range in.NearMisses[:min(len(in.NearMisses), maxNearMisses)] {
		e := m.Event.Event
		v.NearMisses = append(v.NearMisses, api.NearMiss{
			Name: m.Name, Why: m.Why,
			Event: api.EventRef{ID: e.ID, Source: e.Source, Type: e.Type, Received: m.Event.Received.Std()},
		})
	}
	v.Summary = summary(row, all, v.Groups)
	return v
}

// wait is one thing that an instance waits for, and what its group is known by.
type wait struct {
	api.Wait
	state, workflow string
}

// waitsOf lists what an instance waits for, those that end at a time last.
func waitsOf(in *engine.Waiting, calls []engine.OpenCall, children []store.Instance) []wait {
	called := make(map[core.Ticket]*engine.OpenCall, len(calls))
	for i := range calls {
		called[calls[i].Ticket] = &calls[i]
	}
	matches := make(map[core.Ticket]event.Filter, len(in.Subscriptions))
	for _, s := range in.Subscriptions {
		matches[s.Ticket] = s.Filter
	}
	spawned := make(map[core.Ticket]*store.Instance, len(children))
	for i := range children {
		spawned[children[i].Ticket] = &children[i]
	}
	out := make([]wait, 0, len(in.Open))
	for _, o := range in.Open {
		w := wait{state: o.State, Wait: api.Wait{
			Ticket: o.Ticket.String(), Kind: o.Kind.String(), Node: o.Node, At: timeOf(o.At), Event: o.Event,
			Function: o.Function, Timeout: o.Timeout, Then: o.Then,
		}}
		if c := called[o.Ticket]; c != nil && o.Kind == core.WaitCall {
			w.Function, w.Arguments, w.Attempt, w.Parked = c.Function.Name, dataOf(c.Args), c.Attempt, c.Parked || o.Parked
		}
		if f, ok := matches[o.Ticket]; ok {
			w.Match = viewMatch(f)
		}
		if c := spawned[o.Ticket]; c != nil && (o.Kind == core.WaitChild || o.Kind == core.WaitCall) { // a call may create a job
			w.Child, w.Client, w.State, w.workflow = c.ID, c.Job.Client, c.Job.State, c.Definition
		}
		if i := slices.IndexFunc(in.Instance.Offers, func(offer store.Offer) bool { return offer.Ticket == o.Ticket }); i >= 0 {
			w.Actor, w.Choice = in.Instance.Offers[i].Actor, in.Instance.Offers[i].Choice
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b wait) int { return cmp.Compare(byTime(a.At), byTime(b.At)) })
	return out
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
func summary(row *store.Instance, waits []wait, groups []api.WaitGroup) string {
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
	case row.Status == core.Paused && row.Records >= engine.HistoryRecords:
		return fmt.Sprintf("It is paused; resume continues it. Its history has %d records, and it pauses after each %d (limit history-records).", row.Records, engine.HistoryRecords)
	case row.Status == core.Paused:
		return "It is paused; resume continues it."
	case len(waits) == 0 && row.Status == core.Waiting:
		return "It waits for nothing: it stays until it is ended from outside."
	case len(waits) == 0:
		return "It waits for nothing; it is about to continue."
	}
	var running, parts []string
	moves := 0
	for i := range groups {
		g := &groups[i]
		switch {
		case g.Kind == api.WaitCall && !g.Parked && g.Workflow == "" && (g.Count > 1 || progressOf(row.Progress, g.State) != nil):
			running = append(running, g.Text)
		case g.Count == 1:
		case g.Timeout: // it waits for what that ends
		default:
			parts = append(parts, g.Text)
		}
	}
	for i := range waits {
		w := &waits[i]
		alone := slices.ContainsFunc(groups, func(g api.WaitGroup) bool {
			return g.Count == 1 && sameGroup(&g, groupOf(w)) && !slices.Contains(running, g.Text)
		})
		if alone && (w.Choice == "" || w.Choice != row.Job.State) { // a job always accepts its current state
			part := phrase(&w.Wait)
			if w.Choice != "" {
				if moves++; moves > 1 {
					part = "or " + part
				}
			}
			parts = append(parts, part)
		}
	}
	const most = 5
	if n := len(parts) - most; n > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d more things", n))
	}
	var out []string
	if len(running) > 0 {
		out = append(out, strings.Join(running, "; ")+".")
	}
	if len(parts) > 0 {
		out = append(out, "It waits for "+strings.Join(parts, ", ")+".")
	}
	if len(out) == 0 {
		return "It stays in this state; no actor can move it."
	}
	return strings.Join(out, " ")
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
		at = " at " + w.At.Format(timeText)
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
		if w.Timeout {
			return "its timeout" + at
		}
		return "a timer" + at
	case api.WaitDeadline, api.WaitTotal:
		return "its timeout" + at
	case api.WaitRetry:
		return "the next attempt" + at
	case api.WaitChild:
		return fmt.Sprintf("the instance %q", w.Child)
	}
	if w.Choice != "" {
		return w.Move()
	}
	return "a choice"
}
