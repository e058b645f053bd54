package sw08

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// graph lists the states and the ways between them as the author sees them.
func (c *compiler) graph() {
	kept := c.keptStates()
	for _, s := range c.w.states {
		c.Program.States = append(c.Program.States, ir.State{
			Name: s.nameText(), ID: s.id.Literal(), Type: s.typ, Start: s == c.w.start, End: s.exit.end != nil && !s.compensation,
			Compensation: s.compensation, Metadata: s.metadata.JSON(), Pos: s.node.IRPos(),
		})
		ways := append([]labelled{{exit: s.exit, kind: ir.EdgeNext}}, s.body.exits()...)
		for _, e := range s.onErrors {
			ways = append(ways, labelled{exit: e.exit, kind: ir.EdgeError, label: e.label()})
		}
		for _, h := range s.allHandlers() {
			if h.then != nil {
				ways = append(ways, labelled{exit: h.then.exit, kind: ir.EdgeError, label: h.label()})
			}
		}
		for _, l := range ways {
			c.edge(s, l, kept[s])
		}
		if s.undoneBy != nil {
			c.Program.Edges = append(c.Program.Edges, ir.Edge{From: s.nameText(), To: s.undoneBy.nameText(), Kind: ir.EdgeCompensate})
		}
	}
	if t := c.w.timeouts.workflow; t != nil && t.before != nil {
		c.Program.States[t.before.index].If = "the workflow times out"
	}
}

// keptStates are those whose end keeps the instance active, waiting for further events: not the ones that only run
// after the timeout of the workflow.
func (c *compiler) keptStates() map[*state]bool {
	if _, ok := c.w.start.body.(*eventState); !ok || !c.w.keepActive {
		return nil
	}
	seen := map[*state]bool{c.w.start: true}
	for list := []*state{c.w.start}; len(list) > 0; list = list[1:] {
		for _, e := range list[0].ways() {
			if e.transition != nil && !seen[e.transition.to] {
				seen[e.transition.to] = true
				list = append(list, e.transition.to)
			}
		}
	}
	return seen
}

func (c *compiler) edge(s *state, l labelled, kept bool) {
	out := ir.Edge{From: s.nameText(), Kind: l.kind, Label: l.label, When: l.when}
	switch {
	case l.transition != nil:
		out.To = l.transition.to.nameText()
	case l.end == nil || s.compensation:
		return
	case kept && !l.end.terminate && l.end.continueAs == nil:
		out.To = c.w.start.nameText() // it waits for further events
	}
	c.Program.Edges = append(c.Program.Edges, out)
}

// label names what an error definition is for.
func (e *onError) label() string {
	if e.error != nil {
		return e.error.Text
	}
	names := make([]string, 0, len(e.errors))
	for _, u := range e.errors {
		names = append(names, u.node.Text)
	}
	return strings.Join(names, ", ")
}

// label names what a handler is for.
func (h *handler) label() string {
	if h.name.Literal() != "" {
		return h.name.Text
	}
	var names []string
	for _, m := range h.when {
		for _, n := range []string{m.refName.Literal(), m.typ.Literal(), m.status.Literal()} {
			if n != "" {
				names = append(names, n)
			}
		}
	}
	if len(names) == 0 {
		return "any error"
	}
	return strings.Join(names, ", ")
}

// allHandlers are those of a state and of its actions.
func (s *state) allHandlers() []*handler {
	out := s.handlers
	for _, a := range s.actions() {
		out = append(out[:len(out):len(out)], a.handlers...)
	}
	return out
}
