package wfx

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
	"github.com/lockstep-workflows/lockstep/internal/jobdata"
)

// The types of states, for people.
const (
	typeWait      = "wait"      // for an actor
	typeImmediate = "immediate" // left at once
	typeFinal     = "final"
)

// compiler turns a checked workflow into a program. It only meets workflows without
// errors.
//
// A state becomes a node that notes it in the status, then one that waits for the
// actors; see package jobdata for the data.
type compiler struct {
	*ir.Builder
	d       *document
	entries []ir.NodeID // by state
}

func compile(d *document, budget *dialect.Budget) *ir.Program {
	c := &compiler{d: d, Builder: ir.NewBuilder(ir.Program{
		ID: d.name.Text, Version: Version, Description: d.description.Literal(), Dialect: Name, Job: true,
	}, budget.Build)}
	for _, s := range d.states {
		entry := c.Reserve(placeOf(s))
		from := c.literal(expr.String(s.title()), s.name)
		c.Fill(entry, &ir.Eval{From: from, Put: set(jobdata.Status, jobdata.State)}, 0)
		c.entries = append(c.entries, entry)
	}
	for _, s := range d.states {
		c.state(s)
	}
	c.Begin(c.entries[d.initial.index])
	for _, g := range d.groups {
		out := ir.Group{Name: g.name.Text}
		for _, m := range g.members {
			out.States = append(out.States, m.Text)
		}
		c.Program.Groups = append(c.Program.Groups, out)
	}
	c.graph()
	return c.Program
}

func placeOf(s *state) ir.Place { return ir.Place{Name: s.title(), Pos: s.node.IRPos()} }

// state adds what follows the entry of a state.
func (c *compiler) state(s *state) {
	next := c.body(s)
	c.Program.Nodes[c.entries[s.index]].Next = next
}

func (c *compiler) body(s *state) ir.NodeID {
	if s.final() {
		return c.Node(placeOf(s), &ir.End{Offers: selfOffers(s)}, 0)
	}
	left := map[*state]ir.NodeID{} // the nodes that leave for another state
	leave := func(to *state) ir.NodeID {
		if left[to] == 0 {
			left[to] = c.leave(s, &ir.Eval{}, to)
		}
		return left[to]
	}
	await := &ir.Await{Need: 1}
	for _, t := range s.out {
		switch {
		case t.immediate():
			return leave(t.target)
		case t.waits():
			await.Arms = append(await.Arms, ir.Arm{
				Offer: &ir.Offer{Actor: t.eligible, Choice: t.target.title()}, Put: set(jobdata.Status), Next: leave(t.target),
			})
		}
	}
	await.Arms = append(await.Arms, selfOffers(s)...)
	if t := s.timeout; t != nil {
		await.Timeout = ir.Span{Set: true, Months: t.value.Months, Days: t.value.Days, Nanos: t.value.Nanos}
		await.OnTimeout = c.leave(s, &ir.Eval{From: c.lateStatus(s, t), Put: set(jobdata.Status)}, t.target)
	}
	return c.Node(placeOf(s), await, 0)
}

// lateStatus is the status of a job that stayed too long: the clock sends no more.
func (c *compiler) lateStatus(s *state, t *timeout) ir.ExprID {
	return c.literal(expr.Object(
		expr.Member{Key: "message", Value: expr.String(s.title() + " took longer than " + t.after.Text)},
		expr.Member{Key: jobdata.State, Value: expr.String(t.target.title())},
	), t.node)
}

// selfOffers: both actors may report a state again, also a final one.
func selfOffers(s *state) []ir.Arm {
	var arms []ir.Arm
	for _, actor := range []string{Client, Operator} {
		arms = append(arms, ir.Arm{Offer: &ir.Offer{Actor: actor, Choice: s.title()}, Put: set(jobdata.Status), Stay: true})
	}
	return arms
}

// leave adds a node that leaves a state for another.
func (c *compiler) leave(s *state, op ir.Op, to *state) ir.NodeID {
	return c.Leave(placeOf(s), op, c.entries[to.index])
}

func set(path ...string) ir.Put { return ir.Put{Mode: ir.PutSet, Path: path} }

// literal adds a value that is as it is written: braces in it are no expression.
func (c *compiler) literal(v expr.Value, n *dialect.Node) ir.ExprID {
	return c.Expr(jsonpath.TemplateLang, escape(v).String(), n.IRPos())
}

// escape makes a template of a string or of an object of strings.
func escape(v expr.Value) expr.Value {
	if !v.IsObject() {
		return expr.String(jsonpath.Escape(v.Str()))
	}
	out := expr.EmptyObject
	for _, m := range v.Members() {
		out = out.With(m.Key, escape(m.Value))
	}
	return out
}

// graph lists the states and the ways between them as the author sees them.
func (c *compiler) graph() {
	for _, s := range c.d.states {
		out := ir.State{Name: s.title(), Type: typeWait, Start: s == c.d.initial, End: s.final(), Pos: s.node.IRPos()}
		switch {
		case out.End:
			out.Type = typeFinal
		case s.moves:
			out.Type = typeImmediate
		}
		if d := s.description.Literal(); d != "" {
			out.Metadata = expr.Object(expr.Member{Key: "description", Value: expr.String(d)}).String()
		}
		c.Program.States = append(c.Program.States, out)
	}
	for _, s := range c.d.states {
		for _, t := range s.out {
			edge := ir.Edge{From: s.title(), To: t.target.title(), Kind: ir.EdgeOffer, Label: t.eligible}
			if t.immediate() {
				edge.Kind, edge.Label = ir.EdgeNext, ""
			}
			c.Program.Edges = append(c.Program.Edges, edge)
		}
		if t := s.timeout; t != nil {
			c.Program.Edges = append(c.Program.Edges, ir.Edge{From: s.title(), To: t.target.title(), Kind: ir.EdgeTimeout, Label: t.after.Text})
		}
	}
}
