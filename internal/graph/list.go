package graph

import (
	"fmt"
	"strings"
)

// Summary says in a sentence or two what a drawing shows.
func Summary(g *Graph) string {
	var starts []string
	undoing, asides := 0, 0
	for _, n := range g.Nodes {
		if n.Start {
			starts = append(starts, n.label())
		}
		if n.Compensation {
			undoing++
		}
		if n.Aside {
			asides++
		}
	}
	text := count(len(g.Nodes)-asides, "state", "states")
	if undoing > 0 {
		text += fmt.Sprintf(", %d of them for compensation", undoing)
	}
	if len(starts) > 0 {
		text += "; it starts at " + strings.Join(starts, ", ")
	}
	return text + "."
}

// describe describes a state without its ways out.
func describe(n Node) string {
	var marks []string
	if n.Type != "" {
		marks = append(marks, n.about())
	}
	if n.Start {
		marks = append(marks, "start")
	}
	if n.Compensation {
		marks = append(marks, "compensates")
	}
	text := n.label()
	if len(marks) > 0 {
		text += " (" + strings.Join(marks, ", ") + ")"
	}
	does := append(partWords(n.all()), n.Notes...)
	if len(does) > 0 {
		text += ": " + strings.Join(does, ", ")
	}
	return text + "."
}

func partWords(parts []Part) []string {
	var out []string
	for _, p := range parts {
		text := p.Text
		if p.Kind == PartCall {
			text = "call " + text
		}
		if p.Note != "" {
			text = strings.TrimSpace(text + " (" + p.Note + ")")
		}
		if p.group() && len(p.Parts) > 0 {
			text += " [" + strings.Join(partWords(p.Parts), ", ") + "]"
		}
		out = append(out, text)
	}
	return out
}

// Sentence describes one edge.
func Sentence(g *Graph, e Edge) string {
	from, to := "start", g.target(e)
	if e.From >= 0 {
		from = g.Nodes[e.From].label()
	}
	if len(e.Labels) == 0 {
		return from + " → " + to
	}
	return from + " → " + to + ": " + strings.Join(e.Labels, " or ")
}
