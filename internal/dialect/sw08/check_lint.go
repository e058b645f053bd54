package sw08

// lint warns of what is allowed but does not do what it seems to.
func (c *checker) lint(s *state) {
	switch b := s.body.(type) {
	case *eventState:
		c.repeatedEvents(b)
		c.startTimeout(s, b)
	case *callbackState:
		c.callbackCorrelation(b)
		c.endless(s, "a callback")
	case *switchState:
		if b.onEvents {
			c.endless(s, "an event switch")
		}
	}
	c.retries78(s)
}

// repeatedEvents refuses an event that stands twice in one entry (0.8 §OnEvents Definition), and warns of one that
// stands in two.
func (c *checker) repeatedEvents(b *eventState) {
	before := map[string]bool{}
	for _, o := range b.onEvents {
		own := map[string]bool{}
		for _, u := range o.events {
			name := u.node.Text
			switch {
			case own[name] && c.w.form >= form08:
				c.r.Errorf(u.node, codeRepeatedEvent, "event %q is listed twice in this entry", name)
			case own[name] || before[name] && !b.exclusive:
				c.r.Warnf(u.node, codeRepeatedEvent, "event %q is listed twice in this state; one event serves both", name)
			case before[name]:
				c.r.Warnf(u.node, codeRepeatedEvent, "event %q is listed twice in this state; only the first entry sees it", name)
			}
			own[name] = true
		}
		for name := range own {
			before[name] = true
		}
	}
}

// startTimeout explains what the event timeout of a start state means (0.8 §Event Timeout Definition).
func (c *checker) startTimeout(s *state, b *eventState) {
	t := s.timeouts.event
	if s != c.w.start || t == nil || !s.timeouts.explicitHere {
		return
	}
	switch {
	case b.exclusive:
		c.r.Warnf(t.node.KeySpan(), codeIgnored, "the event timeout of a start state that waits for one event is ignored")
	case t.expr != nil:
		c.r.Errorf(t.node, codeConstant, "the event timeout of a start state cannot be an expression: there is no instance yet")
	}
}

// endless: 0.6 demands a timeout of event switches and callbacks.
func (c *checker) endless(s *state, what string) {
	if c.w.form == form06 && s.timeouts.event == nil {
		key := "timeout"
		if s.typ == typeSwitch {
			key = "eventTimeout"
		}
		c.r.Warnf(s.node, codeNoLimit, "%s, %s, has no %q: it may wait for ever", s.title(), what, key)
	}
}

// callbackCorrelation: 0.8 §Callback State demands that the event is correlated.
func (c *checker) callbackCorrelation(b *callbackState) {
	if b.event != nil && b.event.def != nil && len(b.event.def.correlation) == 0 {
		c.r.Warnf(b.event.node, codeNoCorrelation, "event %q has no correlation: any such event answers every instance that waits", b.event.node.Text).
			WithHint("add correlation with a contextAttributeName to the event's definition")
	}
}

// retries78 warns of lists of errors that do not count (0.8 §Action Definition: each of them is used only with
// one value of autoRetries).
func (c *checker) retries78(s *state) {
	if c.w.form != form07 && c.w.form != form08 {
		return
	}
	for _, a := range s.actions() {
		if len(a.retryable) > 0 && c.w.autoRetries {
			c.r.Warnf(a.node.Get("retryableErrors").KeySpan(), codeIgnored, "with autoRetries all errors are retried; retryableErrors is ignored")
		}
		if len(a.retryable) > 0 && !c.w.autoRetries && a.retryRef == nil {
			c.r.Warnf(a.node.Get("retryableErrors").KeySpan(), codeIgnored, "without retryRef nothing is retried; retryableErrors is ignored")
		}
	}
}
