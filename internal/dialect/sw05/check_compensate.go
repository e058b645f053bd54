package sw05

// compensating reports whether a state is for compensation: it says so, or
// another says so of it.
func (s *state) compensating() bool { return s.compensation || s.undoesOthers }

// compensation checks the seven rules (0.5 §Defining Compensation), and an
// eighth that follows from the last: a compensation does not trigger another.
func (c *checker) compensation(s *state) {
	if !s.compensating() {
		return
	}
	name := s.title()
	c.compensationEntry(s)
	if s.typ == typeEvent {
		c.r.Errorf(s.node.Get("type"), codeCompEvent, "%s is for compensation and cannot be an event state", name)
	}
	if s.start != nil {
		c.r.Errorf(s.start.node.KeySpan(), codeCompStart, "%s is for compensation and cannot be a start", name)
	}
	if !s.compensation {
		c.r.Errorf(s.node, codeCompUnmarked, "%s compensates another and must say so", name).
			WithHint("add usedForCompensation: true")
	}
	if s.compensatedBy != nil {
		c.r.Errorf(s.compensatedBy.KeySpan(), codeCompRecursive, "%s is for compensation and cannot be compensated itself", name)
	}
	// Ending the workflow because of an error is allowed: only the flow of the
	// compensation itself must come back.
	for _, e := range s.ways()[:len(s.ways())-len(s.onErrors)] {
		if e.end != nil {
			c.r.Errorf(e.end.node.KeySpan(), codeCompEnd, "%s is for compensation and cannot be an end", name).
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
