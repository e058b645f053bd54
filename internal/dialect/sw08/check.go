package sw08

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// checker says what only the whole definition can tell: references, flow, what is never used. It
// resolves the references on its way.
type checker struct {
	r *dialect.Reporter
	w *workflow
	dialect.Hinter

	states    dialect.Names[*state]
	ids       dialect.Names[*state]
	functions dialect.Names[*function]
	events    dialect.Names[*event]
	retries   dialect.Names[*retry]
	errorDefs dialect.Names[*errorDef]
	handlers  dialect.Names[*handler]
	policies  dialect.Names[*policy]
	auths     dialect.Names[*auth]

	catalogue map[string]bool // names that need no definition here
	callable  []string        // those, behind the functions that are defined
}

func check(r *dialect.Reporter, w *workflow, opts dialect.Options) {
	c := &checker{
		r: r, w: w, catalogue: map[string]bool{},
		states:    dialect.Names[*state]{What: "state", Code: codeDuplicate},
		ids:       dialect.Names[*state]{What: "state id", Code: codeDuplicate},
		functions: dialect.Names[*function]{What: "function", Code: codeDuplicate},
		events:    dialect.Names[*event]{What: "event", Code: codeDuplicate},
		retries:   dialect.Names[*retry]{What: "retry", Code: codeDuplicate},
		errorDefs: dialect.Names[*errorDef]{What: "error", Code: codeDuplicate},
		handlers:  dialect.Names[*handler]{What: "error handler", Code: codeDuplicate},
		policies:  dialect.Names[*policy]{What: "error policy", Code: codeDuplicate},
		auths:     dialect.Names[*auth]{What: "auth definition", Code: codeDuplicate},
	}
	c.collect()
	for _, name := range opts.Functions {
		c.catalogue[name] = true
	}
	c.callable = slices.Concat(c.functions.List(), opts.Functions)
	c.authentication()
	c.errorHandling()
	for _, s := range w.states {
		c.resolve(s)
	}
	c.findStart()
	c.runBefore()
	for _, s := range w.states {
		c.exits(s)
		c.errors(s)
		c.compensation(s)
		c.lint(s)
	}
	c.eventKinds()
	c.reachable()
	c.unused()
}

// collect finds every definition by its name and reports names that repeat.
func (c *checker) collect() {
	for _, s := range c.w.states {
		c.states.Add(c.r, s.name, s)
		c.ids.Add(c.r, s.id, s)
	}
	collect(c, &c.functions, c.w.functions)
	collect(c, &c.events, c.w.events)
	collect(c, &c.retries, c.w.retries)
	collect(c, &c.errorDefs, c.w.errors)
	collect(c, &c.handlers, c.w.handlers)
	collect(c, &c.policies, c.w.policies)
	collect(c, &c.auths, c.w.auth)
}

// collect adds definitions. That the second of two is never used follows from its name.
func collect[T usable](c *checker, into *dialect.Names[T], list []T) {
	for _, one := range list {
		if d := one.def(); !into.Add(c.r, d.name, one) {
			d.used = true
		}
	}
}

// exits reports a state that leads nowhere. A compensating state need not: there the compensation of
// that state is over.
func (c *checker) exits(s *state) {
	if s.typ != "" && !s.hasExit && !s.compensating() {
		c.r.Errorf(s.node, codeNoExit, "%s has neither a transition nor an end", s.title()).
			WithHint("say where it goes on, or that the workflow is over")
	}
}

// errors checks the error definitions of a state (0.6 §Workflow Error Handling).
func (c *checker) errors(s *state) {
	var wildcard *onError
	type key struct{ name, code string }
	seen := map[key]*dialect.Node{}
	again := func(k key, at *dialect.Node) {
		if first := seen[k]; first != nil {
			c.r.Warnf(at, codeSameError, "error %q is handled already, at line %d; this is never used", at.Text, first.Pos().Line)
			return
		}
		seen[k] = at
	}
	for _, e := range s.onErrors {
		for _, u := range e.errors {
			again(key{name: u.node.Text}, u.node)
		}
		switch {
		case e.error == nil:
		case e.error.Text != "*":
			again(key{e.error.Text, e.code.Literal()}, e.error)
		default:
			if e.code != nil {
				c.r.Warnf(e.code.KeySpan(), codeWildcardCode, "an entry for * takes all errors; its code is ignored")
			}
			if wildcard != nil {
				c.r.Errorf(e.error, codeTwoWildcards, "%s has a second entry for *", s.title()).
					WithHint("the first is at line %d", wildcard.error.Pos().Line)
			}
			wildcard = e
		}
	}
}

// findStart decides where instances begin.
func (c *checker) findStart() {
	w := c.w
	if w.startNode != nil {
		w.start = c.stateRef(w.startNode, codeNoState, "start").state()
		if w.start != nil && w.start.compensating() {
			c.r.Errorf(w.startNode, codeCompIncoming, "%s is for compensation and cannot be the start", w.start.title())
		}
		return
	}
	for _, s := range w.states {
		if !s.compensating() {
			w.start = s
			return
		}
	}
	if len(w.states) > 0 {
		c.r.Errorf(w.states[0].node, codeCompIncoming, "no state can be the start: all of them are for compensation")
	}
}

// reachable reports the states that no way leads to, unless a way that is wrong might have been meant to.
func (c *checker) reachable() {
	if c.w.start == nil {
		return
	}
	var queue []*state
	visit := func(s *state) {
		if s != nil && !s.reachable {
			s.reachable = true
			queue = append(queue, s)
		}
	}
	visit(c.w.start)
	if t := c.w.timeouts.workflow; t != nil {
		visit(t.before)
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for i, e := range s.ways() {
			switch t := e.transition; {
			case t == nil && e.end == nil && s.vague(i == 0):
				return
			case t == nil:
			case t.likely == nil:
				return
			default:
				visit(t.likely)
			}
		}
		visit(s.undoLikely)
	}
	for _, s := range c.w.states {
		if twin := c.states.Get(s.nameText()); !s.reachable && (twin == s || twin == nil) {
			c.r.Warnf(s.node, codeUnreachable, "%s is unreachable", s.title())
		}
	}
}

// vague reports whether a way without a target is a mistake, reported elsewhere: only a switch and a
// compensating state need none of their own.
func (s *state) vague(own bool) bool {
	return s.typ == "" || own && s.typ != typeSwitch && !s.compensating()
}

// ways are all exits of a state: its own, then those of its conditions, then those of its errors.
func (s *state) ways() []exit {
	out := s.flow()
	for _, e := range s.onErrors {
		out = append(out, e.exit)
	}
	return append(out, s.outcomes()...)
}

// flow are the exits of a state that are not those of errors.
func (s *state) flow() []exit {
	out := []exit{s.exit}
	if s.body != nil {
		for _, l := range s.body.exits() {
			out = append(out, l.exit)
		}
	}
	return out
}

// outcomes are the exits of the handlers of a state and its actions (0.9).
func (s *state) outcomes() []exit {
	var out []exit
	add := func(list []*handler) {
		for _, h := range list {
			if h.then != nil && (h.then.exit.transition != nil || h.then.exit.end != nil) {
				out = append(out, h.then.exit)
			}
		}
	}
	add(s.handlers)
	for _, a := range s.actions() {
		add(a.handlers)
	}
	return out
}

// actions are all actions of a state.
func (s *state) actions() []*action {
	var out []*action
	switch b := s.body.(type) {
	case *eventState:
		for _, o := range b.onEvents {
			out = append(out, o.actions.list...)
		}
	case *operationState:
		out = b.actions.list
	case *parallelState:
		for _, br := range b.branches {
			out = append(out, br.actions.list...)
		}
	case *foreachState:
		out = b.actions.list
	case *callbackState:
		if b.action != nil {
			out = []*action{b.action}
		}
	}
	return out
}

// unused warns of definitions that nothing refers to. Those of a shared resource may be for other
// workflows.
func (c *checker) unused() {
	unused(c, "function", c.w.functions)
	unused(c, "event", c.w.events)
	unused(c, "retry", c.w.retries)
	unused(c, "error", c.w.errors)
	unused(c, "error handler", c.w.handlers)
	unused(c, "error policy", c.w.policies)
	unused(c, "auth definition", c.w.auth)
}

func unused[T usable](c *checker, what string, list []T) {
	for _, one := range list {
		if d := one.def(); !d.used && !d.shared && d.name != nil {
			c.r.Warnf(d.name, codeUnused, "%s %q is never used", what, d.name.Text)
		}
	}
}
