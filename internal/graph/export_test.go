package graph

import (
	"fmt"
	"strings"
)

// List is a graph in words, one state a line, with everything that a drawing shows: tests read it.
func List(g *Graph) []string {
	out := make([]string, len(g.Nodes))
	ways := g.outgoing()
	for i, n := range g.Nodes {
		var b strings.Builder
		b.WriteString(describe(n))
		for _, e := range g.Edges {
			if e.From < 0 && e.To == i && len(e.Labels) > 0 {
				fmt.Fprintf(&b, " Starts %s.", e.Label())
			}
		}
		for _, k := range ways[i] {
			b.WriteString(" " + way(g, g.Edges[k]))
		}
		out[i] = clean(b.String())
	}
	return out
}

// way tells where an edge leads.
func way(g *Graph, e Edge) string {
	target := "ends"
	if e.To >= 0 {
		target = "goes to " + g.Nodes[e.To].Name
	}
	label := strings.Join(e.Labels, " or ")
	switch e.Kind {
	case Next:
		then := "it ends"
		if e.To >= 0 {
			then = g.Nodes[e.To].Name
		}
		if label != "" && label != "IMMEDIATE" {
			then += ", " + label
		}
		return "Then " + then + "."
	case Compensate:
		return "Undone by " + g.Nodes[e.To].Name + "."
	case Condition:
		return fmt.Sprintf("If %s it %s.", label, target)
	case Default:
		if _, more, ok := strings.Cut(label, ", "); ok {
			target += ", " + more
		}
		return fmt.Sprintf("Otherwise it %s.", target)
	}
	if label == "" {
		label = string(e.Kind)
	}
	return fmt.Sprintf("%s it %s.", strings.ToUpper(label[:1])+label[1:], target)
}
