package sw05

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// lint warns of what is allowed but does not do what it seems to.
func (c *checker) lint(s *state) {
	switch b := s.body.(type) {
	case *eventState:
		c.repeatedEvents(b)
		c.startTimeout(s, b)
	case *callbackState:
		c.callbackCorrelation(b)
	}
	c.filterShape(s)
}

// repeatedEvents warns of an event that stands twice in one event state.
func (c *checker) repeatedEvents(b *eventState) {
	seen := map[string]bool{}
	for _, o := range b.onEvents {
		for _, u := range o.events {
			switch name := u.node.Text; {
			case !seen[name]:
				seen[name] = true
			case b.exclusive:
				c.r.Warnf(u.node, codeRepeatedEvent, "event %q is listed twice in this state; only the first entry sees it", name)
			default:
				c.r.Warnf(u.node, codeRepeatedEvent, "event %q is listed twice in this state; one event serves both", name)
			}
		}
	}
}

// startTimeout explains what the timeout of a start state means (0.5 §Event State: Timeout).
func (c *checker) startTimeout(s *state, b *eventState) {
	if s != c.w.start || b.timeout == nil {
		return
	}
	switch {
	case b.exclusive:
		c.r.Warnf(b.timeout.node.KeySpan(), codeIgnored, "the timeout of a start state that waits for one event is ignored")
	case b.timeout.expr != nil:
		c.r.Errorf(b.timeout.node, codeConstant, "the timeout of a start state cannot be an expression: there is no instance yet")
	}
}

// callbackCorrelation: 0.5 §Callback State demands that the event is correlated.
func (c *checker) callbackCorrelation(b *callbackState) {
	if b.event != nil && b.event.def != nil && !b.event.def.produced && len(b.event.def.correlation) == 0 {
		c.r.Warnf(b.event.node, codeNoCorrelation, "event %q has no correlation: any such event answers every instance that waits", b.event.node.Text).
			WithHint("add correlation with a contextAttributeName to the event's definition")
	}
}

// filterShape warns where a state's input filter shapes the data in a way that
// its expressions do not expect (semantics.md §Data filters 2): a path of one name
// keeps that name, a longer one gives the bare value.
func (c *checker) filterShape(s *state) {
	in := s.input
	if in == nil || in.Root || !in.Definite || len(in.Keys) == 0 {
		return
	}
	for _, e := range c.firstReaders(s) {
		if e.First == "" || c.correlated[e.First] {
			continue
		}
		switch {
		case in.Depth == 1 && e.First != in.Name:
			c.r.Warnf(e.node, codeFilterShape, "%s finds nothing: dataInputPath %s makes the state's data {%q: …}", e.src, in.src, in.Name).
				WithHint("write $.%s%s", in.Name, strings.TrimPrefix(e.src, "$"))
		case in.Depth > 1 && e.First == in.Name:
			c.r.Warnf(e.node, codeFilterShape, "%s likely finds nothing: dataInputPath %s makes what it selects the state's data, without the name %q",
				e.src, in.src, in.Name).WithHint("write $%s", strings.TrimPrefix(strings.TrimPrefix(e.src, "$"), "."+in.Name))
		}
	}
}

// firstReaders are the expressions that see a state's filtered input before
// anything was merged into it.
func (c *checker) firstReaders(s *state) []*path {
	var out []*path
	switch b := s.body.(type) {
	case *switchState:
		for _, k := range b.conditions {
			if k.when != nil {
				out = append(out, k.when)
			}
		}
	case *foreachState:
		if b.over != nil {
			out = append(out, b.over)
		}
	case *operationState:
		if len(b.actions.list) > 0 {
			out = append(out, parameterPaths(b.actions.list[0])...)
		}
	case *callbackState:
		if b.action != nil {
			out = append(out, parameterPaths(b.action)...)
		}
	}
	return out
}

// parameterPaths are an action's parameters that are one expression each.
func parameterPaths(a *action) []*path {
	if a.input != nil {
		return []*path{a.input}
	}
	if a.call == nil || a.call.parameters == nil {
		return nil
	}
	var out []*path
	for _, m := range a.call.parameters.node.Members {
		t := m.Literal()
		if !hasExpression(t) || !isExpression(t) {
			continue
		}
		if shape, err := jsonpath.Describe(t); err == nil {
			src := strings.TrimSpace(strings.Trim(strings.TrimSpace(t), "{}"))
			out = append(out, &path{node: m, src: src, Shape: shape})
		}
	}
	return out
}
