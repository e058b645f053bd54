package sw01

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// checker says what only the whole definition can tell: references, flow, what is
// never used. It resolves the references on its way.
type checker struct {
	r *dialect.Reporter
	w *workflow
	dialect.Hinter
	triggers   dialect.Names[*trigger]
	catalogue  []string // functions that are known to exist
	catalogued map[string]bool
	scopes     []*scope            // the workflow's own first
	homes      map[string][]*scope // that have a state of the name or id; two are enough
}

func check(r *dialect.Reporter, w *workflow, opts dialect.Options) {
	c := &checker{
		r: r, w: w, triggers: dialect.Names[*trigger]{What: "event", Code: codeDuplicate},
		catalogue: opts.Functions, catalogued: map[string]bool{}, homes: map[string][]*scope{},
	}
	for _, name := range opts.Functions {
		c.catalogued[name] = true
	}
	for _, t := range w.triggers {
		t.used = !c.triggers.Add(r, t.name, t) // that the second of two is never used follows
	}
	c.collect(w.scope)
	c.label()
	for _, s := range c.scopes {
		c.findStart(s)
	}
	for _, s := range w.states {
		c.resolve(s)
	}
	for _, s := range w.states {
		c.lint(s)
	}
	for _, s := range c.scopes {
		c.reachable(s)
	}
	c.startEvents()
	c.correlation()
	for _, t := range w.triggers {
		if !t.used && !w.vague {
			c.r.Warnf(t.name, codeUnusedEvent, "event %q is never used", t.name.Text)
		}
	}
}

// collect finds the states of a scope and of the branches in it by name and id. A
// branch is a namespace of its own (0.1 E §并行状态, 0.1 K and 0.1 C §Parallel State).
func (c *checker) collect(s *scope) {
	c.scopes = append(c.scopes, s)
	s.byName.What, s.byName.Code = "state", codeDuplicate
	s.byID.What, s.byID.Code = "state id", codeDuplicate
	for _, one := range s.states {
		if s.byName.Add(c.r, one.name, one) {
			c.live(s, one.name)
		}
		if s.byID.Add(c.r, one.id, one) {
			c.live(s, one.id)
		}
		if one.typ == typeEnd {
			s.ends = append(s.ends, one)
		}
	}
	for _, one := range s.states {
		if b, ok := one.body.(*parallelState); ok {
			branches := dialect.Names[*branch]{What: "branch", Code: codeDuplicate}
			for _, br := range b.branches {
				branches.Add(c.r, br.name, br)
				c.collect(br.scope)
			}
		}
	}
}

// live notes a name or id of a state in a scope.
func (c *checker) live(s *scope, n *dialect.Node) {
	if n == nil {
		return
	}
	s.names = append(s.names, n.Text)
	if in := c.homes[n.Text]; len(in) < 2 && !slices.Contains(in, s) {
		c.homes[n.Text] = append(in, s)
	}
}

// label gives every state a name that no other has: its own, or where that repeats in
// a branch, with the names of what it stands in.
func (c *checker) label() {
	taken := map[string]bool{}
	for _, sc := range c.scopes {
		for _, s := range sc.states {
			s.label = s.name.Literal()
			if taken[s.label] && sc.branch != nil {
				s.label = sc.path() + "/" + s.label
			}
			taken[s.label] = true
		}
	}
}

// path names a branch from the outside in.
func (s *scope) path() string {
	parent := s.branch.parent
	name := s.branch.name.Literal()
	if name == "" {
		name = fmt.Sprint(s.branch.number)
	}
	return parent.label + "/" + name
}

// findStart decides where a scope begins: at the state that startsAt names, or that is
// marked, else at the first (semantics.md §Control flow).
func (c *checker) findStart(s *scope) {
	if s.startsAt != nil {
		s.start = c.find(s, &reference{node: s.startsAt}, "startsAt")
	}
	for _, one := range s.states {
		switch {
		case one.start == nil || s.start == one:
		case s.start == nil && s.startsAt == nil:
			s.start = one
		case s.start != nil:
			c.r.Errorf(one.start.KeySpan(), codeManyStarts, "%s is marked as start, but %s is too; %s has one start",
				one.title(), s.start.title(), s.title())
		}
	}
	if s.start != nil || s.startsAt != nil || len(s.states) == 0 {
		return
	}
	s.start = s.states[0]
	hint := "start: true"
	if c.w.form == camel {
		hint = "startsAt: " + s.start.name.Literal()
	}
	c.r.Warnf(s.start.node, codeNoStart, "no state of %s is marked as start; %s, the first, is taken", s.title(), s.start.title()).
		WithHint("add %s", hint)
}

// resolve finds what a state refers to.
func (c *checker) resolve(s *state) {
	for _, ref := range s.references() {
		ref.to = c.find(s.scope, ref, "")
	}
	for _, a := range s.actions() {
		c.function(a.function)
		c.retries(a)
	}
	switch b := s.body.(type) {
	case *eventState:
		for _, e := range b.entries {
			c.events(e)
		}
	case *subflowState:
		if b.workflow != nil && b.workflow.Text == c.w.identity() {
			c.r.Errorf(b.workflow, codeOwnWorkflow, "%s %q is this workflow itself", b.workflow.Name(), b.workflow.Text)
		}
	}
}

// references are all states that a state names.
func (s *state) references() []*reference {
	var out []*reference
	if s.next != nil {
		out = append(out, s.next)
	}
	if s.body != nil {
		for _, w := range s.body.ways() {
			out = append(out, w.to)
		}
	}
	return out
}

// find finds a state by name, else by id (0.1 C §Transitions). Transitions stay inside
// of a branch, and outside of those of others.
func (c *checker) find(in *scope, ref *reference, what string) *state {
	n := ref.node
	byName, byID := in.byName.Get(n.Text), in.byID.Get(n.Text)
	switch {
	case byName == nil:
		byName = byID
	case byID != nil && byID != byName:
		c.r.Warnf(n, codeAmbiguous, "%q is the name of one state and the id of another, %q; the name counts", n.Text, byID.name.Literal())
	}
	if byName != nil {
		ref.likely = byName
		return byName
	}
	if what == "" {
		what = "transition to"
	}
	if other := c.elsewhere(in, n.Text); other != nil {
		c.r.Errorf(n, codeCrossing, "%s %q: that state is in %s, and this is %s; transitions stay inside of a branch", what, n.Text, other.title(), in.title())
		ref.likely = in.start // reported; what it was meant to be cannot be
		return nil
	}
	d := c.r.Errorf(n, codeNoState, "%s %q: no such state in %s", what, n.Text, in.title())
	if in.branch == nil {
		d.Message = fmt.Sprintf("%s %q: no such state", what, n.Text)
	}
	near := c.DidYouMean(d, n.Text, in.names)
	ref.likely = in.byName.Get(near)
	if ref.likely == nil {
		ref.likely = in.byID.Get(near)
	}
	return nil
}

// elsewhere finds another scope that has a state of the name.
func (c *checker) elsewhere(in *scope, name string) *scope {
	for _, s := range c.homes[name] {
		if s != in {
			return s
		}
	}
	return nil
}

// function warns of one that a known catalogue lacks. Without a catalogue there is
// nothing to compare with: definitions of 0.1 define no functions.
func (c *checker) function(f *function) {
	if len(c.catalogue) == 0 || c.catalogued[f.name.Text] {
		return
	}
	d := c.r.Warnf(f.name, codeNoFunction, "function %q is not in the catalogue", f.name.Text)
	c.DidYouMean(d, f.name.Text, c.catalogue)
}

// reachable reports the states of a scope that no way leads to, unless a way that is
// wrong might have been meant to.
func (c *checker) reachable(s *scope) {
	if s.start == nil {
		return
	}
	queue := []*state{}
	visit := func(one *state) {
		if one != nil && !one.reachable {
			one.reachable = true
			queue = append(queue, one)
		}
	}
	visit(s.start)
	for _, one := range s.states {
		if one.start != nil { // all but one are reported
			visit(one)
		}
	}
	for len(queue) > 0 {
		one := queue[0]
		queue = queue[1:]
		if one.typ == "" {
			return
		}
		for _, ref := range one.references() {
			if ref.likely == nil {
				return
			}
			visit(ref.likely)
		}
		if one.lapses() {
			if len(s.ends) == 1 {
				visit(s.ends[0])
			}
		}
	}
	for _, one := range s.states {
		if twin := s.byName.Get(one.name.Literal()); !one.reachable && (twin == one || twin == nil) {
			c.r.Warnf(one.node, codeUnreachable, "%s is unreachable", one.title())
		}
	}
}

// lapses reports whether a state waits for events only for a time, in each of its
// entries: then the workflow ends (0.1 E §事件状态: timeout).
func (s *state) lapses() bool {
	b, ok := s.body.(*eventState)
	return ok && !slices.ContainsFunc(b.entries, func(e *entry) bool { return e.timeout == nil })
}
