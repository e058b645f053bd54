package wfx

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
	"github.com/lockstep-workflows/lockstep/internal/ir"
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
// actors; see [ir.Program.Job] for the data. The entries of all states come first, in
// order, so that they can refer to one another.
type compiler struct {
	d *document
	p *ir.Program
}

func compile(d *document) *ir.Program {
	c := &compiler{d: d, p: &ir.Program{
		ID: d.name.Text, Version: Version, Description: text(d.description), Dialect: Name, Edition: ir.Edition, Job: true,
		Nodes: make([]ir.Node, 1), Exprs: make([]ir.Expr, 1),
	}}
	for _, s := range d.states {
		from := c.literal(expr.String(s.title()), s.name)
		entry := c.node(s, &ir.Eval{From: from, Put: set("status", "state")}, 0)
		c.p.Nodes[entry].Mark = ir.MarkEntered
	}
	for _, s := range d.states {
		c.state(s)
	}
	c.p.Regions = []ir.Region{{Name: c.p.ID, Entry: entryOf(d.initial)}}
	for _, g := range d.groups {
		out := ir.Group{Name: g.name.Text}
		for _, m := range g.members {
			out.States = append(out.States, m.Text)
		}
		c.p.Groups = append(c.p.Groups, out)
	}
	c.graph()
	return c.p
}

func entryOf(s *state) ir.NodeID { return ir.NodeID(s.index + 1) }

// state emits what follows the entry of a state.
func (c *compiler) state(s *state) {
	entry := entryOf(s)
	if s.final() {
		end := c.node(s, &ir.End{Offers: selfOffers(s)}, 0)
		c.p.Nodes[entry].Next = end
		return
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
			c.p.Nodes[entry].Next = leave(t.target)
			return
		case t.waits():
			await.Arms = append(await.Arms, ir.Arm{
				Offer: &ir.Offer{Actor: t.eligible, Choice: t.target.title()}, Put: set("status"), Next: leave(t.target),
			})
		}
	}
	await.Arms = append(await.Arms, selfOffers(s)...)
	if t := s.timeout; t != nil {
		await.Timeout = ir.Span{Set: true, Months: t.value.Months, Days: t.value.Days, Nanos: t.value.Nanos}
		await.OnTimeout = c.leave(s, &ir.Eval{From: c.lateStatus(s, t), Put: set("status")}, t.target)
	}
	c.p.Nodes[entry].Next = c.node(s, await, 0)
}

// lateStatus is the status of a job that stayed too long: the clock sends no more.
func (c *compiler) lateStatus(s *state, t *timeout) ir.ExprID {
	return c.literal(expr.Object(
		expr.Member{Key: "message", Value: expr.String(s.title() + " took longer than " + t.after.Text)},
		expr.Member{Key: "state", Value: expr.String(t.target.title())},
	), t.node)
}

// selfOffers: both actors may report a state again, also a final one.
func selfOffers(s *state) []ir.Arm {
	var arms []ir.Arm
	for _, actor := range []string{Client, Operator} {
		arms = append(arms, ir.Arm{Offer: &ir.Offer{Actor: actor, Choice: s.title()}, Put: set("status"), Stay: true})
	}
	return arms
}

// leave adds a node that leaves a state for another.
func (c *compiler) leave(s *state, op ir.Op, to *state) ir.NodeID {
	id := c.node(s, op, entryOf(to))
	c.p.Nodes[id].Mark = ir.MarkLeft
	return id
}

func (c *compiler) node(s *state, op ir.Op, next ir.NodeID) ir.NodeID {
	c.p.Nodes = append(c.p.Nodes, ir.Node{Name: s.title(), Pos: posOf(s.node), Op: op, Next: next})
	return ir.NodeID(len(c.p.Nodes) - 1)
}

func set(path ...string) ir.Put { return ir.Put{Mode: ir.PutSet, Path: path} }

// literal adds a value that is as it is written: braces in it are no expression.
func (c *compiler) literal(v expr.Value, n *dialect.Node) ir.ExprID {
	c.p.Exprs = append(c.p.Exprs, ir.Expr{Lang: jsonpath.TemplateLang, Src: quote(v).String(), Pos: posOf(n)})
	return ir.ExprID(len(c.p.Exprs) - 1)
}

// quote makes a template of a value: before an opening brace pair a backslash stands
// for itself only when doubled, and a single one makes the pair plain text.
func quote(v expr.Value) expr.Value {
	if v.IsObject() {
		var members []expr.Member
		for _, m := range v.Members() {
			members = append(members, expr.Member{Key: m.Key, Value: quote(m.Value)})
		}
		return expr.Object(members...)
	}
	var b strings.Builder
	rest := v.Str()
	for {
		at := strings.Index(rest, "{{")
		if at < 0 {
			b.WriteString(rest)
			return expr.String(b.String())
		}
		before := rest[:at]
		slashes := len(before) - len(strings.TrimRight(before, `\`))
		b.WriteString(before + strings.Repeat(`\`, slashes+1) + "{{")
		rest = rest[at+2:]
	}
}

func posOf(n *dialect.Node) ir.Pos {
	p := n.Pos()
	return ir.Pos{Line: p.Line, Column: p.Column}
}

// graph lists the states and the ways between them as the author sees them.
func (c *compiler) graph() {
	for _, s := range c.d.states {
		out := ir.State{Name: s.title(), Type: typeWait, Start: s == c.d.initial, End: s.final(), Pos: posOf(s.node)}
		switch {
		case out.End:
			out.Type = typeFinal
		case s.moves:
			out.Type = typeImmediate
		}
		if d := text(s.description); d != "" {
			out.Metadata = expr.Object(expr.Member{Key: "description", Value: expr.String(d)}).String()
		}
		c.p.States = append(c.p.States, out)
	}
	for _, s := range c.d.states {
		for _, t := range s.out {
			edge := ir.Edge{From: s.title(), To: t.target.title(), Kind: ir.EdgeOffer, Label: t.eligible}
			if t.immediate() {
				edge.Kind, edge.Label = ir.EdgeNext, ""
			}
			c.p.Edges = append(c.p.Edges, edge)
		}
		if t := s.timeout; t != nil {
			c.p.Edges = append(c.p.Edges, ir.Edge{From: s.title(), To: t.target.title(), Kind: ir.EdgeTimeout, Label: t.after.Text})
		}
	}
}
