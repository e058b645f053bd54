package sw01

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// graph lists the states and the ways between them as the author sees them.
func (c *compiler) graph() {
	for _, s := range c.w.states {
		state := ir.State{
			Name: s.label, ID: s.id.Literal(), Type: strings.ToLower(s.typ), Start: s == s.scope.start,
			Metadata: s.metadata.JSON(), Pos: s.node.IRPos(),
		}
		if s.scope.branch != nil {
			state.In = s.scope.path()
		}
		state.End = s.typ == typeEnd || s.end != nil || s.next == nil && s.typ != typeSwitch && s.typ != typeEvent
		c.Program.States = append(c.Program.States, state)
		c.edges(s)
	}
}

func (c *compiler) edges(s *state) {
	switch b := s.body.(type) {
	case *switchState:
		for _, w := range b.ways() {
			kind := ir.EdgeCondition
			if w.kind == wayDefault {
				kind = ir.EdgeDefault
			}
			c.edge(s, w.to, kind, w.label)
		}
		if b.otherwise == nil && s.end != nil {
			c.edge(s, nil, ir.EdgeDefault, "")
		}
	case *eventState:
		for _, e := range b.entries {
			next := s.next
			if e.next != nil {
				next = e.next
			}
			if s.end != nil {
				next = nil
			}
			c.edge(s, next, ir.EdgeEvent, e.text.Literal())
		}
		if ends := s.scope.ends; s.lapses() && len(ends) == 1 {
			c.Program.Edges = append(c.Program.Edges, ir.Edge{From: s.label, To: ends[0].label, Kind: ir.EdgeTimeout, Label: "when the time is up"})
		}
	default:
		next := s.next
		if s.end != nil || s.typ == typeEnd {
			next = nil
		}
		if e, ok := s.body.(*endState); !ok || !e.failure {
			c.edge(s, next, ir.EdgeNext, "")
		}
	}
	for _, a := range s.actions() {
		for _, r := range a.retries {
			if r.next != nil && !r.unused {
				c.edge(s, r.next, ir.EdgeError, r.match.Literal())
			}
		}
	}
}

// edge adds a way to a state, or to the end; a branch ends without an edge.
func (c *compiler) edge(s *state, to *reference, kind ir.EdgeKind, label string) {
	out := ir.Edge{From: s.label, Kind: kind, Label: label}
	switch {
	case to != nil:
		out.To = to.to.label
	case s.scope.branch != nil:
		return
	}
	c.Program.Edges = append(c.Program.Edges, out)
}
