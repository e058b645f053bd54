package sw08

import "github.com/lockstep-workflows/lockstep/internal/dialect"

// errorHandling resolves what errors and their handlers refer to, once for all states.
func (c *checker) errorHandling() {
	for _, e := range c.w.errors {
		if e.code != nil && neverMatches(e.code.Literal()) {
			c.r.Warnf(e.code, codeNoMatch, "error %q has the code %q, which no error has here", e.name.Text, e.code.Literal()).
				WithHint("use a name, an HTTP status or HTTP:404")
		}
	}
	for _, h := range c.w.handlers {
		c.handler(h)
	}
	for _, p := range c.w.policies {
		p.handlers = c.followed(p.handlers)
	}
}

// handler resolves what one handler refers to.
func (c *checker) handler(h *handler) {
	for _, list := range [][]*errorMatch{h.when, h.except} {
		for _, m := range list {
			if m.refName != nil {
				m.def = find(c, &c.errorDefs, m.refName, codeNoError)
			}
		}
	}
	if h.retryRef != nil {
		h.retry = find(c, &c.retries, h.retryRef, codeNoRetry)
	}
	if h.then != nil && h.then.throw != nil {
		c.throw(h.then.throw)
	}
}

// followed resolves handlers, and puts those in the place of references that they name (0.9 §Error Handler
// Reference: "all other properties are ignored").
func (c *checker) followed(list []*handler) []*handler {
	var out []*handler
	for _, h := range list {
		if h.refName == nil {
			c.handler(h)
			out = append(out, h)
			continue
		}
		if h.ref = find(c, &c.handlers, h.refName, codeNoHandler); h.ref != nil {
			out = append(out, h.ref)
		}
	}
	return out
}

// stateHandlers resolves the handlers of a state and its actions, those of policies included.
func (c *checker) stateHandlers(s *state) {
	s.handlers = c.applied(s.handlers, s.policyRef)
	for _, a := range s.actions() {
		a.handlers = c.applied(a.handlers, a.policyRef)
	}
}

// applied are the handlers of a state or action: its own, or those of the policy that it names.
func (c *checker) applied(own []*handler, policyRef *dialect.Node) []*handler {
	if policyRef == nil {
		return c.followed(own)
	}
	p := find(c, &c.policies, policyRef, codeNoHandler)
	if p == nil {
		return nil
	}
	c.r.Budget.Build(len(p.handlers)) // once for each use
	return p.handlers
}

func (c *checker) throw(t *throw) {
	if t.refName != nil {
		t.def = find(c, &c.errorDefs, t.refName, codeNoError)
	}
}

func (c *checker) errorUses(list []*errorUse) {
	for _, u := range list {
		u.def = find(c, &c.errorDefs, u.node, codeNoError)
	}
}
