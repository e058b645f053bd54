package open

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
)

// undoing is what is known of compensation: which states that can be undone are complete when a state is entered, in
// order. Where ways with different ones meet, that is told by the context.
type undoing struct {
	at      map[*states.State][]*states.State
	unknown map[*states.State]bool
	dynamic bool // some way out has to ask the context
}

// planned follows the ways of the definition.
func (w *writer) planned() undoing {
	u := undoing{at: map[*states.State][]*states.State{w.o.Start: nil}, unknown: map[*states.State]bool{}}
	queue := []*states.State{w.o.Start}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for i, e := range exits(s) {
			if e.Next == nil {
				continue
			}
			done := u.done(s, i > 0 && i <= len(s.Handlers))
			lost := u.unknown[s]
			if e.Compensate {
				done, lost = nil, false
			}
			old, seen := u.at[e.Next]
			if seen && (u.unknown[e.Next] || !lost && slices.Equal(old, done)) {
				continue
			}
			u.at[e.Next] = done
			u.unknown[e.Next] = lost || seen
			queue = append(queue, e.Next)
		}
	}
	for _, s := range w.o.States {
		for _, e := range exits(s) {
			u.dynamic = u.dynamic || e.Compensate && !u.static(s)
		}
	}
	return u
}

// done is the states that are complete on a way out of a state.
func (u undoing) done(s *states.State, failed bool) []*states.State {
	if failed || s.CompensatedBy == nil {
		return u.at[s]
	}
	return append(slices.Clip(u.at[s]), s)
}

// static reports whether what a state undoes is known: each compensating state stands alone, and is needed once.
func (u undoing) static(s *states.State) bool {
	if u.unknown[s] || s.Compensates {
		return false
	}
	var seen []*states.State
	for _, one := range u.done(s, false) {
		c := one.CompensatedBy
		if c.Exit.Next != nil || len(c.Handlers) > 0 || c.Type == states.TypeSwitch || slices.Contains(seen, c) {
			return false
		}
		seen = append(seen, c)
	}
	return true
}

// steps are the tasks that undo what is complete on a way out of a state, the last one first; ok is false where the
// context has to tell.
func (f *flow) steps(s *states.State, failed bool) (tasks []*task, ok bool) {
	w := f.w
	if w.undo.dynamic || f.done != "end" {
		return nil, false
	}
	body := &flow{w: w, scope: newScope(), names: map[*states.State]string{}}
	before := w.state
	for _, one := range slices.Backward(w.undo.done(s, failed)) {
		body.names[one.CompensatedBy] = body.scope.name(one.CompensatedBy.Name)
		body.convert(one.CompensatedBy)
	}
	w.state = before
	return body.tasks, true
}

// completed is the context after a state that can be undone: its name is added to a list.
func (w *writer) completed(s *states.State) string {
	if s.CompensatedBy == nil || !w.compensates() || !w.undo.dynamic {
		return ""
	}
	return fmt.Sprintf("$context + {undo: ($context.undo + [%s])}", text(s.Name))
}

// compensates reports whether some way out undoes what was done.
func (w *writer) compensates() bool {
	return slices.ContainsFunc(w.o.States, func(s *states.State) bool {
		return slices.ContainsFunc(exits(s), func(e states.Exit) bool { return e.Compensate })
	})
}

// undo undoes the states that were completed, the last one first: a loop over their names, whose body has the states
// that compensate.
func (f *flow) undo(s *states.State, failed bool, name string) *task {
	w := f.w
	if steps, ok := f.steps(s, failed); ok {
		return finished(name, steps, "", nil, "")
	}
	body := &flow{w: w, scope: newScope(), done: "exit", names: map[*states.State]string{}}
	route := &task{name: body.scope.name("which")}
	body.add(route)
	var cases []expr.Value
	before := w.state
	for _, s := range w.o.States {
		if s.Compensates {
			body.names[s] = body.scope.name(s.Name)
		}
	}
	labels := newScope()
	for _, s := range w.o.States {
		if s.CompensatedBy != nil {
			cases = append(cases, obj(labels.name(s.Name), obj("when", str("$undone == "+text(s.Name)), "then", str(body.names[s.CompensatedBy]))))
		}
	}
	for _, s := range w.o.States {
		if s.Compensates {
			body.convert(s)
		}
	}
	w.state = before
	route.value = obj("switch", expr.Array(append(cases, obj("default", obj("then", str("exit"))))...))
	body.settle()
	t := &task{name: name, value: obj("for", obj("each", str("undone"), "in", str("$context.undo // [] | reverse")), "do", list(body.tasks))}
	t.value = t.value.With("export", obj("as", str("$context + {undo: []}")))
	return t
}

// schedule is how instances begin: by events, or at times.
func (w *writer) schedule() expr.Value {
	out := expr.EmptyObject
	w.state = w.o.Start.Name
	if w.graph.startsWithEvents() {
		s := w.o.Start
		uses := usesOf(s.Entries, !s.Exclusive)
		on := w.consumption(uses, !s.Exclusive, nil, view{})
		out = out.With("on", on).With("read", str("envelope"))
		if !s.Exclusive && s.Wait != nil {
			w.lose(s.Wait.Pos, "the time from the first to the last event", "events that start a workflow of 1.0 may come at any time", "check their times in the workflow")
		}
		w.startCorrelation(uses)
	}
	if k := w.o.Schedule; k != nil {
		switch {
		case k.Cron != "" && w.graph.startsWithEvents():
			w.lose(k.Pos, "cron beside events", "it would send the event that starts the workflow", "send the event from outside")
		case k.Cron != "":
			out = out.With("cron", str(k.Cron))
			if k.Zone != "UTC" {
				w.lose(k.Pos, "the time zone of the schedule", "cron of 1.0 is in UTC", "write the times in UTC")
			}
			if !k.DirectInvoke {
				w.assume(k.Pos, "nobody starts the workflow outside of its schedule: 1.0 allows that")
			}
		case k.Every != nil:
			out = out.With("every", w.duration(k.Every, view{}))
		case k.Interval != "":
			w.lose(k.Pos, "the interval "+k.Interval, "1.0 does not say when a workflow may start", "start it at the right time")
		}
	}
	if out.Len() == 0 {
		return expr.Null
	}
	return out
}

// startCorrelation notes what becomes of further events of an instance.
func (w *writer) startCorrelation(uses []*states.EventUse) {
	for _, u := range uses {
		if len(u.Event.Correlation) > 0 {
			var pos dialect.Pos = u.Event.Correlation[0].Pos
			w.lose(pos, fmt.Sprintf("further events %q of an instance", u.Event.Name),
				"an event whose attributes belong to an instance that runs starts no other; in 1.0 every event starts one", "send one such event for each instance, or look for others in the first task")
			return
		}
	}
}
