package wfx

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// checker says what only the whole workflow can tell. It resolves names on its way.
type checker struct {
	r     *dialect.Reporter
	hints *dialect.Hinter
	d     *document

	names  dialect.Names[*state]
	vague  bool  // a way is wrong, and what was meant cannot be guessed
	likely []way // all ways, those with misspelt names as they were meant
}

// way is one edge of the graph.
type way struct {
	from, to *state
	at       *transition
}

func check(r *dialect.Reporter, hints *dialect.Hinter, d *document) {
	c := &checker{r: r, hints: hints, d: d, names: dialect.Names[*state]{What: "state", Code: codeSameState}}
	for _, s := range d.states {
		c.names.Add(r, s.name, s)
	}
	c.groups()
	for _, t := range d.transitions {
		c.resolve(t)
	}
	c.repeated()
	c.immediate()
	c.shape()
	for _, s := range d.states {
		c.timeout(s)
	}
	c.lint()
}

// groups: names are unique, states known, and a state is in at most one.
func (c *checker) groups() {
	names := dialect.Names[*group]{What: "group", Code: codeSameGroup}
	type membership struct {
		in *group
		at *dialect.Node
	}
	seen := map[string]membership{}
	for _, g := range c.d.groups {
		names.Add(c.r, g.name, g)
		for _, m := range g.members {
			first, twice := seen[m.Text]
			s := c.names.Get(m.Text)
			switch {
			case twice && first.in == g:
				c.r.Errorf(m, codeTwoGroups, "state %q is listed twice in its group; the first is at line %d", m.Text, first.at.Pos().Line)
			case twice:
				c.r.Errorf(m, codeTwoGroups, "state %q is in another group already, at line %d", m.Text, first.at.Pos().Line).
					WithHint("a state belongs to one group at most")
			case s == nil && len(c.names.List()) == 0: // reported
			case s == nil:
				d := c.r.Errorf(m, codeGroupState, "the group names state %q: no such state", m.Text)
				c.hints.DidYouMean(d, m.Text, c.names.List())
			default:
				s.group = g
			}
			if !twice {
				seen[m.Text] = membership{g, m}
			}
		}
	}
}

// resolve finds the two ends of a transition.
func (c *checker) resolve(t *transition) {
	from := c.end(t.from, "from", &t.source)
	to := c.end(t.to, "to", &t.target)
	if from == nil || to == nil {
		c.vague = true
		return
	}
	c.likely = append(c.likely, way{from, to, t})
	if t.source != nil && t.target != nil {
		t.source.out = append(t.source.out, t)
	}
	if from != to {
		to.in++
	}
}

// end finds one end, and says which state was likely meant where there is none.
func (c *checker) end(n *dialect.Node, what string, found **state) *state {
	if n == nil {
		return nil
	}
	if s := c.names.Get(n.Text); s != nil {
		*found = s
		return s
	}
	if len(c.names.List()) == 0 {
		return nil // that there are no states is reported
	}
	d := c.r.Errorf(n, codeNoState, "transition %s %q: no such state", what, n.Text)
	return c.names.Get(c.hints.DidYouMean(d, n.Text, c.names.List()))
}

// repeated: two transitions must differ in from, to or eligible.
func (c *checker) repeated() {
	type key struct {
		from, to *state
		eligible string
	}
	seen := map[key]*transition{}
	for _, t := range c.d.transitions {
		if t.source == nil || t.target == nil || t.eligible == "" {
			continue
		}
		k := key{t.source, t.target, t.eligible}
		if first := seen[k]; first != nil {
			c.r.Errorf(t.node, codeSameTransition, "the transition from %q to %q for %s is defined twice; the first is at line %d",
				t.from.Text, t.to.Text, t.eligible, first.node.Pos().Line)
			continue
		}
		seen[k] = t
	}
}

// immediate: of wfx itself, to another state, one at most, and no other way out. What can be told of a
// transition alone is told also where it names a state that there is not, and so is what its beginning tells.
func (c *checker) immediate() {
	leaving := map[*state][]*transition{}
	for _, t := range c.d.transitions {
		if t.source != nil {
			leaving[t.source] = append(leaving[t.source], t)
		}
		if !t.immediate() {
			continue
		}
		if t.eligible == Client {
			c.r.Errorf(t.actionAt, codeImmediateClient, "an IMMEDIATE transition is made for WFX; a CLIENT takes its own when it is ready").
				WithHint("write eligible: WFX, or leave the action out")
		}
		if t.from != nil && t.to != nil && t.from.Text == t.to.Text {
			c.r.Errorf(t.actionAt, codeImmediateSelf, "an IMMEDIATE transition from %q to itself would never end", t.from.Text)
		}
	}
	for _, s := range c.d.states {
		c.onlyImmediate(s, leaving[s])
	}
}

// onlyImmediate checks the ways out of a state.
func (c *checker) onlyImmediate(s *state, out []*transition) {
	var first *transition
	for _, t := range out {
		switch {
		case !t.immediate():
		case first != nil:
			c.r.Errorf(t.actionAt, codeTwoImmediate, "state %q has another IMMEDIATE transition, at line %d", s.title(), first.node.Pos().Line).
				WithHint("only one of them could ever happen")
		default:
			first, s.moves = t, true
		}
	}
	if first == nil {
		return
	}
	for _, t := range out {
		if !t.immediate() && t.to != nil {
			c.r.Errorf(t.node, codeNeverTaken, "the transition from %q to %q can never happen: the one at line %d is IMMEDIATE",
				s.title(), t.to.Text, first.node.Pos().Line).WithHint("an IMMEDIATE transition is the only one that leaves its state")
		}
	}
}

// timeout: an operator can make the move that the clock makes.
func (c *checker) timeout(s *state) {
	t := s.timeout
	if t == nil {
		return
	}
	target := c.names.Get(t.to.Text)
	if target == nil {
		d := c.r.Errorf(t.to, codeNoState, "timeout to %q: no such state", t.to.Text)
		c.hints.DidYouMean(d, t.to.Text, c.names.List())
		return
	}
	twin := c.names.Get(s.name.Text)
	switch {
	case target == twin:
		c.r.Errorf(t.to, codeTimeoutTarget, "the time limit of %q leads back to it", s.title())
		return
	case s.moves:
		c.r.Errorf(t.node.KeySpan(), codeTimeoutTarget, "jobs never stay in %q, which has an IMMEDIATE transition: its time limit has no effect", s.title())
		return
	}
	for _, out := range twin.out {
		if out.target == target && out.eligible == Operator && out.waits() {
			t.target = target
			return
		}
	}
	c.r.Errorf(t.to, codeTimeoutTarget, "the time limit of %q leads to %q, but no transition for WFX does", s.title(), t.to.Text).
		WithHint("add {from: %s, to: %s, eligible: WFX}: what the clock may do an operator may do too", s.title(), t.to.Text)
}

// lint warns of what is allowed but not what it seems.
func (c *checker) lint() {
	for _, t := range c.d.transitions {
		if t.action == Wait && t.eligible == Client {
			c.r.Warnf(t.actionAt, codeClientAction, "action WAIT has no effect for a CLIENT, which takes the transition when it is ready").
				WithHint("leave it out")
		}
	}
	if len(c.d.groups) == 0 || c.r.HasErrors() {
		return
	}
	grouped := 0
	var loose []*state
	for _, s := range c.d.states {
		switch {
		case !s.final() || c.names.Get(s.name.Text) != s:
		case s.group != nil:
			grouped++
		default:
			loose = append(loose, s)
		}
	}
	for _, s := range loose {
		if grouped > 0 {
			c.r.Warnf(s.name, codeLooseFinal, "state %q is final and in no group, unlike other final states: a query by group does not find its jobs", s.title())
		}
	}
}

// chain writes a few states of a cycle.
func chain(states []*state) string {
	const most = 8
	out := ""
	for i, s := range states {
		if i == most && len(states) > most+1 {
			out += fmt.Sprintf("… (%d more) → ", len(states)-most)
			break
		}
		out += s.title() + " → "
	}
	return out + states[0].title()
}
