package graph

import (
	"encoding/json"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// areasDeep is how many states inside each other are drawn.
const areasDeep = 10

// nesting finds the states inside of a state, and the ways out of one.
type nesting struct {
	inside map[string][]ir.State
	ways   map[string][]ir.Edge
}

func newNesting(states []ir.State, edges []ir.Edge) nesting {
	t := nesting{map[string][]ir.State{}, map[string][]ir.Edge{}}
	for _, s := range states {
		if s.List != "" {
			t.inside[s.In] = append(t.inside[s.In], s)
		}
	}
	for _, e := range edges {
		t.ways[e.From] = append(t.ways[e.From], e)
	}
	return t
}

// nest adds the lists of states inside of each state of this list.
func (r *reader) nest(t nesting) {
	for i := range r.g.Nodes {
		n := &r.g.Nodes[i]
		inside := t.inside[n.Name]
		if len(inside) == 0 {
			continue
		}
		if r.deep+1 >= areasDeep {
			n.Parts = append(n.Parts, Part{Kind: PartMore, Text: "… " + count(len(inside), "task", "tasks")})
			continue
		}
		for len(inside) > 0 {
			list := inside[0].List
			var own, rest []ir.State
			for _, s := range inside {
				if s.List == list {
					own = append(own, s)
				} else {
					rest = append(rest, s)
				}
			}
			inside = rest
			n.Areas = append(n.Areas, r.area(n, list, own, t))
		}
	}
}

// area reads one list inside of a state. A part of the state that says what the list is for becomes
// its caption.
func (r *reader) area(n *Node, list string, states []ir.State, t nesting) Area {
	a := Area{Kind: AreaList, Graph: r.list(states, t)}
	if list == "branches" {
		a.Graph.tellWays()
	}
	for i, p := range n.Parts {
		kind, ok := map[string]PartKind{"do": PartEach, "foreach": PartEach, "branches": PartFan, "catch": PartBranch}[list]
		if !ok || p.Kind != kind {
			continue
		}
		a.Text, a.Note = p.Text, p.Note
		switch p.Kind {
		case PartEach:
			a.Kind = AreaEach
		case PartFan:
			a.Kind = AreaBranches
		case PartBranch:
			a.Kind = AreaCatch
		}
		n.Parts = append(n.Parts[:i:i], n.Parts[i+1:]...)
		break
	}
	return a
}

// list reads a list of states that stands inside of a state or beside the flow.
func (r *reader) list(states []ir.State, t nesting) *Graph {
	inner := r.of(&Graph{})
	inner.deep++
	var edges []ir.Edge
	for i, s := range states {
		inner.add(s)
		for _, e := range t.ways[s.Name] {
			if e.Exit && e.Kind == ir.EdgeNext && (i == len(states)-1 || s.List == "branches") {
				continue // the list just ends
			}
			edges = append(edges, e)
		}
	}
	inner.fill(edges)
	for i := range inner.g.Nodes {
		n := &inner.g.Nodes[i]
		n.Label = n.Name[strings.LastIndexByte(n.Name, '/')+1:]
	}
	inner.nest(t)
	return inner.g
}

// tellWays makes notes of ways: branches stand beside each other without lines between them.
func (g *Graph) tellWays() {
	for _, e := range g.Edges {
		n := &g.Nodes[e.From]
		n.Notes = append(n.Notes, strings.TrimSpace(strings.Join(e.Labels, " or ")+" → "+g.target(e)))
	}
	g.Edges = nil
}

// asides adds what stands beside the flow. A function is a state like others, only that nothing
// leads to it.
func (r *reader) asides() {
	for _, a := range r.p.Asides {
		kind, name, _ := strings.Cut(a.Title, " ")
		var states []ir.State
		for _, s := range a.States {
			if s.In == "" {
				states = append(states, s)
			}
		}
		list := r.list(states, newNesting(a.States, a.Edges))
		n := Node{Name: a.Title, Areas: []Area{{Kind: AreaList, Graph: list}}}
		if kind == "function" && len(list.Nodes) == 1 {
			n = list.Nodes[0]
		} else {
			setAlias(list)
			n.Alias = true
		}
		n.Label, n.Type, n.Aside = name, kind, true
		if a.Note != "" {
			n.Notes = append(n.Notes, a.Note)
		}
		r.g.Nodes = append(r.g.Nodes, n)
	}
}

// setAlias marks the states of an extension: instances name them after the state that is extended.
func setAlias(g *Graph) {
	for i := range g.Nodes {
		g.Nodes[i].Alias = true
		for _, a := range g.Nodes[i].Areas {
			setAlias(a.Graph)
		}
	}
}

// catchPart says which errors a region handles, and what is tried before.
func (w *walker) catchPart(c ir.Catch) Part {
	part := Part{Kind: PartBranch, Text: "catch " + w.errorText(c)}
	if c.Retry != nil {
		part.Note = "after " + w.retryText(c.Retry)
	}
	return part
}

// errorText says which errors a catch handles.
func (w *walker) errorText(c ir.Catch) string {
	if c.Only == nil {
		return "any error"
	}
	var words []string
	for _, m := range c.Only.With {
		var text string
		if json.Unmarshal([]byte(m.Value), &text) != nil {
			text = m.Value
		}
		if m.Name == "type" {
			text = text[strings.LastIndexByte(text, '/')+1:]
		} else {
			text = m.Name + " " + text
		}
		words = append(words, text)
	}
	out := "any error"
	if len(words) > 0 {
		out = strings.Join(words, ", ")
	}
	if when := w.exprText(c.Only.When); when != "" {
		out += " when " + when
	}
	if except := w.exprText(c.Only.Except); except != "" {
		out += " except when " + except
	}
	return out
}

// retryText says how often and when something is tried again.
func (w *walker) retryText(y *ir.Retry) string {
	text := count(y.Max, "retry", "retries")
	if y.Always {
		text = "retries"
	}
	if delay := spanText(y.Delay); delay != "" {
		text += ", " + delay + " apart"
		switch {
		case y.Factor == 2:
			text += " and doubling"
		case y.Add.Set:
			text += " and growing"
		}
	}
	if within := spanText(y.Within); within != "" {
		text += ", within " + within
	}
	if y.Only != nil {
		if when := w.exprText(y.Only.When); when != "" {
			text += ", when " + when
		}
		if except := w.exprText(y.Only.Except); except != "" {
			text += ", except when " + except
		}
	}
	return text
}

// caught describes the catch of a list of states. One that has states of its own becomes their
// caption.
func (w *walker) caught(region *ir.Region) []Part {
	if note := spanText(region.Timeout); note != "" {
		w.in.notes = append(w.in.notes, note+" at most for each attempt")
	}
	var parts []Part
	for _, c := range region.Catch {
		part := w.catchPart(c)
		switch {
		case c.Next != 0 && w.nested(c.Next):
			parts = append(parts, part)
		case c.Retry != nil:
			w.in.notes = append(w.in.notes, w.retryText(c.Retry)+", on "+w.errorText(c))
		default:
			w.in.notes = append(w.in.notes, "goes on after "+w.errorText(c))
		}
		if c.Next != 0 {
			w.in.catches = append(w.in.catches, catch{which: w.errorText(c)})
		}
	}
	return parts
}

// nested reports whether a node runs a list of states.
func (w *walker) nested(id ir.NodeID) bool {
	op, ok := w.r.p.Nodes[id].Op.(*ir.Enter)
	return ok && w.r.p.Regions[op.Region].Nested
}
