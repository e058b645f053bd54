package sw08

// compensating reports whether a state is for compensation: it says so, or another says so of it.
func (s *state) compensating() bool { return s.compensation || s.undoesOthers }

// compensation checks the rules of 0.8 §Defining Compensation, and another that follows from the last: a
// compensation does not trigger another.
func (c *checker) compensation(s *state) {
	if !s.compensating() {
		return
	}
	name := s.title()
	c.compensationEntry(s)
	if s.typ == typeEvent {
		c.r.Errorf(s.node.Get("type"), codeCompEvent, "%s is for compensation and cannot be an event state", name)
	}
	if !s.compensation {
		c.r.Errorf(s.node, codeCompUnmarked, "%s compensates another and must say so", name).
			WithHint("add usedForCompensation: true")
	}
	if s.compensatedBy != nil {
		c.r.Errorf(s.compensatedBy.KeySpan(), codeCompRecursive, "%s is for compensation and cannot be compensated itself", name)
	}
	for _, e := range s.flow() {
		if e.end != nil {
			c.r.Warnf(e.end.node.KeySpan(), codeCompEnd, "%s is for compensation; its end is ignored", name).
				WithHint("remove it: without a transition the compensation of that state is complete")
		}
	}
	for _, e := range s.ways() {
		t := e.transition
		if t != nil && t.to != nil && !t.to.compensating() {
			c.r.Errorf(t.next, codeCompLeaves, "%s is for compensation and can only go on to states that are, unlike %q", name, t.next.Text).
				WithHint("set usedForCompensation: true there, or remove the transition")
		}
		if t != nil && t.compensate != nil {
			c.r.Errorf(t.compensate.KeySpan(), codeCompTriggers, "%s is for compensation and cannot trigger another", name)
		}
		if e.end != nil && e.end.compensate != nil {
			c.r.Errorf(e.end.compensate.KeySpan(), codeCompTriggers, "%s is for compensation and cannot trigger another", name)
		}
	}
}

// compensationEntry checks that nothing but compensation leads into a state.
func (c *checker) compensationEntry(s *state) {
	for _, in := range s.incoming {
		switch {
		case !in.from.compensating():
			c.r.Errorf(in.at, codeCompIncoming, "transition to %q, which is for compensation and not part of the flow", s.nameText())
		case s.undoesOthers:
			c.r.Errorf(in.at, codeCompIncoming, "transition to %q, which another state names in compensatedBy: no transition may lead to it", s.nameText())
		}
	}
}

// runBefore checks the rules of 0.8 §WorkflowExecTimeout Definition: what runs before a workflow that
// took too long ends is a flow of its own, and ends.
func (c *checker) runBefore() {
	t := c.w.timeouts.workflow
	if t == nil || t.runBefore == nil {
		return
	}
	t.before = c.stateRef(t.runBefore, codeNoState, "runBefore").exact
	if t.before == nil {
		return
	}
	if len(t.before.incoming) > 0 {
		c.r.Errorf(t.runBefore, codeRunBefore, "runBefore %q: transitions lead to that state, so it is part of the flow", t.runBefore.Text)
		return
	}
	if t.before == c.w.start {
		c.r.Errorf(t.runBefore, codeRunBefore, "runBefore %q: instances begin at that state, so it is part of the flow", t.runBefore.Text)
		return
	}
	main, own := closure(c.w.start), closure(t.before)
	ends := false
	for s := range own {
		for _, e := range s.ways() {
			ends = ends || e.end != nil
		}
	}
	for _, s := range c.w.states {
		switch {
		case !own[s]:
		case s.compensating():
			c.r.Errorf(t.runBefore, codeRunBefore, "runBefore %q leads to %s, which is for compensation", t.runBefore.Text, s.title())
		case main[s]:
			c.r.Errorf(t.runBefore, codeRunBefore, "runBefore %q leads to %s, which is part of the flow", t.runBefore.Text, s.title())
		}
	}
	if !ends {
		c.r.Errorf(t.runBefore, codeRunBefore, "runBefore %q never comes to an end", t.runBefore.Text)
	}
}

// closure are the states that a state leads to, itself included.
func closure(from *state) map[*state]bool {
	out := map[*state]bool{}
	if from == nil {
		return out
	}
	queue := []*state{from}
	out[from] = true
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, e := range s.ways() {
			if t := e.transition; t != nil && t.to != nil && !out[t.to] {
				out[t.to] = true
				queue = append(queue, t.to)
			}
		}
	}
	return out
}
