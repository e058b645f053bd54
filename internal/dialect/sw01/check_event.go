package sw01

import (
	"slices"
)

// events resolves the events of an expression.
func (c *checker) events(e *entry) {
	for _, leaf := range e.expression.leaves() {
		leaf.trigger = c.triggers.Get(leaf.name)
		if leaf.trigger != nil {
			leaf.trigger.used = true
			continue
		}
		d := c.r.Errorf(leaf.at, codeNoEvent, "no event is named %q", leaf.name)
		if near := c.triggers.Get(c.DidYouMean(d, leaf.name, c.triggers.List())); near != nil {
			near.used = true
		}
	}
}

// maxAlternatives bounds the sets of events that a workflow can start with.
const maxAlternatives = 64

// startEvents checks that a workflow which begins with events can begin: each way to
// satisfy the expression needs an event (semantics.md §Functions, events, errors: half of
// an `and` in a start state is no instance yet).
func (c *checker) startEvents() {
	s := c.w.scope.start
	if s == nil {
		return
	}
	b, ok := s.body.(*eventState)
	if !ok {
		return
	}
	total := 0
	for _, e := range b.entries {
		if e.expression == nil {
			continue
		}
		sets, ok := alternatives(e.expression.normal(false), new(int))
		switch total += len(sets); {
		case !ok || total > maxAlternatives:
			c.r.Errorf(e.text, codeTooMany, "the workflow begins with this state, and there are more than %d ways to satisfy it (limit start-alternatives)", maxAlternatives)
			return
		case slices.ContainsFunc(sets, func(set []int) bool { return len(set) == 0 }):
			c.r.Errorf(e.text, codeNot, "the workflow begins with this state, and no event is needed to satisfy %q", e.text.Literal()).
				WithHint("join \"not\" with an event that starts the workflow, by \"and\"")
		}
	}
	c.startTimeouts(b)
}

// startTimeouts explains timeouts that do nothing: before the first event there is no
// instance whose time could be up.
func (c *checker) startTimeouts(b *eventState) {
	for _, e := range b.entries {
		if e.expression == nil || e.timeout == nil || e.expression.firstNot() != nil {
			continue
		}
		sets, _ := alternatives(e.expression.normal(false), new(int))
		if !slices.ContainsFunc(sets, func(set []int) bool { return len(set) > 1 }) {
			c.r.Warnf(e.timeout.node.KeySpan(), codeIgnored, "the workflow begins with this event: its timeout has no effect on starts")
		}
	}
}

// alternatives lists the sets of events that satisfy an expression in normal form, by
// the position of each event among those that are not negated. It reports false where
// there are too many.
func alternatives(e *eventExpr, next *int) ([][]int, bool) {
	switch e.op {
	case "":
		*next++
		return [][]int{{*next - 1}}, true
	case "not":
		return [][]int{{}}, true
	}
	var out [][]int
	for i, item := range e.items {
		sets, ok := alternatives(item, next)
		switch {
		case !ok:
			return nil, false
		case e.op == "or" || i == 0:
			out = append(out, sets...)
		default:
			var product [][]int
			for _, a := range out {
				for _, b := range sets {
					product = append(product, slices.Concat(a, b))
				}
			}
			out = product
		}
		if len(out) > maxAlternatives {
			return nil, false
		}
	}
	return out, true
}

// correlation warns where several events of a workflow can belong to different
// instances and nothing tells to which (0.1 K and 0.1 C §Trigger Definition).
func (c *checker) correlation() {
	var used []*trigger
	for _, t := range c.w.triggers {
		if t.used {
			used = append(used, t)
		}
	}
	if len(used) < 2 {
		return
	}
	for _, t := range used {
		if t.token == nil {
			c.r.Warnf(t.node, codeNoCorrelation, "event %q has no %s, and the workflow has other events: any such event belongs to every instance that waits",
				t.name.Text, c.w.form.spell("correlationToken"))
		}
	}
}

// repeatedEvents warns of an event that stands in two entries of one state, where only
// the first can win.
func (c *checker) repeatedEvents(b *eventState) {
	seen := map[*trigger]bool{}
	for _, e := range b.entries {
		if !e.expression.alternative() {
			continue
		}
		var here []*trigger
		for _, leaf := range e.expression.leaves() {
			if leaf.trigger == nil {
				continue
			}
			if seen[leaf.trigger] {
				c.r.Warnf(leaf.at, codeRepeatedEvent, "event %q is in an earlier entry of this state, which takes it", leaf.name)
			}
			here = append(here, leaf.trigger)
		}
		for _, t := range here {
			seen[t] = true
		}
	}
}

// alternative reports whether any one event satisfies the expression.
func (e *eventExpr) alternative() bool {
	if e == nil {
		return false
	}
	return e.op == "" || e.op == "or" && !slices.ContainsFunc(e.items, func(i *eventExpr) bool { return i.op != "" })
}

// together reports whether the expression needs all of its events and nothing else.
func (e *eventExpr) together() bool {
	return e.op == "and" && !slices.ContainsFunc(e.items, func(i *eventExpr) bool { return i.op != "" })
}
