package open

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
)

// certainty is whether something has happened when a state is entered.
type certainty uint8

const (
	no certainty = iota
	maybe
	yes
)

// correlation is what is known of the attributes by which events belong to an instance: in 0.5 and later the first
// event fixes them for the instance, in 1.0 for one listener. So those that several listeners need are kept in
// the context.
type correlation struct {
	any  bool
	kept map[string]bool
	at   map[*states.State]map[string]certainty // when the state is entered
}

// after is what is known once an event came.
func (correlation) after(known map[string]certainty, e *states.Event) map[string]certainty {
	out := maps.Clone(known)
	if out == nil {
		out = map[string]certainty{}
	}
	for _, c := range e.Correlation {
		out[c.Attribute] = yes
	}
	return out
}

// correlated finds the attributes that are kept, and where they are known.
func (w *writer) correlated() correlation {
	k := correlation{kept: map[string]bool{}, at: map[*states.State]map[string]certainty{}}
	sites := map[string]int{}
	for _, s := range w.o.States {
		for attribute, n := range attributesOf(s) {
			sites[attribute] += n
			if w.graph.cyclic(s) {
				sites[attribute]++
			}
			if mentions(s, attribute) {
				sites[attribute] += 2
			}
		}
	}
	for attribute, n := range sites {
		k.kept[attribute] = n > 1
		k.any = k.any || n > 1
	}
	if !k.any {
		return k
	}
	w.spread(k)
	return k
}

// spread computes what is known at each state: what is so on all ways is certain.
func (w *writer) spread(k correlation) {
	k.at[w.o.Start] = map[string]certainty{}
	queue := []*states.State{w.o.Start}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		out := w.leaves(s, k.at[s])
		for _, to := range w.graph.next[s] {
			old, seen := k.at[to]
			merged := maps.Clone(out)
			if seen {
				for a := range k.kept {
					if old[a] != out[a] {
						merged[a] = maybe
					}
				}
			}
			if !seen || !maps.Equal(merged, old) {
				k.at[to] = merged
				queue = append(queue, to)
			}
		}
	}
}

// leaves is what is known behind a state, whichever way out it takes.
func (w *writer) leaves(s *states.State, in map[string]certainty) map[string]certainty {
	out := maps.Clone(in)
	sure := s.Wait == nil && len(s.Handlers) == 0 || s == w.o.Start && w.graph.startsWithEvents() && len(s.Handlers) == 0
	for a := range attributesOf(s) {
		switch {
		case out[a] == yes:
		case sure && always(s, a):
			out[a] = yes
		default:
			out[a] = maybe
		}
	}
	return out
}

// always reports whether every event that lets a state go on has an attribute.
func always(s *states.State, attribute string) bool {
	has := func(u *states.EventUse) bool {
		return slices.ContainsFunc(u.Event.Correlation, func(c states.Correlation) bool { return c.Attribute == attribute && c.Value == nil })
	}
	switch s.Type {
	case states.TypeEvent:
		uses := usesOf(s.Entries, false)
		if !s.Exclusive {
			return slices.ContainsFunc(uses, has)
		}
		return !slices.ContainsFunc(uses, func(u *states.EventUse) bool { return !has(u) })
	case states.TypeSwitch:
		return !slices.ContainsFunc(s.Conditions, func(k *states.Case) bool { return k.Event == nil || !has(k.Event) })
	case states.TypeCallback:
		return has(s.Event)
	}
	return false
}

// attributesOf counts the listeners of a state by the attributes that their events share with the instance.
func attributesOf(s *states.State) map[string]int {
	out := map[string]int{}
	count := func(events ...*states.Event) {
		seen := map[string]bool{}
		for _, e := range events {
			for _, c := range e.Correlation {
				if c.Value == nil && !seen[c.Attribute] {
					seen[c.Attribute] = true
					out[c.Attribute]++
				}
			}
		}
	}
	var all []*states.Event
	for _, u := range usesOf(s.Entries, false) {
		all = append(all, u.Event)
	}
	for _, k := range s.Conditions {
		if k.Event != nil {
			all = append(all, k.Event.Event)
		}
	}
	if s.Event != nil {
		all = append(all, s.Event.Event)
	}
	count(all...)
	for _, a := range allActions(s) {
		if a.Trigger != nil && a.Trigger.Result != nil {
			count(a.Trigger.Result)
		}
	}
	return out
}

// mentions reports whether an expression of a state's actions asks for an attribute by name.
func mentions(s *states.State, attribute string) bool {
	for _, a := range allActions(s) {
		for _, v := range argumentsOf(a) {
			if strings.Contains(v.String(), "."+attribute) {
				return true
			}
		}
		if a.Input != nil && strings.Contains(a.Input.Src, "."+attribute) {
			return true
		}
	}
	return false
}

func argumentsOf(a *states.Action) []expr.Value {
	var out []expr.Value
	if a.Call != nil && a.Call.Arguments != nil {
		out = append(out, a.Call.Arguments.Value)
	}
	if t := a.Trigger; t != nil {
		for _, one := range []*states.Template{t.Produce.Data, t.Produce.Attributes} {
			if one != nil {
				out = append(out, one.Value)
			}
		}
		if t.Produce.Selects != nil {
			out = append(out, expr.String(t.Produce.Selects.Src))
		}
	}
	return out
}

// allActions are those of a state, wherever they stand in it.
func allActions(s *states.State) []*states.Action {
	out := slices.Clone(s.Actions.List)
	for _, e := range s.Entries {
		out = append(out, e.Actions.List...)
	}
	for _, b := range s.Branches {
		out = append(out, b.Actions.List...)
	}
	if s.Each != nil {
		out = append(out, s.Each.Actions.List...)
	}
	if s.Action != nil {
		out = append(out, s.Action)
	}
	return out
}

// lent is the view of actions behind events: attributes that the events were correlated by are seen under names that
// the data does not have.
func (w *writer) lent(s *states.State) view {
	attributes := attributesOf(s)
	if len(attributes) == 0 {
		return view{}
	}
	var kept []string
	for name := range attributes {
		if w.keys.kept[name] && mentions(s, name) {
			kept = append(kept, key(name)+": $context."+key(name))
		}
	}
	scope := ""
	if slices.Sort(kept); len(kept) > 0 {
		scope = "({" + strings.Join(kept, ", ") + "} + .)"
	}
	return view{scope: scope, begin: func(name string) (string, bool) {
		if attributes[name] == 0 || !w.keys.kept[name] {
			return "", false
		}
		return fmt.Sprintf("(if has(%s) then . else $context end)", text(name)), false
	}}
}

// graph is which state leads to which.
type graph struct {
	o    *states.Outline
	next map[*states.State][]*states.State
}

func newGraph(o *states.Outline) *graph {
	g := &graph{o: o, next: map[*states.State][]*states.State{}}
	for _, s := range o.States {
		for _, e := range exits(s) {
			if e.Next != nil && !slices.Contains(g.next[s], e.Next) {
				g.next[s] = append(g.next[s], e.Next)
			}
		}
	}
	return g
}

// exits are the ways out of a state.
func exits(s *states.State) []states.Exit {
	out := []states.Exit{s.Exit}
	for _, h := range s.Handlers {
		out = append(out, h.Exit)
	}
	for _, k := range s.Conditions {
		out = append(out, k.Exit)
	}
	if s.Default != nil {
		out = append(out, *s.Default)
	}
	return out
}

func (g *graph) startsWithEvents() bool { return g.o.Start.Type == states.TypeEvent }

// entered reports whether a way leads to a state.
func (g *graph) entered(s *states.State) bool {
	for _, to := range g.next {
		if slices.Contains(to, s) {
			return true
		}
	}
	return false
}

// cyclic reports whether a state leads to itself again.
func (g *graph) cyclic(s *states.State) bool {
	seen := map[*states.State]bool{}
	queue := slices.Clone(g.next[s])
	for len(queue) > 0 {
		one := queue[0]
		queue = queue[1:]
		if one == s {
			return true
		}
		if !seen[one] {
			seen[one] = true
			queue = append(queue, g.next[one]...)
		}
	}
	return false
}
