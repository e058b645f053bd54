package graph

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteText writes a graph for a terminal: the states in the order in which the
// workflow reaches them, each with what it does and where it leads.
func WriteText(w io.Writer, g *Graph) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", clean(g.Title()))
	ways := g.outgoing()
	number := make([]int, len(g.Nodes))
	order := g.reading()
	for at, i := range order {
		number[i] = at
	}
	for at, i := range order {
		n := g.Nodes[i]
		b.WriteString("\n")
		for _, e := range g.Edges {
			if e.From < 0 && e.To == i {
				fmt.Fprintf(&b, "●%s\n│\n", spaced(clean(e.Label())))
			}
		}
		head := "■ " + clean(n.label())
		if n.Type == "switch" {
			head = "◆ " + clean(n.label())
		}
		var about []string
		if n.Type != "" {
			about = append(about, n.about())
		}
		if n.Compensation {
			about = append(about, "compensates")
		}
		if len(about) > 0 {
			head += "  (" + strings.Join(about, ", ") + ")"
		}
		fmt.Fprintln(&b, head)
		rail := "│"
		if len(ways[i]) == 0 {
			rail = " "
		}
		for _, line := range insideLines(n) {
			fmt.Fprintf(&b, "%s   %s\n", rail, line)
		}
		for k, edge := range ways[i] {
			branch := "├"
			if k == len(ways[i])-1 {
				branch = "└"
			}
			textWay(&b, g, g.Edges[edge], branch, number, at)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func spaced(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}

// textWay writes one way out; one that leads back is marked.
func textWay(b *bytes.Buffer, g *Graph, e Edge, branch string, number []int, at int) {
	stroke := map[string]string{"solid": "──", "dashed": "╌╌", "dotted": "··"}[e.stroke()]
	target := clean(g.target(e))
	if e.To == Outside {
		target = "◉ end"
	}
	if e.To >= 0 {
		switch {
		case number[e.To] == at:
			target += "  ↻"
		case number[e.To] < at:
			target += "  ↑"
		}
	}
	label := ""
	if lines := e.lines(clean); len(lines) > 0 {
		label = " " + strings.Join(lines, " | ") + " " + stroke
	}
	fmt.Fprintf(b, "%s%s%s▶ %s\n", branch, stroke, label, target)
}

// reading is the order in which a walk through the workflow meets the states.
func (g *Graph) reading() []int {
	ways := g.outgoing()
	var out []int
	seen := make([]bool, len(g.Nodes))
	walk := func(root int) {
		if seen[root] {
			return
		}
		stack := []int{root}
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[v] {
				continue
			}
			seen[v] = true
			out = append(out, v)
			for _, k := range slices.Backward(ways[v]) {
				if to := g.Edges[k].To; to >= 0 && !seen[to] {
					stack = append(stack, to)
				}
			}
		}
	}
	for i, n := range g.Nodes {
		if n.Start {
			walk(i)
		}
	}
	for i := range g.Nodes {
		walk(i)
	}
	return out
}
