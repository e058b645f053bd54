package sw05

import "github.com/lockstep-workflows/lockstep/internal/ir"

// graph lists the states and the ways between them as the author sees them.
func (c *compiler) graph() {
	for _, s := range c.w.states {
		state := ir.State{
			Name: s.label, ID: s.id.Literal(), Type: s.typ, Start: s == s.scope.start, End: s.exit.end != nil,
			Compensation: s.compensation, Metadata: s.metadata.JSON(), Pos: s.node.IRPos(),
		}
		if s.scope.parent != nil {
			state.In = s.scope.path()
		}
		c.Program.States = append(c.Program.States, state)
		c.edge(s, s.exit, ir.EdgeNext, "")
		for _, l := range s.body.exits() {
			kind := map[exitKind]ir.EdgeKind{exitCondition: ir.EdgeCondition, exitEvent: ir.EdgeEvent, exitDefault: ir.EdgeDefault}[l.kind]
			c.edge(s, l.exit, kind, l.label)
		}
		for _, e := range s.onErrors {
			if e.test != nil {
				c.edge(s, e.exit, ir.EdgeError, e.test.label)
			} else {
				c.edge(s, e.exit, ir.EdgeError, e.error.Text)
			}
		}
		if s.undoneBy != nil {
			c.Program.Edges = append(c.Program.Edges, ir.Edge{From: s.label, To: s.undoneBy.label, Kind: ir.EdgeCompensate})
		}
	}
}

func (c *compiler) edge(s *state, e exit, kind ir.EdgeKind, label string) {
	out := ir.Edge{From: s.label, Kind: kind, Label: label}
	switch {
	case e.transition != nil:
		out.To = e.transition.to.label
	case e.end == nil, s.scope.parent != nil && !e.end.terminate: // a branch or an iteration ends without an edge
		return
	}
	c.Program.Edges = append(c.Program.Edges, out)
}
