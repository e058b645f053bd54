package graph

import (
	"fmt"
	"strings"
)

// Summary says in a sentence or two what a drawing shows.
func Summary(g *Graph) string {
	var starts []string
	undoing := 0
	for _, n := range g.Nodes {
		if n.Start {
			starts = append(starts, n.Name)
		}
		if n.Compensation {
			undoing++
		}
	}
	text := count(len(g.Nodes), "state", "states")
	if undoing > 0 {
		text += fmt.Sprintf(", %d of them for compensation", undoing)
	}
	if len(starts) > 0 {
		text += "; it starts at " + strings.Join(starts, ", ")
	}
	return text + "."
}

// List is a drawing in words, one state a line, for those who do not see it: a
// page puts it beside the drawing. It says everything that the drawing shows.
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

// describe tells a state without its ways out.
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
	text := n.Name
	if len(marks) > 0 {
		text += " (" + strings.Join(marks, ", ") + ")"
	}
	does := append(partWords(n.Parts), n.Notes...)
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
		if p.group() {
			text += " [" + strings.Join(partWords(p.Parts), ", ") + "]"
		}
		out = append(out, text)
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
		if e.To < 0 {
			return "Then it ends."
		}
		return "Then " + g.Nodes[e.To].Name + "."
	case Compensate:
		return "Undone by " + g.Nodes[e.To].Name + "."
	case Condition:
		return fmt.Sprintf("If %s it %s.", label, target)
	case Default:
		return fmt.Sprintf("Otherwise it %s.", target)
	}
	if label == "" {
		label = string(e.Kind)
	}
	return fmt.Sprintf("%s it %s.", strings.ToUpper(label[:1])+label[1:], target)
}

// Sentence tells one edge by itself.
func Sentence(g *Graph, e Edge) string {
	from, to := "start", "end"
	if e.From >= 0 {
		from = g.Nodes[e.From].Name
	}
	if e.To >= 0 {
		to = g.Nodes[e.To].Name
	}
	if len(e.Labels) == 0 {
		return from + " → " + to
	}
	return from + " → " + to + ": " + strings.Join(e.Labels, " or ")
}
