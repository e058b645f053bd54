package sw05

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// checker says what only the whole definition can tell: references, flow, what
// is never used. It resolves the references on its way.
type checker struct {
	r *dialect.Reporter
	w *workflow
	dialect.Hinter

	scopes    []*scope // the workflow's own first
	functions dialect.Names[*function]
	events    dialect.Names[*event]
	retries   dialect.Names[*retry]

	catalogue  map[string]bool // names that need no definition here
	callable   []string        // those, behind the functions that are defined
	correlated map[string]bool // attributes that consumed events lend to the actions' expressions (semantics.md §Data filters 6)
}

func check(r *dialect.Reporter, w *workflow, opts dialect.Options) {
	c := &checker{
		r: r, w: w, catalogue: map[string]bool{}, correlated: map[string]bool{},
		functions: dialect.Names[*function]{What: "function", Code: codeDuplicate},
		events:    dialect.Names[*event]{What: "event", Code: codeDuplicate},
		retries:   dialect.Names[*retry]{What: "retry", Code: codeDuplicate},
	}
	c.scope(w.top)
	c.collect()
	for _, name := range opts.Functions {
		c.catalogue[name] = true
	}
	c.callable = slices.Concat(c.functions.List(), opts.Functions)
	for _, e := range w.events {
		for _, k := range e.correlation {
			c.correlated[k.attribute.Text] = true
		}
	}
	for _, s := range w.states {
		c.resolve(s)
	}
	for _, s := range c.scopes {
		c.findStart(s)
	}
	w.start = w.top.start
	c.label()
	for _, s := range w.states {
		c.exits(s)
		c.errors(s)
		c.compensation(s)
		c.lint(s)
	}
	for _, s := range c.scopes {
		c.reachable(s)
	}
	c.unused()
}

// collect finds every definition by its name and reports names that repeat. That the
// second of two is never used follows.
func (c *checker) collect() {
	for _, f := range c.w.functions {
		f.used = !c.functions.Add(c.r, f.name, f)
	}
	for _, e := range c.w.events {
		e.used = !c.events.Add(c.r, e.name, e)
	}
	for _, r := range c.w.retries {
		r.used = !c.retries.Add(c.r, r.name, r)
	}
}

// exits reports a state that leads nowhere. A compensating state need not: there
// the compensation of that state is over.
func (c *checker) exits(s *state) {
	if s.typ != "" && !s.hasExit && !s.compensating() {
		c.r.Errorf(s.node, codeNoExit, "%s has neither a transition nor an end", s.title()).
			WithHint("say where it goes on, or that the workflow is over")
	}
}

// errors checks the error definitions of a state (0.5 §Defining Errors).
func (c *checker) errors(s *state) {
	var wildcard *onError
	type key struct{ name, code string }
	seen := map[key]*onError{}
	for _, e := range s.onErrors {
		if e.error == nil {
			continue
		}
		if e.error.Text == "*" {
			if e.code != nil {
				c.r.Warnf(e.code.KeySpan(), codeWildcardCode, "an error definition for * takes all errors; its code is ignored")
			}
			if wildcard != nil {
				c.r.Errorf(e.error, codeTwoWildcards, "%s has a second error definition for *", s.title()).
					WithHint("the first is at line %d", wildcard.error.Pos().Line)
			}
			wildcard = e
			continue
		}
		k := key{e.error.Text, e.code.Literal()}
		if first := seen[k]; first != nil {
			c.r.Warnf(e.error, codeSameError, "error %q is handled already, at line %d; this definition is never used",
				e.error.Text, first.error.Pos().Line)
			continue
		}
		seen[k] = e
	}
}

// findStart decides where instances, or a branch or an iteration, begin (semantics.md §Control flow).
func (c *checker) findStart(in *scope) {
	for _, s := range in.states {
		switch {
		case s.start == nil || s.compensating(): // the latter is reported as such
		case in.start == nil:
			in.start = s
		default:
			c.r.Errorf(s.start.node.KeySpan(), codeManyStarts, "%s is marked as start, but %s is too; %s has one start",
				s.title(), in.start.title(), in.title())
		}
		if s.start != nil && s.start.schedule != nil && in.parent != nil {
			c.r.Warnf(s.start.node.KeySpan(), codeIgnored, "%s begins when its state does; the schedule is ignored", in.title())
		}
	}
	if in.start != nil || len(in.states) == 0 {
		return
	}
	for _, s := range in.states {
		if s.compensating() {
			continue
		}
		in.start = s
		which := "no state"
		if in.parent != nil {
			which += " of " + in.title()
		}
		c.r.Warnf(s.node, codeNoStart, "%s is marked as start; %s, the first, is taken", which, s.title()).
			WithHint("add start: {kind: %s}", c.w.form.spell("default"))
		return
	}
	c.r.Errorf(in.states[0].node, codeNoStart, "no state can be the start: all of them are for compensation")
}

// reachable reports the states of a scope that no way leads to, unless a way that is wrong
// might have been meant to.
func (c *checker) reachable(in *scope) {
	if in.start == nil {
		return
	}
	var queue []*state
	visit := func(s *state) {
		if !s.reachable {
			s.reachable = true
			queue = append(queue, s)
		}
	}
	visit(in.start)
	for _, s := range in.states {
		if s.start != nil { // all but one are reported
			visit(s)
		}
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
		if s.undoLikely != nil {
			visit(s.undoLikely)
		}
	}
	for _, s := range in.states {
		if twin := in.byName.Get(s.nameText()); !s.reachable && (twin == s || twin == nil) {
			c.r.Warnf(s.node, codeUnreachable, "%s is unreachable", s.title())
		}
	}
}

// vague reports whether a way without a target is a mistake, reported elsewhere:
// only a switch and a compensating state need none of their own.
func (s *state) vague(own bool) bool {
	return s.typ == "" || !own || s.typ != typeSwitch && !s.compensating()
}

// ways are all exits of a state: its own, then those of its conditions and errors.
func (s *state) ways() []exit {
	out := []exit{s.exit}
	if s.body != nil {
		for _, l := range s.body.exits() {
			out = append(out, l.exit)
		}
	}
	for _, e := range s.onErrors {
		out = append(out, e.exit)
	}
	return out
}

// unused warns of definitions that nothing refers to. Those of a shared resource
// may be for other workflows.
func (c *checker) unused() {
	for _, f := range c.w.functions {
		c.unusedOne(&f.definition, codeUnusedFunc, "function")
	}
	for _, e := range c.w.events {
		c.unusedOne(&e.definition, codeUnusedEvent, "event")
	}
	for _, r := range c.w.retries {
		c.unusedOne(&r.definition, codeUnusedRetry, "retry")
	}
}

func (c *checker) unusedOne(d *definition, code, what string) {
	if !d.used && !d.shared {
		c.r.Warnf(d.name, code, "%s %q is never used", what, d.name.Text)
	}
}
